// Original file: proto/cadastre/v1/keyspaces.proto

export const HashFunction = {
  HASH_FUNCTION_UNSPECIFIED: 'HASH_FUNCTION_UNSPECIFIED',
  GIVEN: 'GIVEN',
} as const;

export type HashFunction =
  | 'HASH_FUNCTION_UNSPECIFIED'
  | 0
  | 'GIVEN'
  | 1

export type HashFunction__Output = typeof HashFunction[keyof typeof HashFunction]
