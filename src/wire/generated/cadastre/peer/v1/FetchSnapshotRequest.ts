// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface FetchSnapshotRequest {
  'protocolVersion'?: (number);
  'clusterId'?: (string);
  'fromServer'?: (number | string | Long);
  'toServer'?: (number | string | Long);
  'group'?: (number | string | Long);
  'lastIndex'?: (number | string | Long);
  'lastTerm'?: (number | string | Long);
  'lastTimeMs'?: (number | string | Long);
  'offset'?: (number | string | Long);
}

export interface FetchSnapshotRequest__Output {
  'protocolVersion': (number);
  'clusterId': (string);
  'fromServer': (string);
  'toServer': (string);
  'group': (string);
  'lastIndex': (string);
  'lastTerm': (string);
  'lastTimeMs': (string);
  'offset': (string);
}
