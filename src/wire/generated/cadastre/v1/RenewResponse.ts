// Original file: proto/cadastre/v1/ownership.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { LeaseDuration as _cadastre_v1_LeaseDuration, LeaseDuration__Output as _cadastre_v1_LeaseDuration__Output } from '../../cadastre/v1/LeaseDuration.ts';
import type { HoldChange as _cadastre_v1_HoldChange, HoldChange__Output as _cadastre_v1_HoldChange__Output } from '../../cadastre/v1/HoldChange.ts';

export interface RenewResponse {
  'header'?: (_cadastre_v1_Header | null);
  'durations'?: (_cadastre_v1_LeaseDuration)[];
  'changes'?: (_cadastre_v1_HoldChange)[];
}

export interface RenewResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'durations': (_cadastre_v1_LeaseDuration__Output)[];
  'changes': (_cadastre_v1_HoldChange__Output)[];
}
