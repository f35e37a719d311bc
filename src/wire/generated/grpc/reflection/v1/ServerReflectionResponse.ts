// Original file: proto/grpc/reflection/v1/reflection.proto

import type { ServerReflectionRequest as _grpc_reflection_v1_ServerReflectionRequest, ServerReflectionRequest__Output as _grpc_reflection_v1_ServerReflectionRequest__Output } from '../../../grpc/reflection/v1/ServerReflectionRequest.ts';
import type { FileDescriptorResponse as _grpc_reflection_v1_FileDescriptorResponse, FileDescriptorResponse__Output as _grpc_reflection_v1_FileDescriptorResponse__Output } from '../../../grpc/reflection/v1/FileDescriptorResponse.ts';
import type { ExtensionNumberResponse as _grpc_reflection_v1_ExtensionNumberResponse, ExtensionNumberResponse__Output as _grpc_reflection_v1_ExtensionNumberResponse__Output } from '../../../grpc/reflection/v1/ExtensionNumberResponse.ts';
import type { ListServiceResponse as _grpc_reflection_v1_ListServiceResponse, ListServiceResponse__Output as _grpc_reflection_v1_ListServiceResponse__Output } from '../../../grpc/reflection/v1/ListServiceResponse.ts';
import type { ErrorResponse as _grpc_reflection_v1_ErrorResponse, ErrorResponse__Output as _grpc_reflection_v1_ErrorResponse__Output } from '../../../grpc/reflection/v1/ErrorResponse.ts';

export interface ServerReflectionResponse {
  'validHost'?: (string);
  'originalRequest'?: (_grpc_reflection_v1_ServerReflectionRequest | null);
  'fileDescriptorResponse'?: (_grpc_reflection_v1_FileDescriptorResponse | null);
  'allExtensionNumbersResponse'?: (_grpc_reflection_v1_ExtensionNumberResponse | null);
  'listServicesResponse'?: (_grpc_reflection_v1_ListServiceResponse | null);
  'errorResponse'?: (_grpc_reflection_v1_ErrorResponse | null);
  'messageResponse'?: "fileDescriptorResponse"|"allExtensionNumbersResponse"|"listServicesResponse"|"errorResponse";
}

export interface ServerReflectionResponse__Output {
  'validHost': (string);
  'originalRequest': (_grpc_reflection_v1_ServerReflectionRequest__Output | null);
  'fileDescriptorResponse'?: (_grpc_reflection_v1_FileDescriptorResponse__Output | null);
  'allExtensionNumbersResponse'?: (_grpc_reflection_v1_ExtensionNumberResponse__Output | null);
  'listServicesResponse'?: (_grpc_reflection_v1_ListServiceResponse__Output | null);
  'errorResponse'?: (_grpc_reflection_v1_ErrorResponse__Output | null);
  'messageResponse'?: "fileDescriptorResponse"|"allExtensionNumbersResponse"|"listServicesResponse"|"errorResponse";
}
