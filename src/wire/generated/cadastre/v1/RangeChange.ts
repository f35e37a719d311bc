// Original file: proto/cadastre/v1/directory.proto

import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from '../../cadastre/v1/RangeRecord.ts';
import type { Cause as _cadastre_v1_Cause, Cause__Output as _cadastre_v1_Cause__Output } from '../../cadastre/v1/Cause.ts';

export interface RangeChange {
  'before'?: (_cadastre_v1_RangeRecord | null);
  'after'?: (_cadastre_v1_RangeRecord | null);
  'cause'?: (_cadastre_v1_Cause);
}

export interface RangeChange__Output {
  'before': (_cadastre_v1_RangeRecord__Output | null);
  'after': (_cadastre_v1_RangeRecord__Output | null);
  'cause': (_cadastre_v1_Cause__Output);
}
