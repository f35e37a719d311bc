// Original file: proto/cadastre/v1/common.proto

import type { Descriptor as _cadastre_v1_Descriptor, Descriptor__Output as _cadastre_v1_Descriptor__Output } from '../../cadastre/v1/Descriptor.ts';

export interface OwnershipDetail {
  'descriptors'?: (_cadastre_v1_Descriptor)[];
}

export interface OwnershipDetail__Output {
  'descriptors': (_cadastre_v1_Descriptor__Output)[];
}
