// Original file: proto/cadastre/v1/keyspaces.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AbortImportRequest as _cadastre_v1_AbortImportRequest, AbortImportRequest__Output as _cadastre_v1_AbortImportRequest__Output } from '../../cadastre/v1/AbortImportRequest.ts';
import type { AbortImportResponse as _cadastre_v1_AbortImportResponse, AbortImportResponse__Output as _cadastre_v1_AbortImportResponse__Output } from '../../cadastre/v1/AbortImportResponse.ts';
import type { CommitImportRequest as _cadastre_v1_CommitImportRequest, CommitImportRequest__Output as _cadastre_v1_CommitImportRequest__Output } from '../../cadastre/v1/CommitImportRequest.ts';
import type { CommitImportResponse as _cadastre_v1_CommitImportResponse, CommitImportResponse__Output as _cadastre_v1_CommitImportResponse__Output } from '../../cadastre/v1/CommitImportResponse.ts';
import type { CreateKeyspaceRequest as _cadastre_v1_CreateKeyspaceRequest, CreateKeyspaceRequest__Output as _cadastre_v1_CreateKeyspaceRequest__Output } from '../../cadastre/v1/CreateKeyspaceRequest.ts';
import type { CreateKeyspaceResponse as _cadastre_v1_CreateKeyspaceResponse, CreateKeyspaceResponse__Output as _cadastre_v1_CreateKeyspaceResponse__Output } from '../../cadastre/v1/CreateKeyspaceResponse.ts';
import type { DefineRangesRequest as _cadastre_v1_DefineRangesRequest, DefineRangesRequest__Output as _cadastre_v1_DefineRangesRequest__Output } from '../../cadastre/v1/DefineRangesRequest.ts';
import type { DefineRangesResponse as _cadastre_v1_DefineRangesResponse, DefineRangesResponse__Output as _cadastre_v1_DefineRangesResponse__Output } from '../../cadastre/v1/DefineRangesResponse.ts';
import type { ListKeyspacesRequest as _cadastre_v1_ListKeyspacesRequest, ListKeyspacesRequest__Output as _cadastre_v1_ListKeyspacesRequest__Output } from '../../cadastre/v1/ListKeyspacesRequest.ts';
import type { ListKeyspacesResponse as _cadastre_v1_ListKeyspacesResponse, ListKeyspacesResponse__Output as _cadastre_v1_ListKeyspacesResponse__Output } from '../../cadastre/v1/ListKeyspacesResponse.ts';
import type { StageImportRequest as _cadastre_v1_StageImportRequest, StageImportRequest__Output as _cadastre_v1_StageImportRequest__Output } from '../../cadastre/v1/StageImportRequest.ts';
import type { StageImportResponse as _cadastre_v1_StageImportResponse, StageImportResponse__Output as _cadastre_v1_StageImportResponse__Output } from '../../cadastre/v1/StageImportResponse.ts';

export interface KeyspacesClient extends grpc.Client {
  AbortImport(argument: _cadastre_v1_AbortImportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  AbortImport(argument: _cadastre_v1_AbortImportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  AbortImport(argument: _cadastre_v1_AbortImportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  AbortImport(argument: _cadastre_v1_AbortImportRequest, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  abortImport(argument: _cadastre_v1_AbortImportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  abortImport(argument: _cadastre_v1_AbortImportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  abortImport(argument: _cadastre_v1_AbortImportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  abortImport(argument: _cadastre_v1_AbortImportRequest, callback: grpc.requestCallback<_cadastre_v1_AbortImportResponse__Output>): grpc.ClientUnaryCall;
  
  CommitImport(argument: _cadastre_v1_CommitImportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  CommitImport(argument: _cadastre_v1_CommitImportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  CommitImport(argument: _cadastre_v1_CommitImportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  CommitImport(argument: _cadastre_v1_CommitImportRequest, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  commitImport(argument: _cadastre_v1_CommitImportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  commitImport(argument: _cadastre_v1_CommitImportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  commitImport(argument: _cadastre_v1_CommitImportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  commitImport(argument: _cadastre_v1_CommitImportRequest, callback: grpc.requestCallback<_cadastre_v1_CommitImportResponse__Output>): grpc.ClientUnaryCall;
  
  CreateKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  CreateKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  CreateKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  CreateKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  createKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  createKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  createKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  createKeyspace(argument: _cadastre_v1_CreateKeyspaceRequest, callback: grpc.requestCallback<_cadastre_v1_CreateKeyspaceResponse__Output>): grpc.ClientUnaryCall;
  
  DefineRanges(argument: _cadastre_v1_DefineRangesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  DefineRanges(argument: _cadastre_v1_DefineRangesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  DefineRanges(argument: _cadastre_v1_DefineRangesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  DefineRanges(argument: _cadastre_v1_DefineRangesRequest, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  defineRanges(argument: _cadastre_v1_DefineRangesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  defineRanges(argument: _cadastre_v1_DefineRangesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  defineRanges(argument: _cadastre_v1_DefineRangesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  defineRanges(argument: _cadastre_v1_DefineRangesRequest, callback: grpc.requestCallback<_cadastre_v1_DefineRangesResponse__Output>): grpc.ClientUnaryCall;
  
  ListKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  ListKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  ListKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  ListKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  listKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  listKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  listKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  listKeyspaces(argument: _cadastre_v1_ListKeyspacesRequest, callback: grpc.requestCallback<_cadastre_v1_ListKeyspacesResponse__Output>): grpc.ClientUnaryCall;
  
  StageImport(argument: _cadastre_v1_StageImportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  StageImport(argument: _cadastre_v1_StageImportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  StageImport(argument: _cadastre_v1_StageImportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  StageImport(argument: _cadastre_v1_StageImportRequest, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  stageImport(argument: _cadastre_v1_StageImportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  stageImport(argument: _cadastre_v1_StageImportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  stageImport(argument: _cadastre_v1_StageImportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  stageImport(argument: _cadastre_v1_StageImportRequest, callback: grpc.requestCallback<_cadastre_v1_StageImportResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface KeyspacesHandlers extends grpc.UntypedServiceImplementation {
  AbortImport: grpc.handleUnaryCall<_cadastre_v1_AbortImportRequest__Output, _cadastre_v1_AbortImportResponse>;
  
  CommitImport: grpc.handleUnaryCall<_cadastre_v1_CommitImportRequest__Output, _cadastre_v1_CommitImportResponse>;
  
  CreateKeyspace: grpc.handleUnaryCall<_cadastre_v1_CreateKeyspaceRequest__Output, _cadastre_v1_CreateKeyspaceResponse>;
  
  DefineRanges: grpc.handleUnaryCall<_cadastre_v1_DefineRangesRequest__Output, _cadastre_v1_DefineRangesResponse>;
  
  ListKeyspaces: grpc.handleUnaryCall<_cadastre_v1_ListKeyspacesRequest__Output, _cadastre_v1_ListKeyspacesResponse>;
  
  StageImport: grpc.handleUnaryCall<_cadastre_v1_StageImportRequest__Output, _cadastre_v1_StageImportResponse>;
  
}

export interface KeyspacesDefinition extends grpc.ServiceDefinition {
  AbortImport: MethodDefinition<_cadastre_v1_AbortImportRequest, _cadastre_v1_AbortImportResponse, _cadastre_v1_AbortImportRequest__Output, _cadastre_v1_AbortImportResponse__Output>
  CommitImport: MethodDefinition<_cadastre_v1_CommitImportRequest, _cadastre_v1_CommitImportResponse, _cadastre_v1_CommitImportRequest__Output, _cadastre_v1_CommitImportResponse__Output>
  CreateKeyspace: MethodDefinition<_cadastre_v1_CreateKeyspaceRequest, _cadastre_v1_CreateKeyspaceResponse, _cadastre_v1_CreateKeyspaceRequest__Output, _cadastre_v1_CreateKeyspaceResponse__Output>
  DefineRanges: MethodDefinition<_cadastre_v1_DefineRangesRequest, _cadastre_v1_DefineRangesResponse, _cadastre_v1_DefineRangesRequest__Output, _cadastre_v1_DefineRangesResponse__Output>
  ListKeyspaces: MethodDefinition<_cadastre_v1_ListKeyspacesRequest, _cadastre_v1_ListKeyspacesResponse, _cadastre_v1_ListKeyspacesRequest__Output, _cadastre_v1_ListKeyspacesResponse__Output>
  StageImport: MethodDefinition<_cadastre_v1_StageImportRequest, _cadastre_v1_StageImportResponse, _cadastre_v1_StageImportRequest__Output, _cadastre_v1_StageImportResponse__Output>
}
