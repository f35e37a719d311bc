// Original file: proto/cadastre/v1/common.proto

import type { Descriptor as _cadastre_v1_Descriptor, Descriptor__Output as _cadastre_v1_Descriptor__Output } from '../../cadastre/v1/Descriptor.ts';
import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from '../../cadastre/v1/Owner.ts';
import type { Long } from '@grpc/proto-loader';

export interface RangeRecord {
  'descriptor'?: (_cadastre_v1_Descriptor | null);
  'successor'?: (_cadastre_v1_Owner | null);
  'intendedNodeId'?: (string);
  'acceptedEpoch'?: (number | string | Long);
  'handOverRevision'?: (number | string | Long);
}

export interface RangeRecord__Output {
  'descriptor': (_cadastre_v1_Descriptor__Output | null);
  'successor': (_cadastre_v1_Owner__Output | null);
  'intendedNodeId': (string);
  'acceptedEpoch': (string);
  'handOverRevision': (string);
}
