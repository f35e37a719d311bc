// Original file: proto/cadastre/v1/ownership.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { LeaseDuration as _cadastre_v1_LeaseDuration, LeaseDuration__Output as _cadastre_v1_LeaseDuration__Output } from '../../cadastre/v1/LeaseDuration.ts';

export interface OpenSessionResponse {
  'header'?: (_cadastre_v1_Header | null);
  'alreadyOpen'?: (boolean);
  'durations'?: (_cadastre_v1_LeaseDuration)[];
}

export interface OpenSessionResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'alreadyOpen': (boolean);
  'durations': (_cadastre_v1_LeaseDuration__Output)[];
}
