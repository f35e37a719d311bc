// Original file: proto/cadastre/v1/ownership.proto

export const GrantOutcomeKind = {
  GRANT_OUTCOME_UNSPECIFIED: 'GRANT_OUTCOME_UNSPECIFIED',
  GRANT_OUTCOME_GRANTED: 'GRANT_OUTCOME_GRANTED',
  GRANT_OUTCOME_SUCCESSOR_RECORDED: 'GRANT_OUTCOME_SUCCESSOR_RECORDED',
  GRANT_OUTCOME_ALREADY_OWNER: 'GRANT_OUTCOME_ALREADY_OWNER',
} as const;

export type GrantOutcomeKind =
  | 'GRANT_OUTCOME_UNSPECIFIED'
  | 0
  | 'GRANT_OUTCOME_GRANTED'
  | 1
  | 'GRANT_OUTCOME_SUCCESSOR_RECORDED'
  | 2
  | 'GRANT_OUTCOME_ALREADY_OWNER'
  | 3

export type GrantOutcomeKind__Output = typeof GrantOutcomeKind[keyof typeof GrantOutcomeKind]
