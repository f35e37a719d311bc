// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface Acknowledged {
  'group'?: (number | string | Long);
  'term'?: (number | string | Long);
  'index'?: (number | string | Long);
  'voted'?: (boolean);
  'bootNonce'?: (string);
}

export interface Acknowledged__Output {
  'group': (string);
  'term': (string);
  'index': (string);
  'voted': (boolean);
  'bootNonce': (string);
}
