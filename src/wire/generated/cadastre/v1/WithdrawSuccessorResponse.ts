// Original file: proto/cadastre/v1/ownership.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from '../../cadastre/v1/RangeRecord.ts';

export interface WithdrawSuccessorResponse {
  'header'?: (_cadastre_v1_Header | null);
  'range'?: (_cadastre_v1_RangeRecord | null);
  'replayed'?: (boolean);
}

export interface WithdrawSuccessorResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'range': (_cadastre_v1_RangeRecord__Output | null);
  'replayed': (boolean);
}
