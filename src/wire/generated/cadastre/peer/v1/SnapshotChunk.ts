// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface SnapshotChunk {
  'fileBytes'?: (number | string | Long);
  'offset'?: (number | string | Long);
  'data'?: (Buffer | Uint8Array | string);
  'checksum'?: (number);
}

export interface SnapshotChunk__Output {
  'fileBytes': (string);
  'offset': (string);
  'data': (Buffer);
  'checksum': (number);
}
