// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface Heartbeat {
  'commitIndex'?: (number | string | Long);
  'round'?: (number | string | Long);
}

export interface Heartbeat__Output {
  'commitIndex': (string);
  'round': (string);
}
