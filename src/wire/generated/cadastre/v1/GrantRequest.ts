// Original file: proto/cadastre/v1/ownership.proto

import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from '../../cadastre/v1/RequestId.ts';
import type { GrantItem as _cadastre_v1_GrantItem, GrantItem__Output as _cadastre_v1_GrantItem__Output } from '../../cadastre/v1/GrantItem.ts';

export interface GrantRequest {
  'requestId'?: (_cadastre_v1_RequestId | null);
  'group'?: (number);
  'items'?: (_cadastre_v1_GrantItem)[];
  'onlyUnowned'?: (boolean);
  'handOver'?: (boolean);
}

export interface GrantRequest__Output {
  'requestId': (_cadastre_v1_RequestId__Output | null);
  'group': (number);
  'items': (_cadastre_v1_GrantItem__Output)[];
  'onlyUnowned': (boolean);
  'handOver': (boolean);
}
