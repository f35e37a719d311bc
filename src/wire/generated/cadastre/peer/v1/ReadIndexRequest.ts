// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface ReadIndexRequest {
  'readId'?: (number | string | Long);
}

export interface ReadIndexRequest__Output {
  'readId': (string);
}
