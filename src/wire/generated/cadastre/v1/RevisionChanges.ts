// Original file: proto/cadastre/v1/directory.proto

import type { RangeChange as _cadastre_v1_RangeChange, RangeChange__Output as _cadastre_v1_RangeChange__Output } from '../../cadastre/v1/RangeChange.ts';
import type { Long } from '@grpc/proto-loader';

export interface RevisionChanges {
  'revision'?: (number | string | Long);
  'changes'?: (_cadastre_v1_RangeChange)[];
}

export interface RevisionChanges__Output {
  'revision': (string);
  'changes': (_cadastre_v1_RangeChange__Output)[];
}
