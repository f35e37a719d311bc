// Original file: proto/cadastre/v1/common.proto

import type { Long } from '@grpc/proto-loader';

export interface Owner {
  'nodeId'?: (string);
  'incarnation'?: (number | string | Long);
}

export interface Owner__Output {
  'nodeId': (string);
  'incarnation': (string);
}
