// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface ForwardRequest {
  'protocolVersion'?: (number);
  'clusterId'?: (string);
  'fromServer'?: (number | string | Long);
  'toServer'?: (number | string | Long);
  'group'?: (number | string | Long);
  'command'?: (Buffer | Uint8Array | string);
  'timeoutMs'?: (number);
  'mayRelay'?: (boolean);
}

export interface ForwardRequest__Output {
  'protocolVersion': (number);
  'clusterId': (string);
  'fromServer': (string);
  'toServer': (string);
  'group': (string);
  'command': (Buffer);
  'timeoutMs': (number);
  'mayRelay': (boolean);
}
