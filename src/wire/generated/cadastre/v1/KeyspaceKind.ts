// Original file: proto/cadastre/v1/keyspaces.proto

export const KeyspaceKind = {
  KEYSPACE_KIND_UNSPECIFIED: 'KEYSPACE_KIND_UNSPECIFIED',
  RANGE: 'RANGE',
  HASH: 'HASH',
} as const;

export type KeyspaceKind =
  | 'KEYSPACE_KIND_UNSPECIFIED'
  | 0
  | 'RANGE'
  | 1
  | 'HASH'
  | 2

export type KeyspaceKind__Output = typeof KeyspaceKind[keyof typeof KeyspaceKind]
