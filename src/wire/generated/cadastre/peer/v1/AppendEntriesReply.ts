// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface _cadastre_peer_v1_AppendEntriesReply_Accepted {
  'matchIndex'?: (number | string | Long);
}

export interface _cadastre_peer_v1_AppendEntriesReply_Accepted__Output {
  'matchIndex': (string);
}

export interface _cadastre_peer_v1_AppendEntriesReply_Rejected {
  'prevIndex'?: (number | string | Long);
  'hintIndex'?: (number | string | Long);
  'hintTerm'?: (number | string | Long);
}

export interface _cadastre_peer_v1_AppendEntriesReply_Rejected__Output {
  'prevIndex': (string);
  'hintIndex': (string);
  'hintTerm': (string);
}

export interface AppendEntriesReply {
  'accepted'?: (_cadastre_peer_v1_AppendEntriesReply_Accepted | null);
  'rejected'?: (_cadastre_peer_v1_AppendEntriesReply_Rejected | null);
  'result'?: "accepted"|"rejected";
}

export interface AppendEntriesReply__Output {
  'accepted'?: (_cadastre_peer_v1_AppendEntriesReply_Accepted__Output | null);
  'rejected'?: (_cadastre_peer_v1_AppendEntriesReply_Rejected__Output | null);
  'result'?: "accepted"|"rejected";
}
