// Original file: proto/cadastre/v1/ownership.proto

import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from '../../cadastre/v1/Owner.ts';

export interface OpenSessionRequest {
  'owner'?: (_cadastre_v1_Owner | null);
  'group'?: (number);
}

export interface OpenSessionRequest__Output {
  'owner': (_cadastre_v1_Owner__Output | null);
  'group': (number);
}
