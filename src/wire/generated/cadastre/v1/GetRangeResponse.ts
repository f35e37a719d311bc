// Original file: proto/cadastre/v1/directory.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from '../../cadastre/v1/RangeRecord.ts';
import type { Staleness as _cadastre_v1_Staleness, Staleness__Output as _cadastre_v1_Staleness__Output } from '../../cadastre/v1/Staleness.ts';
import type { Long } from '@grpc/proto-loader';

export interface GetRangeResponse {
  'header'?: (_cadastre_v1_Header | null);
  'range'?: (_cadastre_v1_RangeRecord | null);
  'leaseRemainingMs'?: (number | string | Long);
  'addresses'?: (string)[];
  'staleness'?: (_cadastre_v1_Staleness | null);
}

export interface GetRangeResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'range': (_cadastre_v1_RangeRecord__Output | null);
  'leaseRemainingMs': (string);
  'addresses': (string)[];
  'staleness': (_cadastre_v1_Staleness__Output | null);
}
