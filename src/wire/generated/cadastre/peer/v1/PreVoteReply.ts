// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface PreVoteReply {
  'nextTerm'?: (number | string | Long);
  'granted'?: (boolean);
}

export interface PreVoteReply__Output {
  'nextTerm': (string);
  'granted': (boolean);
}
