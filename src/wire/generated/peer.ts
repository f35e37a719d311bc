import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { Acknowledged as _cadastre_peer_v1_Acknowledged, Acknowledged__Output as _cadastre_peer_v1_Acknowledged__Output } from './cadastre/peer/v1/Acknowledged.ts';
import type { AppendEntries as _cadastre_peer_v1_AppendEntries, AppendEntries__Output as _cadastre_peer_v1_AppendEntries__Output } from './cadastre/peer/v1/AppendEntries.ts';
import type { AppendEntriesReply as _cadastre_peer_v1_AppendEntriesReply, AppendEntriesReply__Output as _cadastre_peer_v1_AppendEntriesReply__Output } from './cadastre/peer/v1/AppendEntriesReply.ts';
import type { Batch as _cadastre_peer_v1_Batch, Batch__Output as _cadastre_peer_v1_Batch__Output } from './cadastre/peer/v1/Batch.ts';
import type { FetchSnapshotRequest as _cadastre_peer_v1_FetchSnapshotRequest, FetchSnapshotRequest__Output as _cadastre_peer_v1_FetchSnapshotRequest__Output } from './cadastre/peer/v1/FetchSnapshotRequest.ts';
import type { ForwardReply as _cadastre_peer_v1_ForwardReply, ForwardReply__Output as _cadastre_peer_v1_ForwardReply__Output } from './cadastre/peer/v1/ForwardReply.ts';
import type { ForwardRequest as _cadastre_peer_v1_ForwardRequest, ForwardRequest__Output as _cadastre_peer_v1_ForwardRequest__Output } from './cadastre/peer/v1/ForwardRequest.ts';
import type { Heartbeat as _cadastre_peer_v1_Heartbeat, Heartbeat__Output as _cadastre_peer_v1_Heartbeat__Output } from './cadastre/peer/v1/Heartbeat.ts';
import type { HeartbeatReply as _cadastre_peer_v1_HeartbeatReply, HeartbeatReply__Output as _cadastre_peer_v1_HeartbeatReply__Output } from './cadastre/peer/v1/HeartbeatReply.ts';
import type { Hello as _cadastre_peer_v1_Hello, Hello__Output as _cadastre_peer_v1_Hello__Output } from './cadastre/peer/v1/Hello.ts';
import type { PeerClient as _cadastre_peer_v1_PeerClient, PeerDefinition as _cadastre_peer_v1_PeerDefinition } from './cadastre/peer/v1/Peer.ts';
import type { PeerFrame as _cadastre_peer_v1_PeerFrame, PeerFrame__Output as _cadastre_peer_v1_PeerFrame__Output } from './cadastre/peer/v1/PeerFrame.ts';
import type { PreVote as _cadastre_peer_v1_PreVote, PreVote__Output as _cadastre_peer_v1_PreVote__Output } from './cadastre/peer/v1/PreVote.ts';
import type { PreVoteReply as _cadastre_peer_v1_PreVoteReply, PreVoteReply__Output as _cadastre_peer_v1_PreVoteReply__Output } from './cadastre/peer/v1/PreVoteReply.ts';
import type { RaftEnvelope as _cadastre_peer_v1_RaftEnvelope, RaftEnvelope__Output as _cadastre_peer_v1_RaftEnvelope__Output } from './cadastre/peer/v1/RaftEnvelope.ts';
import type { ReadIndexReply as _cadastre_peer_v1_ReadIndexReply, ReadIndexReply__Output as _cadastre_peer_v1_ReadIndexReply__Output } from './cadastre/peer/v1/ReadIndexReply.ts';
import type { ReadIndexRequest as _cadastre_peer_v1_ReadIndexRequest, ReadIndexRequest__Output as _cadastre_peer_v1_ReadIndexRequest__Output } from './cadastre/peer/v1/ReadIndexRequest.ts';
import type { Refusal as _cadastre_peer_v1_Refusal, Refusal__Output as _cadastre_peer_v1_Refusal__Output } from './cadastre/peer/v1/Refusal.ts';
import type { RequestVote as _cadastre_peer_v1_RequestVote, RequestVote__Output as _cadastre_peer_v1_RequestVote__Output } from './cadastre/peer/v1/RequestVote.ts';
import type { RequestVoteReply as _cadastre_peer_v1_RequestVoteReply, RequestVoteReply__Output as _cadastre_peer_v1_RequestVoteReply__Output } from './cadastre/peer/v1/RequestVoteReply.ts';
import type { SnapshotChunk as _cadastre_peer_v1_SnapshotChunk, SnapshotChunk__Output as _cadastre_peer_v1_SnapshotChunk__Output } from './cadastre/peer/v1/SnapshotChunk.ts';
import type { SnapshotOffer as _cadastre_peer_v1_SnapshotOffer, SnapshotOffer__Output as _cadastre_peer_v1_SnapshotOffer__Output } from './cadastre/peer/v1/SnapshotOffer.ts';
import type { TimeoutNow as _cadastre_peer_v1_TimeoutNow, TimeoutNow__Output as _cadastre_peer_v1_TimeoutNow__Output } from './cadastre/peer/v1/TimeoutNow.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  cadastre: {
    peer: {
      v1: {
        Acknowledged: MessageTypeDefinition<_cadastre_peer_v1_Acknowledged, _cadastre_peer_v1_Acknowledged__Output>
        AppendEntries: MessageTypeDefinition<_cadastre_peer_v1_AppendEntries, _cadastre_peer_v1_AppendEntries__Output>
        AppendEntriesReply: MessageTypeDefinition<_cadastre_peer_v1_AppendEntriesReply, _cadastre_peer_v1_AppendEntriesReply__Output>
        Batch: MessageTypeDefinition<_cadastre_peer_v1_Batch, _cadastre_peer_v1_Batch__Output>
        FetchSnapshotRequest: MessageTypeDefinition<_cadastre_peer_v1_FetchSnapshotRequest, _cadastre_peer_v1_FetchSnapshotRequest__Output>
        ForwardReply: MessageTypeDefinition<_cadastre_peer_v1_ForwardReply, _cadastre_peer_v1_ForwardReply__Output>
        ForwardRequest: MessageTypeDefinition<_cadastre_peer_v1_ForwardRequest, _cadastre_peer_v1_ForwardRequest__Output>
        Heartbeat: MessageTypeDefinition<_cadastre_peer_v1_Heartbeat, _cadastre_peer_v1_Heartbeat__Output>
        HeartbeatReply: MessageTypeDefinition<_cadastre_peer_v1_HeartbeatReply, _cadastre_peer_v1_HeartbeatReply__Output>
        Hello: MessageTypeDefinition<_cadastre_peer_v1_Hello, _cadastre_peer_v1_Hello__Output>
        Peer: SubtypeConstructor<typeof grpc.Client, _cadastre_peer_v1_PeerClient> & { service: _cadastre_peer_v1_PeerDefinition }
        PeerFrame: MessageTypeDefinition<_cadastre_peer_v1_PeerFrame, _cadastre_peer_v1_PeerFrame__Output>
        PreVote: MessageTypeDefinition<_cadastre_peer_v1_PreVote, _cadastre_peer_v1_PreVote__Output>
        PreVoteReply: MessageTypeDefinition<_cadastre_peer_v1_PreVoteReply, _cadastre_peer_v1_PreVoteReply__Output>
        RaftEnvelope: MessageTypeDefinition<_cadastre_peer_v1_RaftEnvelope, _cadastre_peer_v1_RaftEnvelope__Output>
        ReadIndexReply: MessageTypeDefinition<_cadastre_peer_v1_ReadIndexReply, _cadastre_peer_v1_ReadIndexReply__Output>
        ReadIndexRequest: MessageTypeDefinition<_cadastre_peer_v1_ReadIndexRequest, _cadastre_peer_v1_ReadIndexRequest__Output>
        Refusal: MessageTypeDefinition<_cadastre_peer_v1_Refusal, _cadastre_peer_v1_Refusal__Output>
        RequestVote: MessageTypeDefinition<_cadastre_peer_v1_RequestVote, _cadastre_peer_v1_RequestVote__Output>
        RequestVoteReply: MessageTypeDefinition<_cadastre_peer_v1_RequestVoteReply, _cadastre_peer_v1_RequestVoteReply__Output>
        SnapshotChunk: MessageTypeDefinition<_cadastre_peer_v1_SnapshotChunk, _cadastre_peer_v1_SnapshotChunk__Output>
        SnapshotOffer: MessageTypeDefinition<_cadastre_peer_v1_SnapshotOffer, _cadastre_peer_v1_SnapshotOffer__Output>
        TimeoutNow: MessageTypeDefinition<_cadastre_peer_v1_TimeoutNow, _cadastre_peer_v1_TimeoutNow__Output>
      }
    }
  }
}

