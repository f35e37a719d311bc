// Original file: proto/cadastre/admin/v1/cluster.proto

import type { ReplicaStatus as _cadastre_admin_v1_ReplicaStatus, ReplicaStatus__Output as _cadastre_admin_v1_ReplicaStatus__Output } from '../../../cadastre/admin/v1/ReplicaStatus.ts';
import type { Long } from '@grpc/proto-loader';

export interface GroupStatus {
  'group'?: (number);
  'role'?: (string);
  'term'?: (number | string | Long);
  'leaderServerId'?: (number);
  'commitIndex'?: (number | string | Long);
  'appliedIndex'?: (number | string | Long);
  'lastIndex'?: (number | string | Long);
  'revision'?: (number | string | Long);
  'replicas'?: (_cadastre_admin_v1_ReplicaStatus)[];
  'logEntries'?: (number | string | Long);
  'logBytes'?: (number | string | Long);
  'snapshotIndex'?: (number | string | Long);
}

export interface GroupStatus__Output {
  'group': (number);
  'role': (string);
  'term': (string);
  'leaderServerId': (number);
  'commitIndex': (string);
  'appliedIndex': (string);
  'lastIndex': (string);
  'revision': (string);
  'replicas': (_cadastre_admin_v1_ReplicaStatus__Output)[];
  'logEntries': (string);
  'logBytes': (string);
  'snapshotIndex': (string);
}
