// Original file: proto/cadastre/v1/ownership.proto

import type { Long } from '@grpc/proto-loader';

export interface RangeEpoch {
  'rangeId'?: (string);
  'epoch'?: (number | string | Long);
}

export interface RangeEpoch__Output {
  'rangeId': (string);
  'epoch': (string);
}
