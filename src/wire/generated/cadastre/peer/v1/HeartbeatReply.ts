// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface HeartbeatReply {
  'round'?: (number | string | Long);
}

export interface HeartbeatReply__Output {
  'round': (string);
}
