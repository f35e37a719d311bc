// Original file: proto/cadastre/v1/ownership.proto

import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from '../../cadastre/v1/Owner.ts';
import type { KeyspaceSpan as _cadastre_v1_KeyspaceSpan, KeyspaceSpan__Output as _cadastre_v1_KeyspaceSpan__Output } from '../../cadastre/v1/KeyspaceSpan.ts';
import type { RenewalPair as _cadastre_v1_RenewalPair, RenewalPair__Output as _cadastre_v1_RenewalPair__Output } from '../../cadastre/v1/RenewalPair.ts';
import type { Long } from '@grpc/proto-loader';

export interface RenewRequest {
  'owner'?: (_cadastre_v1_Owner | null);
  'group'?: (number);
  'asOf'?: (number | string | Long);
  'except'?: (_cadastre_v1_KeyspaceSpan)[];
  'pair'?: (_cadastre_v1_RenewalPair | null);
  'known'?: (_cadastre_v1_RenewalPair)[];
}

export interface RenewRequest__Output {
  'owner': (_cadastre_v1_Owner__Output | null);
  'group': (number);
  'asOf': (string);
  'except': (_cadastre_v1_KeyspaceSpan__Output)[];
  'pair': (_cadastre_v1_RenewalPair__Output | null);
  'known': (_cadastre_v1_RenewalPair__Output)[];
}
