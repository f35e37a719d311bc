// Original file: proto/cadastre/peer/v1/peer.proto

import type { Hello as _cadastre_peer_v1_Hello, Hello__Output as _cadastre_peer_v1_Hello__Output } from '../../../cadastre/peer/v1/Hello.ts';
import type { Batch as _cadastre_peer_v1_Batch, Batch__Output as _cadastre_peer_v1_Batch__Output } from '../../../cadastre/peer/v1/Batch.ts';
import type { Refusal as _cadastre_peer_v1_Refusal, Refusal__Output as _cadastre_peer_v1_Refusal__Output } from '../../../cadastre/peer/v1/Refusal.ts';

export interface PeerFrame {
  'hello'?: (_cadastre_peer_v1_Hello | null);
  'batch'?: (_cadastre_peer_v1_Batch | null);
  'refusal'?: (_cadastre_peer_v1_Refusal | null);
  'frame'?: "hello"|"batch"|"refusal";
}

export interface PeerFrame__Output {
  'hello'?: (_cadastre_peer_v1_Hello__Output | null);
  'batch'?: (_cadastre_peer_v1_Batch__Output | null);
  'refusal'?: (_cadastre_peer_v1_Refusal__Output | null);
  'frame'?: "hello"|"batch"|"refusal";
}
