// Original file: proto/cadastre/admin/v1/cluster.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetStatusRequest as _cadastre_admin_v1_GetStatusRequest, GetStatusRequest__Output as _cadastre_admin_v1_GetStatusRequest__Output } from '../../../cadastre/admin/v1/GetStatusRequest.ts';
import type { GetStatusResponse as _cadastre_admin_v1_GetStatusResponse, GetStatusResponse__Output as _cadastre_admin_v1_GetStatusResponse__Output } from '../../../cadastre/admin/v1/GetStatusResponse.ts';

export interface ClusterClient extends grpc.Client {
  GetStatus(argument: _cadastre_admin_v1_GetStatusRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  GetStatus(argument: _cadastre_admin_v1_GetStatusRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  GetStatus(argument: _cadastre_admin_v1_GetStatusRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  GetStatus(argument: _cadastre_admin_v1_GetStatusRequest, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  getStatus(argument: _cadastre_admin_v1_GetStatusRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  getStatus(argument: _cadastre_admin_v1_GetStatusRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  getStatus(argument: _cadastre_admin_v1_GetStatusRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  getStatus(argument: _cadastre_admin_v1_GetStatusRequest, callback: grpc.requestCallback<_cadastre_admin_v1_GetStatusResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface ClusterHandlers extends grpc.UntypedServiceImplementation {
  GetStatus: grpc.handleUnaryCall<_cadastre_admin_v1_GetStatusRequest__Output, _cadastre_admin_v1_GetStatusResponse>;
  
}

export interface ClusterDefinition extends grpc.ServiceDefinition {
  GetStatus: MethodDefinition<_cadastre_admin_v1_GetStatusRequest, _cadastre_admin_v1_GetStatusResponse, _cadastre_admin_v1_GetStatusRequest__Output, _cadastre_admin_v1_GetStatusResponse__Output>
}
