import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { AcceptRequest as _cadastre_v1_AcceptRequest, AcceptRequest__Output as _cadastre_v1_AcceptRequest__Output } from './cadastre/v1/AcceptRequest.ts';
import type { AcceptResponse as _cadastre_v1_AcceptResponse, AcceptResponse__Output as _cadastre_v1_AcceptResponse__Output } from './cadastre/v1/AcceptResponse.ts';
import type { Descriptor as _cadastre_v1_Descriptor, Descriptor__Output as _cadastre_v1_Descriptor__Output } from './cadastre/v1/Descriptor.ts';
import type { GrantItem as _cadastre_v1_GrantItem, GrantItem__Output as _cadastre_v1_GrantItem__Output } from './cadastre/v1/GrantItem.ts';
import type { GrantOutcome as _cadastre_v1_GrantOutcome, GrantOutcome__Output as _cadastre_v1_GrantOutcome__Output } from './cadastre/v1/GrantOutcome.ts';
import type { GrantRequest as _cadastre_v1_GrantRequest, GrantRequest__Output as _cadastre_v1_GrantRequest__Output } from './cadastre/v1/GrantRequest.ts';
import type { GrantResponse as _cadastre_v1_GrantResponse, GrantResponse__Output as _cadastre_v1_GrantResponse__Output } from './cadastre/v1/GrantResponse.ts';
import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from './cadastre/v1/Header.ts';
import type { HoldChange as _cadastre_v1_HoldChange, HoldChange__Output as _cadastre_v1_HoldChange__Output } from './cadastre/v1/HoldChange.ts';
import type { ItemOutcome as _cadastre_v1_ItemOutcome, ItemOutcome__Output as _cadastre_v1_ItemOutcome__Output } from './cadastre/v1/ItemOutcome.ts';
import type { KeyspaceSpan as _cadastre_v1_KeyspaceSpan, KeyspaceSpan__Output as _cadastre_v1_KeyspaceSpan__Output } from './cadastre/v1/KeyspaceSpan.ts';
import type { LeaseDuration as _cadastre_v1_LeaseDuration, LeaseDuration__Output as _cadastre_v1_LeaseDuration__Output } from './cadastre/v1/LeaseDuration.ts';
import type { OpenSessionRequest as _cadastre_v1_OpenSessionRequest, OpenSessionRequest__Output as _cadastre_v1_OpenSessionRequest__Output } from './cadastre/v1/OpenSessionRequest.ts';
import type { OpenSessionResponse as _cadastre_v1_OpenSessionResponse, OpenSessionResponse__Output as _cadastre_v1_OpenSessionResponse__Output } from './cadastre/v1/OpenSessionResponse.ts';
import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from './cadastre/v1/Owner.ts';
import type { OwnershipClient as _cadastre_v1_OwnershipClient, OwnershipDefinition as _cadastre_v1_OwnershipDefinition } from './cadastre/v1/Ownership.ts';
import type { OwnershipDetail as _cadastre_v1_OwnershipDetail, OwnershipDetail__Output as _cadastre_v1_OwnershipDetail__Output } from './cadastre/v1/OwnershipDetail.ts';
import type { ProcessStart as _cadastre_v1_ProcessStart, ProcessStart__Output as _cadastre_v1_ProcessStart__Output } from './cadastre/v1/ProcessStart.ts';
import type { RangeEpoch as _cadastre_v1_RangeEpoch, RangeEpoch__Output as _cadastre_v1_RangeEpoch__Output } from './cadastre/v1/RangeEpoch.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from './cadastre/v1/RangeRecord.ts';
import type { RangeReplica as _cadastre_v1_RangeReplica, RangeReplica__Output as _cadastre_v1_RangeReplica__Output } from './cadastre/v1/RangeReplica.ts';
import type { ReadOptions as _cadastre_v1_ReadOptions, ReadOptions__Output as _cadastre_v1_ReadOptions__Output } from './cadastre/v1/ReadOptions.ts';
import type { RegisterRequest as _cadastre_v1_RegisterRequest, RegisterRequest__Output as _cadastre_v1_RegisterRequest__Output } from './cadastre/v1/RegisterRequest.ts';
import type { RegisterResponse as _cadastre_v1_RegisterResponse, RegisterResponse__Output as _cadastre_v1_RegisterResponse__Output } from './cadastre/v1/RegisterResponse.ts';
import type { ReleaseItem as _cadastre_v1_ReleaseItem, ReleaseItem__Output as _cadastre_v1_ReleaseItem__Output } from './cadastre/v1/ReleaseItem.ts';
import type { ReleaseRequest as _cadastre_v1_ReleaseRequest, ReleaseRequest__Output as _cadastre_v1_ReleaseRequest__Output } from './cadastre/v1/ReleaseRequest.ts';
import type { ReleaseResponse as _cadastre_v1_ReleaseResponse, ReleaseResponse__Output as _cadastre_v1_ReleaseResponse__Output } from './cadastre/v1/ReleaseResponse.ts';
import type { RenewRequest as _cadastre_v1_RenewRequest, RenewRequest__Output as _cadastre_v1_RenewRequest__Output } from './cadastre/v1/RenewRequest.ts';
import type { RenewResponse as _cadastre_v1_RenewResponse, RenewResponse__Output as _cadastre_v1_RenewResponse__Output } from './cadastre/v1/RenewResponse.ts';
import type { RenewalPair as _cadastre_v1_RenewalPair, RenewalPair__Output as _cadastre_v1_RenewalPair__Output } from './cadastre/v1/RenewalPair.ts';
import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from './cadastre/v1/RequestId.ts';
import type { Route as _cadastre_v1_Route, Route__Output as _cadastre_v1_Route__Output } from './cadastre/v1/Route.ts';
import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from './cadastre/v1/Span.ts';
import type { Staleness as _cadastre_v1_Staleness, Staleness__Output as _cadastre_v1_Staleness__Output } from './cadastre/v1/Staleness.ts';
import type { WithdrawSuccessorRequest as _cadastre_v1_WithdrawSuccessorRequest, WithdrawSuccessorRequest__Output as _cadastre_v1_WithdrawSuccessorRequest__Output } from './cadastre/v1/WithdrawSuccessorRequest.ts';
import type { WithdrawSuccessorResponse as _cadastre_v1_WithdrawSuccessorResponse, WithdrawSuccessorResponse__Output as _cadastre_v1_WithdrawSuccessorResponse__Output } from './cadastre/v1/WithdrawSuccessorResponse.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  cadastre: {
    v1: {
      AcceptRequest: MessageTypeDefinition<_cadastre_v1_AcceptRequest, _cadastre_v1_AcceptRequest__Output>
      AcceptResponse: MessageTypeDefinition<_cadastre_v1_AcceptResponse, _cadastre_v1_AcceptResponse__Output>
      Consistency: EnumTypeDefinition
      Descriptor: MessageTypeDefinition<_cadastre_v1_Descriptor, _cadastre_v1_Descriptor__Output>
      GrantItem: MessageTypeDefinition<_cadastre_v1_GrantItem, _cadastre_v1_GrantItem__Output>
      GrantOutcome: MessageTypeDefinition<_cadastre_v1_GrantOutcome, _cadastre_v1_GrantOutcome__Output>
      GrantOutcomeKind: EnumTypeDefinition
      GrantRequest: MessageTypeDefinition<_cadastre_v1_GrantRequest, _cadastre_v1_GrantRequest__Output>
      GrantResponse: MessageTypeDefinition<_cadastre_v1_GrantResponse, _cadastre_v1_GrantResponse__Output>
      Header: MessageTypeDefinition<_cadastre_v1_Header, _cadastre_v1_Header__Output>
      HoldChange: MessageTypeDefinition<_cadastre_v1_HoldChange, _cadastre_v1_HoldChange__Output>
      HoldChangeKind: EnumTypeDefinition
      ItemOutcome: MessageTypeDefinition<_cadastre_v1_ItemOutcome, _cadastre_v1_ItemOutcome__Output>
      KeyspaceSpan: MessageTypeDefinition<_cadastre_v1_KeyspaceSpan, _cadastre_v1_KeyspaceSpan__Output>
      LeaseDuration: MessageTypeDefinition<_cadastre_v1_LeaseDuration, _cadastre_v1_LeaseDuration__Output>
      OpenSessionRequest: MessageTypeDefinition<_cadastre_v1_OpenSessionRequest, _cadastre_v1_OpenSessionRequest__Output>
      OpenSessionResponse: MessageTypeDefinition<_cadastre_v1_OpenSessionResponse, _cadastre_v1_OpenSessionResponse__Output>
      Owner: MessageTypeDefinition<_cadastre_v1_Owner, _cadastre_v1_Owner__Output>
      Ownership: SubtypeConstructor<typeof grpc.Client, _cadastre_v1_OwnershipClient> & { service: _cadastre_v1_OwnershipDefinition }
      OwnershipDetail: MessageTypeDefinition<_cadastre_v1_OwnershipDetail, _cadastre_v1_OwnershipDetail__Output>
      ProcessStart: MessageTypeDefinition<_cadastre_v1_ProcessStart, _cadastre_v1_ProcessStart__Output>
      RangeEpoch: MessageTypeDefinition<_cadastre_v1_RangeEpoch, _cadastre_v1_RangeEpoch__Output>
      RangeRecord: MessageTypeDefinition<_cadastre_v1_RangeRecord, _cadastre_v1_RangeRecord__Output>
      RangeReplica: MessageTypeDefinition<_cadastre_v1_RangeReplica, _cadastre_v1_RangeReplica__Output>
      ReadOptions: MessageTypeDefinition<_cadastre_v1_ReadOptions, _cadastre_v1_ReadOptions__Output>
      RegisterRequest: MessageTypeDefinition<_cadastre_v1_RegisterRequest, _cadastre_v1_RegisterRequest__Output>
      RegisterResponse: MessageTypeDefinition<_cadastre_v1_RegisterResponse, _cadastre_v1_RegisterResponse__Output>
      ReleaseItem: MessageTypeDefinition<_cadastre_v1_ReleaseItem, _cadastre_v1_ReleaseItem__Output>
      ReleaseRequest: MessageTypeDefinition<_cadastre_v1_ReleaseRequest, _cadastre_v1_ReleaseRequest__Output>
      ReleaseResponse: MessageTypeDefinition<_cadastre_v1_ReleaseResponse, _cadastre_v1_ReleaseResponse__Output>
      RenewRequest: MessageTypeDefinition<_cadastre_v1_RenewRequest, _cadastre_v1_RenewRequest__Output>
      RenewResponse: MessageTypeDefinition<_cadastre_v1_RenewResponse, _cadastre_v1_RenewResponse__Output>
      RenewalPair: MessageTypeDefinition<_cadastre_v1_RenewalPair, _cadastre_v1_RenewalPair__Output>
      RequestId: MessageTypeDefinition<_cadastre_v1_RequestId, _cadastre_v1_RequestId__Output>
      Route: MessageTypeDefinition<_cadastre_v1_Route, _cadastre_v1_Route__Output>
      Span: MessageTypeDefinition<_cadastre_v1_Span, _cadastre_v1_Span__Output>
      Staleness: MessageTypeDefinition<_cadastre_v1_Staleness, _cadastre_v1_Staleness__Output>
      WithdrawSuccessorRequest: MessageTypeDefinition<_cadastre_v1_WithdrawSuccessorRequest, _cadastre_v1_WithdrawSuccessorRequest__Output>
      WithdrawSuccessorResponse: MessageTypeDefinition<_cadastre_v1_WithdrawSuccessorResponse, _cadastre_v1_WithdrawSuccessorResponse__Output>
    }
  }
}

