// Original file: proto/cadastre/v1/keyspaces.proto

export const LeaseMode = {
  LEASE_MODE_UNSPECIFIED: 'LEASE_MODE_UNSPECIFIED',
  EXCLUSIVE: 'EXCLUSIVE',
  AFFINITY: 'AFFINITY',
} as const;

export type LeaseMode =
  | 'LEASE_MODE_UNSPECIFIED'
  | 0
  | 'EXCLUSIVE'
  | 1
  | 'AFFINITY'
  | 2

export type LeaseMode__Output = typeof LeaseMode[keyof typeof LeaseMode]
