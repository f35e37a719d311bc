// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface RequestVote {
  'lastIndex'?: (number | string | Long);
  'lastTerm'?: (number | string | Long);
  'isTransfer'?: (boolean);
}

export interface RequestVote__Output {
  'lastIndex': (string);
  'lastTerm': (string);
  'isTransfer': (boolean);
}
