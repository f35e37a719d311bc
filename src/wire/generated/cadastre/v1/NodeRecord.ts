// Original file: proto/cadastre/v1/directory.proto

import type { Long } from '@grpc/proto-loader';

export interface NodeRecord {
  'nodeId'?: (string);
  'incarnation'?: (number | string | Long);
  'addresses'?: (string)[];
  'zone'?: (string);
  'labels'?: ({[key: string]: string});
  'capacity'?: (number | string | Long);
  'sessionOpen'?: (boolean);
  'rangesOwned'?: (number | string | Long);
  'sessionRemainingMs'?: (number | string | Long);
}

export interface NodeRecord__Output {
  'nodeId': (string);
  'incarnation': (string);
  'addresses': (string)[];
  'zone': (string);
  'labels': ({[key: string]: string});
  'capacity': (string);
  'sessionOpen': (boolean);
  'rangesOwned': (string);
  'sessionRemainingMs': (string);
}
