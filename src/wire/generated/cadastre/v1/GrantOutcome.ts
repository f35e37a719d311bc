// Original file: proto/cadastre/v1/ownership.proto

import type { GrantOutcomeKind as _cadastre_v1_GrantOutcomeKind, GrantOutcomeKind__Output as _cadastre_v1_GrantOutcomeKind__Output } from '../../cadastre/v1/GrantOutcomeKind.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from '../../cadastre/v1/RangeRecord.ts';
import type { Long } from '@grpc/proto-loader';

export interface GrantOutcome {
  'rangeId'?: (string);
  'kind'?: (_cadastre_v1_GrantOutcomeKind);
  'range'?: (_cadastre_v1_RangeRecord | null);
  'leaseDurationMs'?: (number);
  'waitMs'?: (number | string | Long);
}

export interface GrantOutcome__Output {
  'rangeId': (string);
  'kind': (_cadastre_v1_GrantOutcomeKind__Output);
  'range': (_cadastre_v1_RangeRecord__Output | null);
  'leaseDurationMs': (number);
  'waitMs': (string);
}
