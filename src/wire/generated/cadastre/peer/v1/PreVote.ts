// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface PreVote {
  'nextTerm'?: (number | string | Long);
  'lastIndex'?: (number | string | Long);
  'lastTerm'?: (number | string | Long);
}

export interface PreVote__Output {
  'nextTerm': (string);
  'lastIndex': (string);
  'lastTerm': (string);
}
