// Original file: proto/cadastre/v1/ownership.proto

import type { Long } from '@grpc/proto-loader';

export interface GrantItem {
  'rangeId'?: (string);
  'expectedEpoch'?: (number | string | Long);
  'expectedDescriptorRevision'?: (number | string | Long);
  'nodeId'?: (string);
  'incarnation'?: (number | string | Long);
}

export interface GrantItem__Output {
  'rangeId': (string);
  'expectedEpoch': (string);
  'expectedDescriptorRevision': (string);
  'nodeId': (string);
  'incarnation': (string);
}
