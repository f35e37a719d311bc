// Original file: proto/cadastre/v1/common.proto

import type { Consistency as _cadastre_v1_Consistency, Consistency__Output as _cadastre_v1_Consistency__Output } from '../../cadastre/v1/Consistency.ts';
import type { Long } from '@grpc/proto-loader';

export interface ReadOptions {
  'consistency'?: (_cadastre_v1_Consistency);
  'atLeastRevision'?: (number | string | Long);
}

export interface ReadOptions__Output {
  'consistency': (_cadastre_v1_Consistency__Output);
  'atLeastRevision': (string);
}
