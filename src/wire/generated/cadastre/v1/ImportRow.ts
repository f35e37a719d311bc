// Original file: proto/cadastre/v1/keyspaces.proto


export interface ImportRow {
  'startKey'?: (Buffer | Uint8Array | string);
  'intendedNodeId'?: (string);
}

export interface ImportRow__Output {
  'startKey': (Buffer);
  'intendedNodeId': (string);
}
