// Original file: proto/cadastre/v1/keyspaces.proto

import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from '../../cadastre/v1/RequestId.ts';
import type { KeyspaceKind as _cadastre_v1_KeyspaceKind, KeyspaceKind__Output as _cadastre_v1_KeyspaceKind__Output } from '../../cadastre/v1/KeyspaceKind.ts';
import type { HashFunction as _cadastre_v1_HashFunction, HashFunction__Output as _cadastre_v1_HashFunction__Output } from '../../cadastre/v1/HashFunction.ts';
import type { LeaseMode as _cadastre_v1_LeaseMode, LeaseMode__Output as _cadastre_v1_LeaseMode__Output } from '../../cadastre/v1/LeaseMode.ts';
import type { DataKind as _cadastre_v1_DataKind, DataKind__Output as _cadastre_v1_DataKind__Output } from '../../cadastre/v1/DataKind.ts';

export interface CreateKeyspaceRequest {
  'requestId'?: (_cadastre_v1_RequestId | null);
  'name'?: (string);
  'kind'?: (_cadastre_v1_KeyspaceKind);
  'hashFunction'?: (_cadastre_v1_HashFunction);
  'leaseMode'?: (_cadastre_v1_LeaseMode);
  'dataKind'?: (_cadastre_v1_DataKind);
  'leaseDurationMs'?: (number);
  'renewIntervalMs'?: (number);
}

export interface CreateKeyspaceRequest__Output {
  'requestId': (_cadastre_v1_RequestId__Output | null);
  'name': (string);
  'kind': (_cadastre_v1_KeyspaceKind__Output);
  'hashFunction': (_cadastre_v1_HashFunction__Output);
  'leaseMode': (_cadastre_v1_LeaseMode__Output);
  'dataKind': (_cadastre_v1_DataKind__Output);
  'leaseDurationMs': (number);
  'renewIntervalMs': (number);
}
