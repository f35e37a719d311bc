// Original file: proto/cadastre/v1/ownership.proto

export const HoldChangeKind = {
  HOLD_CHANGE_UNSPECIFIED: 'HOLD_CHANGE_UNSPECIFIED',
  HOLD_GRANTED: 'HOLD_GRANTED',
  HOLD_RELEASED: 'HOLD_RELEASED',
  HOLD_EXPIRED: 'HOLD_EXPIRED',
  HOLD_SUCCESSOR_SET: 'HOLD_SUCCESSOR_SET',
  HOLD_SUCCESSOR_LIFTED: 'HOLD_SUCCESSOR_LIFTED',
} as const;

export type HoldChangeKind =
  | 'HOLD_CHANGE_UNSPECIFIED'
  | 0
  | 'HOLD_GRANTED'
  | 1
  | 'HOLD_RELEASED'
  | 2
  | 'HOLD_EXPIRED'
  | 3
  | 'HOLD_SUCCESSOR_SET'
  | 4
  | 'HOLD_SUCCESSOR_LIFTED'
  | 5

export type HoldChangeKind__Output = typeof HoldChangeKind[keyof typeof HoldChangeKind]
