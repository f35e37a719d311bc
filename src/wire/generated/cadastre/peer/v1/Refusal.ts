// Original file: proto/cadastre/peer/v1/peer.proto


export interface Refusal {
  'reason'?: (string);
  'details'?: (string);
}

export interface Refusal__Output {
  'reason': (string);
  'details': (string);
}
