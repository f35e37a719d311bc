// Original file: proto/cadastre/admin/v1/cluster.proto


export interface Abstention {
  'reason'?: (string);
  'details'?: (string);
}

export interface Abstention__Output {
  'reason': (string);
  'details': (string);
}
