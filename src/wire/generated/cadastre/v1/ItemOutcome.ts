// Original file: proto/cadastre/v1/ownership.proto

import type { Long } from '@grpc/proto-loader';

export interface ItemOutcome {
  'rangeId'?: (string);
  'refused'?: (string);
  'currentEpoch'?: (number | string | Long);
}

export interface ItemOutcome__Output {
  'rangeId': (string);
  'refused': (string);
  'currentEpoch': (string);
}
