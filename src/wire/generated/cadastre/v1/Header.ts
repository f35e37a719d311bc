// Original file: proto/cadastre/v1/common.proto

import type { Long } from '@grpc/proto-loader';

export interface Header {
  'clusterId'?: (string);
  'group'?: (number);
  'generation'?: (number);
  'revision'?: (number | string | Long);
  'serverId'?: (number);
  'leaderServerId'?: (number);
  'term'?: (number | string | Long);
}

export interface Header__Output {
  'clusterId': (string);
  'group': (number);
  'generation': (number);
  'revision': (string);
  'serverId': (number);
  'leaderServerId': (number);
  'term': (string);
}
