// Original file: proto/cadastre/v1/directory.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from '../../cadastre/v1/RangeRecord.ts';
import type { Staleness as _cadastre_v1_Staleness, Staleness__Output as _cadastre_v1_Staleness__Output } from '../../cadastre/v1/Staleness.ts';

export interface ListRangesResponse {
  'header'?: (_cadastre_v1_Header | null);
  'ranges'?: (_cadastre_v1_RangeRecord)[];
  'nextPageToken'?: (string);
  'staleness'?: (_cadastre_v1_Staleness | null);
}

export interface ListRangesResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'ranges': (_cadastre_v1_RangeRecord__Output)[];
  'nextPageToken': (string);
  'staleness': (_cadastre_v1_Staleness__Output | null);
}
