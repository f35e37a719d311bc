// Original file: proto/cadastre/v1/common.proto

import type { Descriptor as _cadastre_v1_Descriptor, Descriptor__Output as _cadastre_v1_Descriptor__Output } from '../../cadastre/v1/Descriptor.ts';

export interface Route {
  'descriptor'?: (_cadastre_v1_Descriptor | null);
  'addresses'?: (string)[];
  'intendedNodeId'?: (string);
}

export interface Route__Output {
  'descriptor': (_cadastre_v1_Descriptor__Output | null);
  'addresses': (string)[];
  'intendedNodeId': (string);
}
