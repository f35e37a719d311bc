// Original file: proto/cadastre/peer/v1/peer.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { FetchSnapshotRequest as _cadastre_peer_v1_FetchSnapshotRequest, FetchSnapshotRequest__Output as _cadastre_peer_v1_FetchSnapshotRequest__Output } from '../../../cadastre/peer/v1/FetchSnapshotRequest.ts';
import type { ForwardReply as _cadastre_peer_v1_ForwardReply, ForwardReply__Output as _cadastre_peer_v1_ForwardReply__Output } from '../../../cadastre/peer/v1/ForwardReply.ts';
import type { ForwardRequest as _cadastre_peer_v1_ForwardRequest, ForwardRequest__Output as _cadastre_peer_v1_ForwardRequest__Output } from '../../../cadastre/peer/v1/ForwardRequest.ts';
import type { PeerFrame as _cadastre_peer_v1_PeerFrame, PeerFrame__Output as _cadastre_peer_v1_PeerFrame__Output } from '../../../cadastre/peer/v1/PeerFrame.ts';
import type { SnapshotChunk as _cadastre_peer_v1_SnapshotChunk, SnapshotChunk__Output as _cadastre_peer_v1_SnapshotChunk__Output } from '../../../cadastre/peer/v1/SnapshotChunk.ts';

export interface PeerClient extends grpc.Client {
  Exchange(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_cadastre_peer_v1_PeerFrame, _cadastre_peer_v1_PeerFrame__Output>;
  Exchange(options?: grpc.CallOptions): grpc.ClientDuplexStream<_cadastre_peer_v1_PeerFrame, _cadastre_peer_v1_PeerFrame__Output>;
  exchange(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_cadastre_peer_v1_PeerFrame, _cadastre_peer_v1_PeerFrame__Output>;
  exchange(options?: grpc.CallOptions): grpc.ClientDuplexStream<_cadastre_peer_v1_PeerFrame, _cadastre_peer_v1_PeerFrame__Output>;
  
  FetchSnapshot(argument: _cadastre_peer_v1_FetchSnapshotRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_peer_v1_SnapshotChunk__Output>;
  FetchSnapshot(argument: _cadastre_peer_v1_FetchSnapshotRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_peer_v1_SnapshotChunk__Output>;
  fetchSnapshot(argument: _cadastre_peer_v1_FetchSnapshotRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_peer_v1_SnapshotChunk__Output>;
  fetchSnapshot(argument: _cadastre_peer_v1_FetchSnapshotRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_cadastre_peer_v1_SnapshotChunk__Output>;
  
  Forward(argument: _cadastre_peer_v1_ForwardRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  Forward(argument: _cadastre_peer_v1_ForwardRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  Forward(argument: _cadastre_peer_v1_ForwardRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  Forward(argument: _cadastre_peer_v1_ForwardRequest, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  forward(argument: _cadastre_peer_v1_ForwardRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  forward(argument: _cadastre_peer_v1_ForwardRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  forward(argument: _cadastre_peer_v1_ForwardRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  forward(argument: _cadastre_peer_v1_ForwardRequest, callback: grpc.requestCallback<_cadastre_peer_v1_ForwardReply__Output>): grpc.ClientUnaryCall;
  
}

export interface PeerHandlers extends grpc.UntypedServiceImplementation {
  Exchange: grpc.handleBidiStreamingCall<_cadastre_peer_v1_PeerFrame__Output, _cadastre_peer_v1_PeerFrame>;
  
  FetchSnapshot: grpc.handleServerStreamingCall<_cadastre_peer_v1_FetchSnapshotRequest__Output, _cadastre_peer_v1_SnapshotChunk>;
  
  Forward: grpc.handleUnaryCall<_cadastre_peer_v1_ForwardRequest__Output, _cadastre_peer_v1_ForwardReply>;
  
}

export interface PeerDefinition extends grpc.ServiceDefinition {
  Exchange: MethodDefinition<_cadastre_peer_v1_PeerFrame, _cadastre_peer_v1_PeerFrame, _cadastre_peer_v1_PeerFrame__Output, _cadastre_peer_v1_PeerFrame__Output>
  FetchSnapshot: MethodDefinition<_cadastre_peer_v1_FetchSnapshotRequest, _cadastre_peer_v1_SnapshotChunk, _cadastre_peer_v1_FetchSnapshotRequest__Output, _cadastre_peer_v1_SnapshotChunk__Output>
  Forward: MethodDefinition<_cadastre_peer_v1_ForwardRequest, _cadastre_peer_v1_ForwardReply, _cadastre_peer_v1_ForwardRequest__Output, _cadastre_peer_v1_ForwardReply__Output>
}
