// Original file: proto/cadastre/v1/ownership.proto

import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from '../../cadastre/v1/Owner.ts';
import type { ReleaseItem as _cadastre_v1_ReleaseItem, ReleaseItem__Output as _cadastre_v1_ReleaseItem__Output } from '../../cadastre/v1/ReleaseItem.ts';

export interface ReleaseRequest {
  'owner'?: (_cadastre_v1_Owner | null);
  'group'?: (number);
  'ranges'?: (_cadastre_v1_ReleaseItem)[];
}

export interface ReleaseRequest__Output {
  'owner': (_cadastre_v1_Owner__Output | null);
  'group': (number);
  'ranges': (_cadastre_v1_ReleaseItem__Output)[];
}
