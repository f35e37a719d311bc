// Original file: proto/cadastre/peer/v1/peer.proto


export interface RequestVoteReply {
  'granted'?: (boolean);
}

export interface RequestVoteReply__Output {
  'granted': (boolean);
}
