import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { ChangesFrame as _cadastre_v1_ChangesFrame, ChangesFrame__Output as _cadastre_v1_ChangesFrame__Output } from './cadastre/v1/ChangesFrame.ts';
import type { Descriptor as _cadastre_v1_Descriptor, Descriptor__Output as _cadastre_v1_Descriptor__Output } from './cadastre/v1/Descriptor.ts';
import type { DirectoryClient as _cadastre_v1_DirectoryClient, DirectoryDefinition as _cadastre_v1_DirectoryDefinition } from './cadastre/v1/Directory.ts';
import type { GetRangeRequest as _cadastre_v1_GetRangeRequest, GetRangeRequest__Output as _cadastre_v1_GetRangeRequest__Output } from './cadastre/v1/GetRangeRequest.ts';
import type { GetRangeResponse as _cadastre_v1_GetRangeResponse, GetRangeResponse__Output as _cadastre_v1_GetRangeResponse__Output } from './cadastre/v1/GetRangeResponse.ts';
import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from './cadastre/v1/Header.ts';
import type { ListNodesRequest as _cadastre_v1_ListNodesRequest, ListNodesRequest__Output as _cadastre_v1_ListNodesRequest__Output } from './cadastre/v1/ListNodesRequest.ts';
import type { ListNodesResponse as _cadastre_v1_ListNodesResponse, ListNodesResponse__Output as _cadastre_v1_ListNodesResponse__Output } from './cadastre/v1/ListNodesResponse.ts';
import type { ListRangesRequest as _cadastre_v1_ListRangesRequest, ListRangesRequest__Output as _cadastre_v1_ListRangesRequest__Output } from './cadastre/v1/ListRangesRequest.ts';
import type { ListRangesResponse as _cadastre_v1_ListRangesResponse, ListRangesResponse__Output as _cadastre_v1_ListRangesResponse__Output } from './cadastre/v1/ListRangesResponse.ts';
import type { LookupBatchRequest as _cadastre_v1_LookupBatchRequest, LookupBatchRequest__Output as _cadastre_v1_LookupBatchRequest__Output } from './cadastre/v1/LookupBatchRequest.ts';
import type { LookupBatchResponse as _cadastre_v1_LookupBatchResponse, LookupBatchResponse__Output as _cadastre_v1_LookupBatchResponse__Output } from './cadastre/v1/LookupBatchResponse.ts';
import type { LookupRequest as _cadastre_v1_LookupRequest, LookupRequest__Output as _cadastre_v1_LookupRequest__Output } from './cadastre/v1/LookupRequest.ts';
import type { LookupResponse as _cadastre_v1_LookupResponse, LookupResponse__Output as _cadastre_v1_LookupResponse__Output } from './cadastre/v1/LookupResponse.ts';
import type { NodeRecord as _cadastre_v1_NodeRecord, NodeRecord__Output as _cadastre_v1_NodeRecord__Output } from './cadastre/v1/NodeRecord.ts';
import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from './cadastre/v1/Owner.ts';
import type { OwnershipDetail as _cadastre_v1_OwnershipDetail, OwnershipDetail__Output as _cadastre_v1_OwnershipDetail__Output } from './cadastre/v1/OwnershipDetail.ts';
import type { ProgressFrame as _cadastre_v1_ProgressFrame, ProgressFrame__Output as _cadastre_v1_ProgressFrame__Output } from './cadastre/v1/ProgressFrame.ts';
import type { RangeChange as _cadastre_v1_RangeChange, RangeChange__Output as _cadastre_v1_RangeChange__Output } from './cadastre/v1/RangeChange.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from './cadastre/v1/RangeRecord.ts';
import type { RangeReplica as _cadastre_v1_RangeReplica, RangeReplica__Output as _cadastre_v1_RangeReplica__Output } from './cadastre/v1/RangeReplica.ts';
import type { ReadOptions as _cadastre_v1_ReadOptions, ReadOptions__Output as _cadastre_v1_ReadOptions__Output } from './cadastre/v1/ReadOptions.ts';
import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from './cadastre/v1/RequestId.ts';
import type { RevisionChanges as _cadastre_v1_RevisionChanges, RevisionChanges__Output as _cadastre_v1_RevisionChanges__Output } from './cadastre/v1/RevisionChanges.ts';
import type { Route as _cadastre_v1_Route, Route__Output as _cadastre_v1_Route__Output } from './cadastre/v1/Route.ts';
import type { SnapshotFrame as _cadastre_v1_SnapshotFrame, SnapshotFrame__Output as _cadastre_v1_SnapshotFrame__Output } from './cadastre/v1/SnapshotFrame.ts';
import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from './cadastre/v1/Span.ts';
import type { Staleness as _cadastre_v1_Staleness, Staleness__Output as _cadastre_v1_Staleness__Output } from './cadastre/v1/Staleness.ts';
import type { WatchFrame as _cadastre_v1_WatchFrame, WatchFrame__Output as _cadastre_v1_WatchFrame__Output } from './cadastre/v1/WatchFrame.ts';
import type { WatchRequest as _cadastre_v1_WatchRequest, WatchRequest__Output as _cadastre_v1_WatchRequest__Output } from './cadastre/v1/WatchRequest.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  cadastre: {
    v1: {
      Cause: EnumTypeDefinition
      ChangesFrame: MessageTypeDefinition<_cadastre_v1_ChangesFrame, _cadastre_v1_ChangesFrame__Output>
      Consistency: EnumTypeDefinition
      Descriptor: MessageTypeDefinition<_cadastre_v1_Descriptor, _cadastre_v1_Descriptor__Output>
      Directory: SubtypeConstructor<typeof grpc.Client, _cadastre_v1_DirectoryClient> & { service: _cadastre_v1_DirectoryDefinition }
      GetRangeRequest: MessageTypeDefinition<_cadastre_v1_GetRangeRequest, _cadastre_v1_GetRangeRequest__Output>
      GetRangeResponse: MessageTypeDefinition<_cadastre_v1_GetRangeResponse, _cadastre_v1_GetRangeResponse__Output>
      Header: MessageTypeDefinition<_cadastre_v1_Header, _cadastre_v1_Header__Output>
      ListNodesRequest: MessageTypeDefinition<_cadastre_v1_ListNodesRequest, _cadastre_v1_ListNodesRequest__Output>
      ListNodesResponse: MessageTypeDefinition<_cadastre_v1_ListNodesResponse, _cadastre_v1_ListNodesResponse__Output>
      ListRangesRequest: MessageTypeDefinition<_cadastre_v1_ListRangesRequest, _cadastre_v1_ListRangesRequest__Output>
      ListRangesResponse: MessageTypeDefinition<_cadastre_v1_ListRangesResponse, _cadastre_v1_ListRangesResponse__Output>
      LookupBatchRequest: MessageTypeDefinition<_cadastre_v1_LookupBatchRequest, _cadastre_v1_LookupBatchRequest__Output>
      LookupBatchResponse: MessageTypeDefinition<_cadastre_v1_LookupBatchResponse, _cadastre_v1_LookupBatchResponse__Output>
      LookupRequest: MessageTypeDefinition<_cadastre_v1_LookupRequest, _cadastre_v1_LookupRequest__Output>
      LookupResponse: MessageTypeDefinition<_cadastre_v1_LookupResponse, _cadastre_v1_LookupResponse__Output>
      NodeRecord: MessageTypeDefinition<_cadastre_v1_NodeRecord, _cadastre_v1_NodeRecord__Output>
      Owner: MessageTypeDefinition<_cadastre_v1_Owner, _cadastre_v1_Owner__Output>
      OwnershipDetail: MessageTypeDefinition<_cadastre_v1_OwnershipDetail, _cadastre_v1_OwnershipDetail__Output>
      ProgressFrame: MessageTypeDefinition<_cadastre_v1_ProgressFrame, _cadastre_v1_ProgressFrame__Output>
      RangeChange: MessageTypeDefinition<_cadastre_v1_RangeChange, _cadastre_v1_RangeChange__Output>
      RangeRecord: MessageTypeDefinition<_cadastre_v1_RangeRecord, _cadastre_v1_RangeRecord__Output>
      RangeReplica: MessageTypeDefinition<_cadastre_v1_RangeReplica, _cadastre_v1_RangeReplica__Output>
      ReadOptions: MessageTypeDefinition<_cadastre_v1_ReadOptions, _cadastre_v1_ReadOptions__Output>
      RequestId: MessageTypeDefinition<_cadastre_v1_RequestId, _cadastre_v1_RequestId__Output>
      RevisionChanges: MessageTypeDefinition<_cadastre_v1_RevisionChanges, _cadastre_v1_RevisionChanges__Output>
      Route: MessageTypeDefinition<_cadastre_v1_Route, _cadastre_v1_Route__Output>
      SnapshotFrame: MessageTypeDefinition<_cadastre_v1_SnapshotFrame, _cadastre_v1_SnapshotFrame__Output>
      Span: MessageTypeDefinition<_cadastre_v1_Span, _cadastre_v1_Span__Output>
      Staleness: MessageTypeDefinition<_cadastre_v1_Staleness, _cadastre_v1_Staleness__Output>
      WatchFrame: MessageTypeDefinition<_cadastre_v1_WatchFrame, _cadastre_v1_WatchFrame__Output>
      WatchRequest: MessageTypeDefinition<_cadastre_v1_WatchRequest, _cadastre_v1_WatchRequest__Output>
    }
  }
}

