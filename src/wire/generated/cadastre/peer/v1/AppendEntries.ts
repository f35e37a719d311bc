// Original file: proto/cadastre/peer/v1/peer.proto

import type { Long } from '@grpc/proto-loader';

export interface AppendEntries {
  'prevIndex'?: (number | string | Long);
  'prevTerm'?: (number | string | Long);
  'commitIndex'?: (number | string | Long);
  'entries'?: (Buffer | Uint8Array | string);
}

export interface AppendEntries__Output {
  'prevIndex': (string);
  'prevTerm': (string);
  'commitIndex': (string);
  'entries': (Buffer);
}
