// Original file: proto/cadastre/v1/common.proto

export const Consistency = {
  CONSISTENCY_UNSPECIFIED: 'CONSISTENCY_UNSPECIFIED',
  LINEARIZABLE: 'LINEARIZABLE',
  AT_LEAST: 'AT_LEAST',
  LOCAL: 'LOCAL',
} as const;

export type Consistency =
  | 'CONSISTENCY_UNSPECIFIED'
  | 0
  | 'LINEARIZABLE'
  | 1
  | 'AT_LEAST'
  | 2
  | 'LOCAL'
  | 3

export type Consistency__Output = typeof Consistency[keyof typeof Consistency]
