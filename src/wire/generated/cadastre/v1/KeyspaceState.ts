// Original file: proto/cadastre/v1/keyspaces.proto

export const KeyspaceState = {
  KEYSPACE_STATE_UNSPECIFIED: 'KEYSPACE_STATE_UNSPECIFIED',
  CREATING: 'CREATING',
  READY: 'READY',
} as const;

export type KeyspaceState =
  | 'KEYSPACE_STATE_UNSPECIFIED'
  | 0
  | 'CREATING'
  | 1
  | 'READY'
  | 2

export type KeyspaceState__Output = typeof KeyspaceState[keyof typeof KeyspaceState]
