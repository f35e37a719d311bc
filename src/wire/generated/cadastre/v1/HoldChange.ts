// Original file: proto/cadastre/v1/ownership.proto

import type { HoldChangeKind as _cadastre_v1_HoldChangeKind, HoldChangeKind__Output as _cadastre_v1_HoldChangeKind__Output } from '../../cadastre/v1/HoldChangeKind.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from '../../cadastre/v1/RangeRecord.ts';
import type { Long } from '@grpc/proto-loader';

export interface HoldChange {
  'revision'?: (number | string | Long);
  'kind'?: (_cadastre_v1_HoldChangeKind);
  'range'?: (_cadastre_v1_RangeRecord | null);
}

export interface HoldChange__Output {
  'revision': (string);
  'kind': (_cadastre_v1_HoldChangeKind__Output);
  'range': (_cadastre_v1_RangeRecord__Output | null);
}
