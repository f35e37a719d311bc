// Original file: proto/cadastre/admin/v1/cluster.proto

import type { Long } from '@grpc/proto-loader';

export interface ReplicaStatus {
  'serverId'?: (number);
  'replicaId'?: (number | string | Long);
  'matchIndex'?: (number | string | Long);
}

export interface ReplicaStatus__Output {
  'serverId': (number);
  'replicaId': (string);
  'matchIndex': (string);
}
