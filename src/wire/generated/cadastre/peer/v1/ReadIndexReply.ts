// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface _cadastre_peer_v1_ReadIndexReply_Refused {
}

export interface _cadastre_peer_v1_ReadIndexReply_Refused__Output {
}

export interface ReadIndexReply {
  'readId'?: (number | string | Long);
  'readIndex'?: (number | string | Long);
  'refused'?: (_cadastre_peer_v1_ReadIndexReply_Refused | null);
  'answer'?: "readIndex"|"refused";
}

export interface ReadIndexReply__Output {
  'readId': (string);
  'readIndex'?: (string);
  'refused'?: (_cadastre_peer_v1_ReadIndexReply_Refused__Output | null);
  'answer'?: "readIndex"|"refused";
}
