// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface SnapshotOffer {
  'lastIndex'?: (number | string | Long);
  'lastTerm'?: (number | string | Long);
  'lastTimeMs'?: (number | string | Long);
}

export interface SnapshotOffer__Output {
  'lastIndex': (string);
  'lastTerm': (string);
  'lastTimeMs': (string);
}
