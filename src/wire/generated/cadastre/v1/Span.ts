// Original file: proto/cadastre/v1/common.proto


export interface Span {
  'startKey'?: (Buffer | Uint8Array | string);
  'endKey'?: (Buffer | Uint8Array | string);
}

export interface Span__Output {
  'startKey': (Buffer);
  'endKey': (Buffer);
}
