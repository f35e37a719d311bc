// Original file: proto/cadastre/v1/ownership.proto

import type { Long } from '@grpc/proto-loader';

export interface RenewalPair {
  'sequence'?: (number | string | Long);
  'nonce'?: (number | string | Long);
}

export interface RenewalPair__Output {
  'sequence': (string);
  'nonce': (string);
}
