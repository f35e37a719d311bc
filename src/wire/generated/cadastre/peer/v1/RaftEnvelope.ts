// Original file: proto/cadastre/peer/v1/peer.proto

import type { PreVote as _cadastre_peer_v1_PreVote, PreVote__Output as _cadastre_peer_v1_PreVote__Output } from '../../../cadastre/peer/v1/PreVote.ts';
import type { PreVoteReply as _cadastre_peer_v1_PreVoteReply, PreVoteReply__Output as _cadastre_peer_v1_PreVoteReply__Output } from '../../../cadastre/peer/v1/PreVoteReply.ts';
import type { RequestVote as _cadastre_peer_v1_RequestVote, RequestVote__Output as _cadastre_peer_v1_RequestVote__Output } from '../../../cadastre/peer/v1/RequestVote.ts';
import type { RequestVoteReply as _cadastre_peer_v1_RequestVoteReply, RequestVoteReply__Output as _cadastre_peer_v1_RequestVoteReply__Output } from '../../../cadastre/peer/v1/RequestVoteReply.ts';
import type { AppendEntries as _cadastre_peer_v1_AppendEntries, AppendEntries__Output as _cadastre_peer_v1_AppendEntries__Output } from '../../../cadastre/peer/v1/AppendEntries.ts';
import type { AppendEntriesReply as _cadastre_peer_v1_AppendEntriesReply, AppendEntriesReply__Output as _cadastre_peer_v1_AppendEntriesReply__Output } from '../../../cadastre/peer/v1/AppendEntriesReply.ts';
import type { Heartbeat as _cadastre_peer_v1_Heartbeat, Heartbeat__Output as _cadastre_peer_v1_Heartbeat__Output } from '../../../cadastre/peer/v1/Heartbeat.ts';
import type { HeartbeatReply as _cadastre_peer_v1_HeartbeatReply, HeartbeatReply__Output as _cadastre_peer_v1_HeartbeatReply__Output } from '../../../cadastre/peer/v1/HeartbeatReply.ts';
import type { ReadIndexRequest as _cadastre_peer_v1_ReadIndexRequest, ReadIndexRequest__Output as _cadastre_peer_v1_ReadIndexRequest__Output } from '../../../cadastre/peer/v1/ReadIndexRequest.ts';
import type { ReadIndexReply as _cadastre_peer_v1_ReadIndexReply, ReadIndexReply__Output as _cadastre_peer_v1_ReadIndexReply__Output } from '../../../cadastre/peer/v1/ReadIndexReply.ts';
import type { SnapshotOffer as _cadastre_peer_v1_SnapshotOffer, SnapshotOffer__Output as _cadastre_peer_v1_SnapshotOffer__Output } from '../../../cadastre/peer/v1/SnapshotOffer.ts';
import type { TimeoutNow as _cadastre_peer_v1_TimeoutNow, TimeoutNow__Output as _cadastre_peer_v1_TimeoutNow__Output } from '../../../cadastre/peer/v1/TimeoutNow.ts';
import type { Long } from '@grpc/proto-loader';

export interface RaftEnvelope {
  'group'?: (number | string | Long);
  'fromReplica'?: (number | string | Long);
  'toReplica'?: (number | string | Long);
  'term'?: (number | string | Long);
  'preVote'?: (_cadastre_peer_v1_PreVote | null);
  'preVoteReply'?: (_cadastre_peer_v1_PreVoteReply | null);
  'requestVote'?: (_cadastre_peer_v1_RequestVote | null);
  'requestVoteReply'?: (_cadastre_peer_v1_RequestVoteReply | null);
  'appendEntries'?: (_cadastre_peer_v1_AppendEntries | null);
  'appendEntriesReply'?: (_cadastre_peer_v1_AppendEntriesReply | null);
  'heartbeat'?: (_cadastre_peer_v1_Heartbeat | null);
  'heartbeatReply'?: (_cadastre_peer_v1_HeartbeatReply | null);
  'readIndexRequest'?: (_cadastre_peer_v1_ReadIndexRequest | null);
  'readIndexReply'?: (_cadastre_peer_v1_ReadIndexReply | null);
  'snapshotOffer'?: (_cadastre_peer_v1_SnapshotOffer | null);
  'timeoutNow'?: (_cadastre_peer_v1_TimeoutNow | null);
  'message'?: "preVote"|"preVoteReply"|"requestVote"|"requestVoteReply"|"appendEntries"|"appendEntriesReply"|"heartbeat"|"heartbeatReply"|"readIndexRequest"|"readIndexReply"|"snapshotOffer"|"timeoutNow";
}

export interface RaftEnvelope__Output {
  'group': (string);
  'fromReplica': (string);
  'toReplica': (string);
  'term': (string);
  'preVote'?: (_cadastre_peer_v1_PreVote__Output | null);
  'preVoteReply'?: (_cadastre_peer_v1_PreVoteReply__Output | null);
  'requestVote'?: (_cadastre_peer_v1_RequestVote__Output | null);
  'requestVoteReply'?: (_cadastre_peer_v1_RequestVoteReply__Output | null);
  'appendEntries'?: (_cadastre_peer_v1_AppendEntries__Output | null);
  'appendEntriesReply'?: (_cadastre_peer_v1_AppendEntriesReply__Output | null);
  'heartbeat'?: (_cadastre_peer_v1_Heartbeat__Output | null);
  'heartbeatReply'?: (_cadastre_peer_v1_HeartbeatReply__Output | null);
  'readIndexRequest'?: (_cadastre_peer_v1_ReadIndexRequest__Output | null);
  'readIndexReply'?: (_cadastre_peer_v1_ReadIndexReply__Output | null);
  'snapshotOffer'?: (_cadastre_peer_v1_SnapshotOffer__Output | null);
  'timeoutNow'?: (_cadastre_peer_v1_TimeoutNow__Output | null);
  'message'?: "preVote"|"preVoteReply"|"requestVote"|"requestVoteReply"|"appendEntries"|"appendEntriesReply"|"heartbeat"|"heartbeatReply"|"readIndexRequest"|"readIndexReply"|"snapshotOffer"|"timeoutNow";
}
