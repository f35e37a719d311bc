// Original file: proto/cadastre/v1/common.proto


export interface RangeReplica {
  'nodeId'?: (string);
  'inSync'?: (boolean);
}

export interface RangeReplica__Output {
  'nodeId': (string);
  'inSync': (boolean);
}
