// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface Hello {
  'protocolVersion'?: (number);
  'clusterId'?: (string);
  'fromServer'?: (number | string | Long);
  'toServer'?: (number | string | Long);
  'bootNonce'?: (string);
  'attempt'?: (number | string | Long);
  'storeUuid'?: (string);
}

export interface Hello__Output {
  'protocolVersion': (number);
  'clusterId': (string);
  'fromServer': (string);
  'toServer': (string);
  'bootNonce': (string);
  'attempt': (string);
  'storeUuid': (string);
}
