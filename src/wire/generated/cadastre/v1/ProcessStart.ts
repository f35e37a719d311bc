// Original file: proto/cadastre/v1/ownership.proto

import type { Long } from '@grpc/proto-loader';

export interface ProcessStart {
  'bootId'?: (string);
  'lockFile'?: (string);
  'startCount'?: (number | string | Long);
}

export interface ProcessStart__Output {
  'bootId': (string);
  'lockFile': (string);
  'startCount': (string);
}
