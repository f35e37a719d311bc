// Original file: proto/cadastre/admin/v1/cluster.proto


export interface ServerStatus {
  'serverId'?: (number);
  'grpcAddress'?: (string);
  'peerAddress'?: (string);
  'httpAddress'?: (string);
  'reachable'?: (boolean);
}

export interface ServerStatus__Output {
  'serverId': (number);
  'grpcAddress': (string);
  'peerAddress': (string);
  'httpAddress': (string);
  'reachable': (boolean);
}
