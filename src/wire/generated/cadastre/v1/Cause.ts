// Original file: proto/cadastre/v1/directory.proto

export const Cause = {
  CAUSE_UNSPECIFIED: 'CAUSE_UNSPECIFIED',
  KEYSPACE_CREATED: 'KEYSPACE_CREATED',
  RANGES_DEFINED: 'RANGES_DEFINED',
  IMPORTED: 'IMPORTED',
  GRANTED: 'GRANTED',
  RELEASED: 'RELEASED',
  EXPIRED: 'EXPIRED',
  SUCCESSOR_SET: 'SUCCESSOR_SET',
  SUCCESSOR_LIFTED: 'SUCCESSOR_LIFTED',
  ACCEPTED: 'ACCEPTED',
  RESTARTED: 'RESTARTED',
} as const;

export type Cause =
  | 'CAUSE_UNSPECIFIED'
  | 0
  | 'KEYSPACE_CREATED'
  | 1
  | 'RANGES_DEFINED'
  | 2
  | 'IMPORTED'
  | 3
  | 'GRANTED'
  | 4
  | 'RELEASED'
  | 5
  | 'EXPIRED'
  | 6
  | 'SUCCESSOR_SET'
  | 7
  | 'SUCCESSOR_LIFTED'
  | 8
  | 'ACCEPTED'
  | 9
  | 'RESTARTED'
  | 10

export type Cause__Output = typeof Cause[keyof typeof Cause]
