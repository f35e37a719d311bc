// Original file: proto/cadastre/v1/ownership.proto

import type { Long } from '@grpc/proto-loader';

export interface ReleaseItem {
  'rangeId'?: (string);
  'epoch'?: (number | string | Long);
  'handOverRevision'?: (number | string | Long);
}

export interface ReleaseItem__Output {
  'rangeId': (string);
  'epoch': (string);
  'handOverRevision': (string);
}
