// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface _cadastre_peer_v1_ForwardReply_Applied {
  'index'?: (number | string | Long);
  'result'?: (Buffer | Uint8Array | string);
}

export interface _cadastre_peer_v1_ForwardReply_Applied__Output {
  'index': (string);
  'result': (Buffer);
}

export interface _cadastre_peer_v1_ForwardReply_Failed {
  'outcome'?: (_cadastre_peer_v1_ForwardReply_Outcome);
  'reason'?: (_cadastre_peer_v1_ForwardReply_Reason);
}

export interface _cadastre_peer_v1_ForwardReply_Failed__Output {
  'outcome': (_cadastre_peer_v1_ForwardReply_Outcome__Output);
  'reason': (_cadastre_peer_v1_ForwardReply_Reason__Output);
}

// Original file: proto/cadastre/peer/v1/peer.proto

export const _cadastre_peer_v1_ForwardReply_Outcome = {
  OUTCOME_UNSPECIFIED: 'OUTCOME_UNSPECIFIED',
  OUTCOME_NOT_APPLIED: 'OUTCOME_NOT_APPLIED',
  OUTCOME_UNKNOWN: 'OUTCOME_UNKNOWN',
} as const;

export type _cadastre_peer_v1_ForwardReply_Outcome =
  | 'OUTCOME_UNSPECIFIED'
  | 0
  | 'OUTCOME_NOT_APPLIED'
  | 1
  | 'OUTCOME_UNKNOWN'
  | 2

export type _cadastre_peer_v1_ForwardReply_Outcome__Output = typeof _cadastre_peer_v1_ForwardReply_Outcome[keyof typeof _cadastre_peer_v1_ForwardReply_Outcome]

// Original file: proto/cadastre/peer/v1/peer.proto

export const _cadastre_peer_v1_ForwardReply_Reason = {
  REASON_UNSPECIFIED: 'REASON_UNSPECIFIED',
  REASON_NOT_LEADER: 'REASON_NOT_LEADER',
  REASON_OVERLOADED: 'REASON_OVERLOADED',
  REASON_LEADER_CHANGED: 'REASON_LEADER_CHANGED',
  REASON_DEADLINE_EXCEEDED: 'REASON_DEADLINE_EXCEEDED',
  REASON_UNREACHABLE: 'REASON_UNREACHABLE',
  REASON_SHUTTING_DOWN: 'REASON_SHUTTING_DOWN',
} as const;

export type _cadastre_peer_v1_ForwardReply_Reason =
  | 'REASON_UNSPECIFIED'
  | 0
  | 'REASON_NOT_LEADER'
  | 1
  | 'REASON_OVERLOADED'
  | 2
  | 'REASON_LEADER_CHANGED'
  | 3
  | 'REASON_DEADLINE_EXCEEDED'
  | 4
  | 'REASON_UNREACHABLE'
  | 5
  | 'REASON_SHUTTING_DOWN'
  | 6

export type _cadastre_peer_v1_ForwardReply_Reason__Output = typeof _cadastre_peer_v1_ForwardReply_Reason[keyof typeof _cadastre_peer_v1_ForwardReply_Reason]

export interface ForwardReply {
  'applied'?: (_cadastre_peer_v1_ForwardReply_Applied | null);
  'failed'?: (_cadastre_peer_v1_ForwardReply_Failed | null);
  'answer'?: "applied"|"failed";
}

export interface ForwardReply__Output {
  'applied'?: (_cadastre_peer_v1_ForwardReply_Applied__Output | null);
  'failed'?: (_cadastre_peer_v1_ForwardReply_Failed__Output | null);
  'answer'?: "applied"|"failed";
}
