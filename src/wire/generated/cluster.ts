import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { Abstention as _cadastre_admin_v1_Abstention, Abstention__Output as _cadastre_admin_v1_Abstention__Output } from './cadastre/admin/v1/Abstention.ts';
import type { ClusterClient as _cadastre_admin_v1_ClusterClient, ClusterDefinition as _cadastre_admin_v1_ClusterDefinition } from './cadastre/admin/v1/Cluster.ts';
import type { GetStatusRequest as _cadastre_admin_v1_GetStatusRequest, GetStatusRequest__Output as _cadastre_admin_v1_GetStatusRequest__Output } from './cadastre/admin/v1/GetStatusRequest.ts';
import type { GetStatusResponse as _cadastre_admin_v1_GetStatusResponse, GetStatusResponse__Output as _cadastre_admin_v1_GetStatusResponse__Output } from './cadastre/admin/v1/GetStatusResponse.ts';
import type { GroupStatus as _cadastre_admin_v1_GroupStatus, GroupStatus__Output as _cadastre_admin_v1_GroupStatus__Output } from './cadastre/admin/v1/GroupStatus.ts';
import type { ReplicaStatus as _cadastre_admin_v1_ReplicaStatus, ReplicaStatus__Output as _cadastre_admin_v1_ReplicaStatus__Output } from './cadastre/admin/v1/ReplicaStatus.ts';
import type { ServerStatus as _cadastre_admin_v1_ServerStatus, ServerStatus__Output as _cadastre_admin_v1_ServerStatus__Output } from './cadastre/admin/v1/ServerStatus.ts';
import type { Descriptor as _cadastre_v1_Descriptor, Descriptor__Output as _cadastre_v1_Descriptor__Output } from './cadastre/v1/Descriptor.ts';
import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from './cadastre/v1/Header.ts';
import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from './cadastre/v1/Owner.ts';
import type { OwnershipDetail as _cadastre_v1_OwnershipDetail, OwnershipDetail__Output as _cadastre_v1_OwnershipDetail__Output } from './cadastre/v1/OwnershipDetail.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from './cadastre/v1/RangeRecord.ts';
import type { RangeReplica as _cadastre_v1_RangeReplica, RangeReplica__Output as _cadastre_v1_RangeReplica__Output } from './cadastre/v1/RangeReplica.ts';
import type { ReadOptions as _cadastre_v1_ReadOptions, ReadOptions__Output as _cadastre_v1_ReadOptions__Output } from './cadastre/v1/ReadOptions.ts';
import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from './cadastre/v1/RequestId.ts';
import type { Route as _cadastre_v1_Route, Route__Output as _cadastre_v1_Route__Output } from './cadastre/v1/Route.ts';
import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from './cadastre/v1/Span.ts';
import type { Staleness as _cadastre_v1_Staleness, Staleness__Output as _cadastre_v1_Staleness__Output } from './cadastre/v1/Staleness.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  cadastre: {
    admin: {
      v1: {
        Abstention: MessageTypeDefinition<_cadastre_admin_v1_Abstention, _cadastre_admin_v1_Abstention__Output>
        Cluster: SubtypeConstructor<typeof grpc.Client, _cadastre_admin_v1_ClusterClient> & { service: _cadastre_admin_v1_ClusterDefinition }
        GetStatusRequest: MessageTypeDefinition<_cadastre_admin_v1_GetStatusRequest, _cadastre_admin_v1_GetStatusRequest__Output>
        GetStatusResponse: MessageTypeDefinition<_cadastre_admin_v1_GetStatusResponse, _cadastre_admin_v1_GetStatusResponse__Output>
        GroupStatus: MessageTypeDefinition<_cadastre_admin_v1_GroupStatus, _cadastre_admin_v1_GroupStatus__Output>
        ReplicaStatus: MessageTypeDefinition<_cadastre_admin_v1_ReplicaStatus, _cadastre_admin_v1_ReplicaStatus__Output>
        ServerStatus: MessageTypeDefinition<_cadastre_admin_v1_ServerStatus, _cadastre_admin_v1_ServerStatus__Output>
      }
    }
    v1: {
      Consistency: EnumTypeDefinition
      Descriptor: MessageTypeDefinition<_cadastre_v1_Descriptor, _cadastre_v1_Descriptor__Output>
      Header: MessageTypeDefinition<_cadastre_v1_Header, _cadastre_v1_Header__Output>
      Owner: MessageTypeDefinition<_cadastre_v1_Owner, _cadastre_v1_Owner__Output>
      OwnershipDetail: MessageTypeDefinition<_cadastre_v1_OwnershipDetail, _cadastre_v1_OwnershipDetail__Output>
      RangeRecord: MessageTypeDefinition<_cadastre_v1_RangeRecord, _cadastre_v1_RangeRecord__Output>
      RangeReplica: MessageTypeDefinition<_cadastre_v1_RangeReplica, _cadastre_v1_RangeReplica__Output>
      ReadOptions: MessageTypeDefinition<_cadastre_v1_ReadOptions, _cadastre_v1_ReadOptions__Output>
      RequestId: MessageTypeDefinition<_cadastre_v1_RequestId, _cadastre_v1_RequestId__Output>
      Route: MessageTypeDefinition<_cadastre_v1_Route, _cadastre_v1_Route__Output>
      Span: MessageTypeDefinition<_cadastre_v1_Span, _cadastre_v1_Span__Output>
      Staleness: MessageTypeDefinition<_cadastre_v1_Staleness, _cadastre_v1_Staleness__Output>
    }
  }
}

