import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { AbortImportRequest as _cadastre_v1_AbortImportRequest, AbortImportRequest__Output as _cadastre_v1_AbortImportRequest__Output } from './cadastre/v1/AbortImportRequest.ts';
import type { AbortImportResponse as _cadastre_v1_AbortImportResponse, AbortImportResponse__Output as _cadastre_v1_AbortImportResponse__Output } from './cadastre/v1/AbortImportResponse.ts';
import type { CommitImportRequest as _cadastre_v1_CommitImportRequest, CommitImportRequest__Output as _cadastre_v1_CommitImportRequest__Output } from './cadastre/v1/CommitImportRequest.ts';
import type { CommitImportResponse as _cadastre_v1_CommitImportResponse, CommitImportResponse__Output as _cadastre_v1_CommitImportResponse__Output } from './cadastre/v1/CommitImportResponse.ts';
import type { CreateKeyspaceRequest as _cadastre_v1_CreateKeyspaceRequest, CreateKeyspaceRequest__Output as _cadastre_v1_CreateKeyspaceRequest__Output } from './cadastre/v1/CreateKeyspaceRequest.ts';
import type { CreateKeyspaceResponse as _cadastre_v1_CreateKeyspaceResponse, CreateKeyspaceResponse__Output as _cadastre_v1_CreateKeyspaceResponse__Output } from './cadastre/v1/CreateKeyspaceResponse.ts';
import type { DefineRangesRequest as _cadastre_v1_DefineRangesRequest, DefineRangesRequest__Output as _cadastre_v1_DefineRangesRequest__Output } from './cadastre/v1/DefineRangesRequest.ts';
import type { DefineRangesResponse as _cadastre_v1_DefineRangesResponse, DefineRangesResponse__Output as _cadastre_v1_DefineRangesResponse__Output } from './cadastre/v1/DefineRangesResponse.ts';
import type { Descriptor as _cadastre_v1_Descriptor, Descriptor__Output as _cadastre_v1_Descriptor__Output } from './cadastre/v1/Descriptor.ts';
import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from './cadastre/v1/Header.ts';
import type { ImportRow as _cadastre_v1_ImportRow, ImportRow__Output as _cadastre_v1_ImportRow__Output } from './cadastre/v1/ImportRow.ts';
import type { KeyspaceRecord as _cadastre_v1_KeyspaceRecord, KeyspaceRecord__Output as _cadastre_v1_KeyspaceRecord__Output } from './cadastre/v1/KeyspaceRecord.ts';
import type { KeyspacesClient as _cadastre_v1_KeyspacesClient, KeyspacesDefinition as _cadastre_v1_KeyspacesDefinition } from './cadastre/v1/Keyspaces.ts';
import type { ListKeyspacesRequest as _cadastre_v1_ListKeyspacesRequest, ListKeyspacesRequest__Output as _cadastre_v1_ListKeyspacesRequest__Output } from './cadastre/v1/ListKeyspacesRequest.ts';
import type { ListKeyspacesResponse as _cadastre_v1_ListKeyspacesResponse, ListKeyspacesResponse__Output as _cadastre_v1_ListKeyspacesResponse__Output } from './cadastre/v1/ListKeyspacesResponse.ts';
import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from './cadastre/v1/Owner.ts';
import type { OwnershipDetail as _cadastre_v1_OwnershipDetail, OwnershipDetail__Output as _cadastre_v1_OwnershipDetail__Output } from './cadastre/v1/OwnershipDetail.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from './cadastre/v1/RangeRecord.ts';
import type { RangeReplica as _cadastre_v1_RangeReplica, RangeReplica__Output as _cadastre_v1_RangeReplica__Output } from './cadastre/v1/RangeReplica.ts';
import type { ReadOptions as _cadastre_v1_ReadOptions, ReadOptions__Output as _cadastre_v1_ReadOptions__Output } from './cadastre/v1/ReadOptions.ts';
import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from './cadastre/v1/RequestId.ts';
import type { Route as _cadastre_v1_Route, Route__Output as _cadastre_v1_Route__Output } from './cadastre/v1/Route.ts';
import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from './cadastre/v1/Span.ts';
import type { StageImportRequest as _cadastre_v1_StageImportRequest, StageImportRequest__Output as _cadastre_v1_StageImportRequest__Output } from './cadastre/v1/StageImportRequest.ts';
import type { StageImportResponse as _cadastre_v1_StageImportResponse, StageImportResponse__Output as _cadastre_v1_StageImportResponse__Output } from './cadastre/v1/StageImportResponse.ts';
import type { Staleness as _cadastre_v1_Staleness, Staleness__Output as _cadastre_v1_Staleness__Output } from './cadastre/v1/Staleness.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  cadastre: {
    v1: {
      AbortImportRequest: MessageTypeDefinition<_cadastre_v1_AbortImportRequest, _cadastre_v1_AbortImportRequest__Output>
      AbortImportResponse: MessageTypeDefinition<_cadastre_v1_AbortImportResponse, _cadastre_v1_AbortImportResponse__Output>
      CommitImportRequest: MessageTypeDefinition<_cadastre_v1_CommitImportRequest, _cadastre_v1_CommitImportRequest__Output>
      CommitImportResponse: MessageTypeDefinition<_cadastre_v1_CommitImportResponse, _cadastre_v1_CommitImportResponse__Output>
      Consistency: EnumTypeDefinition
      CreateKeyspaceRequest: MessageTypeDefinition<_cadastre_v1_CreateKeyspaceRequest, _cadastre_v1_CreateKeyspaceRequest__Output>
      CreateKeyspaceResponse: MessageTypeDefinition<_cadastre_v1_CreateKeyspaceResponse, _cadastre_v1_CreateKeyspaceResponse__Output>
      DataKind: EnumTypeDefinition
      DefineRangesRequest: MessageTypeDefinition<_cadastre_v1_DefineRangesRequest, _cadastre_v1_DefineRangesRequest__Output>
      DefineRangesResponse: MessageTypeDefinition<_cadastre_v1_DefineRangesResponse, _cadastre_v1_DefineRangesResponse__Output>
      Descriptor: MessageTypeDefinition<_cadastre_v1_Descriptor, _cadastre_v1_Descriptor__Output>
      HashFunction: EnumTypeDefinition
      Header: MessageTypeDefinition<_cadastre_v1_Header, _cadastre_v1_Header__Output>
      ImportRow: MessageTypeDefinition<_cadastre_v1_ImportRow, _cadastre_v1_ImportRow__Output>
      KeyspaceKind: EnumTypeDefinition
      KeyspaceRecord: MessageTypeDefinition<_cadastre_v1_KeyspaceRecord, _cadastre_v1_KeyspaceRecord__Output>
      KeyspaceState: EnumTypeDefinition
      Keyspaces: SubtypeConstructor<typeof grpc.Client, _cadastre_v1_KeyspacesClient> & { service: _cadastre_v1_KeyspacesDefinition }
      LeaseMode: EnumTypeDefinition
      ListKeyspacesRequest: MessageTypeDefinition<_cadastre_v1_ListKeyspacesRequest, _cadastre_v1_ListKeyspacesRequest__Output>
      ListKeyspacesResponse: MessageTypeDefinition<_cadastre_v1_ListKeyspacesResponse, _cadastre_v1_ListKeyspacesResponse__Output>
      Owner: MessageTypeDefinition<_cadastre_v1_Owner, _cadastre_v1_Owner__Output>
      OwnershipDetail: MessageTypeDefinition<_cadastre_v1_OwnershipDetail, _cadastre_v1_OwnershipDetail__Output>
      RangeRecord: MessageTypeDefinition<_cadastre_v1_RangeRecord, _cadastre_v1_RangeRecord__Output>
      RangeReplica: MessageTypeDefinition<_cadastre_v1_RangeReplica, _cadastre_v1_RangeReplica__Output>
      ReadOptions: MessageTypeDefinition<_cadastre_v1_ReadOptions, _cadastre_v1_ReadOptions__Output>
      RequestId: MessageTypeDefinition<_cadastre_v1_RequestId, _cadastre_v1_RequestId__Output>
      Route: MessageTypeDefinition<_cadastre_v1_Route, _cadastre_v1_Route__Output>
      Span: MessageTypeDefinition<_cadastre_v1_Span, _cadastre_v1_Span__Output>
      StageImportRequest: MessageTypeDefinition<_cadastre_v1_StageImportRequest, _cadastre_v1_StageImportRequest__Output>
      StageImportResponse: MessageTypeDefinition<_cadastre_v1_StageImportResponse, _cadastre_v1_StageImportResponse__Output>
      Staleness: MessageTypeDefinition<_cadastre_v1_Staleness, _cadastre_v1_Staleness__Output>
    }
  }
}

