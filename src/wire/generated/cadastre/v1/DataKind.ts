// Original file: proto/cadastre/v1/keyspaces.proto

export const DataKind = {
  DATA_KIND_UNSPECIFIED: 'DATA_KIND_UNSPECIFIED',
  NO_DATA: 'NO_DATA',
  SHARED_DATA: 'SHARED_DATA',
  LOCAL_DATA: 'LOCAL_DATA',
} as const;

export type DataKind =
  | 'DATA_KIND_UNSPECIFIED'
  | 0
  | 'NO_DATA'
  | 1
  | 'SHARED_DATA'
  | 2
  | 'LOCAL_DATA'
  | 3

export type DataKind__Output = typeof DataKind[keyof typeof DataKind]
