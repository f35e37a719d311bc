// Original file: proto/cadastre/v1/keyspaces.proto

import type { KeyspaceKind as _cadastre_v1_KeyspaceKind, KeyspaceKind__Output as _cadastre_v1_KeyspaceKind__Output } from '../../cadastre/v1/KeyspaceKind.ts';
import type { HashFunction as _cadastre_v1_HashFunction, HashFunction__Output as _cadastre_v1_HashFunction__Output } from '../../cadastre/v1/HashFunction.ts';
import type { LeaseMode as _cadastre_v1_LeaseMode, LeaseMode__Output as _cadastre_v1_LeaseMode__Output } from '../../cadastre/v1/LeaseMode.ts';
import type { DataKind as _cadastre_v1_DataKind, DataKind__Output as _cadastre_v1_DataKind__Output } from '../../cadastre/v1/DataKind.ts';
import type { KeyspaceState as _cadastre_v1_KeyspaceState, KeyspaceState__Output as _cadastre_v1_KeyspaceState__Output } from '../../cadastre/v1/KeyspaceState.ts';
import type { Long } from '@grpc/proto-loader';

export interface KeyspaceRecord {
  'name'?: (string);
  'keyspaceId'?: (number | string | Long);
  'kind'?: (_cadastre_v1_KeyspaceKind);
  'hashFunction'?: (_cadastre_v1_HashFunction);
  'leaseMode'?: (_cadastre_v1_LeaseMode);
  'dataKind'?: (_cadastre_v1_DataKind);
  'leaseDurationMs'?: (number);
  'renewIntervalMs'?: (number);
  'state'?: (_cadastre_v1_KeyspaceState);
  'group'?: (number);
  'createdRevision'?: (number | string | Long);
  'rangeCount'?: (number | string | Long);
  'unownedCount'?: (number | string | Long);
}

export interface KeyspaceRecord__Output {
  'name': (string);
  'keyspaceId': (string);
  'kind': (_cadastre_v1_KeyspaceKind__Output);
  'hashFunction': (_cadastre_v1_HashFunction__Output);
  'leaseMode': (_cadastre_v1_LeaseMode__Output);
  'dataKind': (_cadastre_v1_DataKind__Output);
  'leaseDurationMs': (number);
  'renewIntervalMs': (number);
  'state': (_cadastre_v1_KeyspaceState__Output);
  'group': (number);
  'createdRevision': (string);
  'rangeCount': (string);
  'unownedCount': (string);
}
