// Original file: proto/cadastre/v1/directory.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetRangeRequest as _cadastre_v1_GetRangeRequest, GetRangeRequest__Output as _cadastre_v1_GetRangeRequest__Output } from '../../cadastre/v1/GetRangeRequest.ts';
import type { GetRangeResponse as _cadastre_v1_GetRangeResponse, GetRangeResponse__Output as _cadastre_v1_GetRangeResponse__Output } from '../../cadastre/v1/GetRangeResponse.ts';
import type { ListNodesRequest as _cadastre_v1_ListNodesRequest, ListNodesRequest__Output as _cadastre_v1_ListNodesRequest__Output } from '../../cadastre/v1/ListNodesRequest.ts';
import type { ListNodesResponse as _cadastre_v1_ListNodesResponse, ListNodesResponse__Output as _cadastre_v1_ListNodesResponse__Output } from '../../cadastre/v1/ListNodesResponse.ts';
import type { ListRangesRequest as _cadastre_v1_ListRangesRequest, ListRangesRequest__Output as _cadastre_v1_ListRangesRequest__Output } from '../../cadastre/v1/ListRangesRequest.ts';
import type { ListRangesResponse as _cadastre_v1_ListRangesResponse, ListRangesResponse__Output as _cadastre_v1_ListRangesResponse__Output } from '../../cadastre/v1/ListRangesResponse.ts';
import type { LookupBatchRequest as _cadastre_v1_LookupBatchRequest, LookupBatchRequest__Output as _cadastre_v1_LookupBatchRequest__Output } from '../../cadastre/v1/LookupBatchRequest.ts';
import type { LookupBatchResponse as _cadastre_v1_LookupBatchResponse, LookupBatchResponse__Output as _cadastre_v1_LookupBatchResponse__Output } from '../../cadastre/v1/LookupBatchResponse.ts';
import type { LookupRequest as _cadastre_v1_LookupRequest, LookupRequest__Output as _cadastre_v1_LookupRequest__Output } from '../../cadastre/v1/LookupRequest.ts';
import type { LookupResponse as _cadastre_v1_LookupResponse, LookupResponse__Output as _cadastre_v1_LookupResponse__Output } from '../../cadastre/v1/LookupResponse.ts';
import type { WatchFrame as _cadastre_v1_WatchFrame, WatchFrame__Output as _cadastre_v1_WatchFrame__Output } from '../../cadastre/v1/WatchFrame.ts';
import type { WatchRequest as _cadastre_v1_WatchRequest, WatchRequest__Output as _cadastre_v1_WatchRequest__Output } from '../../cadastre/v1/WatchRequest.ts';

export interface DirectoryClient extends grpc.Client {
  GetRange(argument: _cadastre_v1_GetRangeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  GetRange(argument: _cadastre_v1_GetRangeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  GetRange(argument: _cadastre_v1_GetRangeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  GetRange(argument: _cadastre_v1_GetRangeRequest, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  getRange(argument: _cadastre_v1_GetRangeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  getRange(argument: _cadastre_v1_GetRangeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  getRange(argument: _cadastre_v1_GetRangeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  getRange(argument: _cadastre_v1_GetRangeRequest, callback: grpc.requestCallback<_cadastre_v1_GetRangeResponse__Output>): grpc.ClientUnaryCall;
  
  ListNodes(argument: _cadastre_v1_ListNodesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  ListNodes(argument: _cadastre_v1_ListNodesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  ListNodes(argument: _cadastre_v1_ListNodesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  ListNodes(argument: _cadastre_v1_ListNodesRequest, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  listNodes(argument: _cadastre_v1_ListNodesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  listNodes(argument: _cadastre_v1_ListNodesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  listNodes(argument: _cadastre_v1_ListNodesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  listNodes(argument: _cadastre_v1_ListNodesRequest, callback: grpc.requestCallback<_cadastre_v1_ListNodesResponse__Output>): grpc.ClientUnaryCall;
  
  ListRanges(argument: _cadastre_v1_ListRangesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  ListRanges(argument: _cadastre_v1_ListRangesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  ListRanges(argument: _cadastre_v1_ListRangesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  ListRanges(argument: _cadastre_v1_ListRangesRequest, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  listRanges(argument: _cadastre_v1_ListRangesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  listRanges(argument: _cadastre_v1_ListRangesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  listRanges(argument: _cadastre_v1_ListRangesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  listRanges(argument: _cadastre_v1_ListRangesRequest, callback: grpc.requestCallback<_cadastre_v1_ListRangesResponse__Output>): grpc.ClientUnaryCall;
  
  Lookup(argument: _cadastre_v1_LookupRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  Lookup(argument: _cadastre_v1_LookupRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  Lookup(argument: _cadastre_v1_LookupRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  Lookup(argument: _cadastre_v1_LookupRequest, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  lookup(argument: _cadastre_v1_LookupRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  lookup(argument: _cadastre_v1_LookupRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  lookup(argument: _cadastre_v1_LookupRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  lookup(argument: _cadastre_v1_LookupRequest, callback: grpc.requestCallback<_cadastre_v1_LookupResponse__Output>): grpc.ClientUnaryCall;
  
  LookupBatch(argument: _cadastre_v1_LookupBatchRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  LookupBatch(argument: _cadastre_v1_LookupBatchRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  LookupBatch(argument: _cadastre_v1_LookupBatchRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  LookupBatch(argument: _cadastre_v1_LookupBatchRequest, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  lookupBatch(argument: _cadastre_v1_LookupBatchRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  lookupBatch(argument: _cadastre_v1_LookupBatchRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  lookupBatch(argument: _cadastre_v1_LookupBatchRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  lookupBatch(argument: _cadastre_v1_LookupBatchRequest, callback: grpc.requestCallback<_cadastre_v1_LookupBatchResponse__Output>): grpc.ClientUnaryCall;
  
  Watch(argument: _cadastre_v1_WatchRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_v1_WatchFrame__Output>;
  Watch(argument: _cadastre_v1_WatchRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_v1_WatchFrame__Output>;
  watch(argument: _cadastre_v1_WatchRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_v1_WatchFrame__Output>;
  watch(argument: _cadastre_v1_WatchRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_v1_WatchFrame__Output>;
  
}

export interface DirectoryHandlers extends grpc.UntypedServiceImplementation {
  GetRange: grpc.handleUnaryCall<_cadastre_v1_GetRangeRequest__Output, _cadastre_v1_GetRangeResponse>;
  
  ListNodes: grpc.handleUnaryCall<_cadastre_v1_ListNodesRequest__Output, _cadastre_v1_ListNodesResponse>;
  
  ListRanges: grpc.handleUnaryCall<_cadastre_v1_ListRangesRequest__Output, _cadastre_v1_ListRangesResponse>;
  
  Lookup: grpc.handleUnaryCall<_cadastre_v1_LookupRequest__Output, _cadastre_v1_LookupResponse>;
  
  LookupBatch: grpc.handleUnaryCall<_cadastre_v1_LookupBatchRequest__Output, _cadastre_v1_LookupBatchResponse>;
  
  Watch: grpc.handleServerStreamingCall<_cadastre_v1_WatchRequest__Output, _cadastre_v1_WatchFrame>;
  
}

export interface DirectoryDefinition extends grpc.ServiceDefinition {
  GetRange: MethodDefinition<_cadastre_v1_GetRangeRequest, _cadastre_v1_GetRangeResponse, _cadastre_v1_GetRangeRequest__Output, _cadastre_v1_GetRangeResponse__Output>
  ListNodes: MethodDefinition<_cadastre_v1_ListNodesRequest, _cadastre_v1_ListNodesResponse, _cadastre_v1_ListNodesRequest__Output, _cadastre_v1_ListNodesResponse__Output>
  ListRanges: MethodDefinition<_cadastre_v1_ListRangesRequest, _cadastre_v1_ListRangesResponse, _cadastre_v1_ListRangesRequest__Output, _cadastre_v1_ListRangesResponse__Output>
  Lookup: MethodDefinition<_cadastre_v1_LookupRequest, _cadastre_v1_LookupResponse, _cadastre_v1_LookupRequest__Output, _cadastre_v1_LookupResponse__Output>
  LookupBatch: MethodDefinition<_cadastre_v1_LookupBatchRequest, _cadastre_v1_LookupBatchResponse, _cadastre_v1_LookupBatchRequest__Output, _cadastre_v1_LookupBatchResponse__Output>
  Watch: MethodDefinition<_cadastre_v1_WatchRequest, _cadastre_v1_WatchFrame, _cadastre_v1_WatchRequest__Output, _cadastre_v1_WatchFrame__Output>
}
