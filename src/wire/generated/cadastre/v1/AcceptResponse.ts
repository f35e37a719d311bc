// Original file: proto/cadastre/v1/ownership.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { ItemOutcome as _cadastre_v1_ItemOutcome, ItemOutcome__Output as _cadastre_v1_ItemOutcome__Output } from '../../cadastre/v1/ItemOutcome.ts';

export interface AcceptResponse {
  'header'?: (_cadastre_v1_Header | null);
  'outcomes'?: (_cadastre_v1_ItemOutcome)[];
}

export interface AcceptResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'outcomes': (_cadastre_v1_ItemOutcome__Output)[];
}
