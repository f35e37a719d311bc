// Original file: proto/cadastre/v1/ownership.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { GrantOutcome as _cadastre_v1_GrantOutcome, GrantOutcome__Output as _cadastre_v1_GrantOutcome__Output } from '../../cadastre/v1/GrantOutcome.ts';

export interface GrantResponse {
  'header'?: (_cadastre_v1_Header | null);
  'outcomes'?: (_cadastre_v1_GrantOutcome)[];
  'replayed'?: (boolean);
}

export interface GrantResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'outcomes': (_cadastre_v1_GrantOutcome__Output)[];
  'replayed': (boolean);
}
