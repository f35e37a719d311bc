// Original file: proto/cadastre/v1/ownership.proto

import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from '../../cadastre/v1/Owner.ts';
import type { RangeEpoch as _cadastre_v1_RangeEpoch, RangeEpoch__Output as _cadastre_v1_RangeEpoch__Output } from '../../cadastre/v1/RangeEpoch.ts';

export interface AcceptRequest {
  'owner'?: (_cadastre_v1_Owner | null);
  'group'?: (number);
  'ranges'?: (_cadastre_v1_RangeEpoch)[];
}

export interface AcceptRequest__Output {
  'owner': (_cadastre_v1_Owner__Output | null);
  'group': (number);
  'ranges': (_cadastre_v1_RangeEpoch__Output)[];
}
