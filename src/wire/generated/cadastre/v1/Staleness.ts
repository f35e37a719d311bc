// Original file: proto/cadastre/v1/common.proto

import type { Long } from '@grpc/proto-loader';

export interface Staleness {
  'revisions'?: (number | string | Long);
  'confirmedMsAgo'?: (number);
}

export interface Staleness__Output {
  'revisions': (string);
  'confirmedMsAgo': (number);
}
