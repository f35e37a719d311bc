// Original file: proto/cadastre/v1/common.proto

import type { Long } from '@grpc/proto-loader';

export interface RequestId {
  'clientId'?: (string);
  'sequence'?: (number | string | Long);
  'seenRevision'?: (number | string | Long);
  'acknowledgedBelow'?: (number | string | Long);
}

export interface RequestId__Output {
  'clientId': (string);
  'sequence': (string);
  'seenRevision': (string);
  'acknowledgedBelow': (string);
}
