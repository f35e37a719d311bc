// Original file: proto/cadastre/v1/directory.proto

import type { RangeRecord as _cadastre_v1_RangeRecord, RangeRecord__Output as _cadastre_v1_RangeRecord__Output } from '../../cadastre/v1/RangeRecord.ts';

export interface SnapshotFrame {
  'ranges'?: (_cadastre_v1_RangeRecord)[];
  'first'?: (boolean);
  'last'?: (boolean);
  'afterCompaction'?: (boolean);
}

export interface SnapshotFrame__Output {
  'ranges': (_cadastre_v1_RangeRecord__Output)[];
  'first': (boolean);
  'last': (boolean);
  'afterCompaction': (boolean);
}
