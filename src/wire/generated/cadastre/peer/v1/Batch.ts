// Original file: proto/cadastre/peer/v1/peer.proto

import type { RaftEnvelope as _cadastre_peer_v1_RaftEnvelope, RaftEnvelope__Output as _cadastre_peer_v1_RaftEnvelope__Output } from '../../../cadastre/peer/v1/RaftEnvelope.ts';

export interface Batch {
  'envelopes'?: (_cadastre_peer_v1_RaftEnvelope)[];
}

export interface Batch__Output {
  'envelopes': (_cadastre_peer_v1_RaftEnvelope__Output)[];
}
