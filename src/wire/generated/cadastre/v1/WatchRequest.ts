// Original file: proto/cadastre/v1/directory.proto

import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from '../../cadastre/v1/Span.ts';

export interface WatchRequest {
  'keyspace'?: (string);
  'span'?: (_cadastre_v1_Span | null);
  'nodeId'?: (string);
  'resumeToken'?: (Buffer | Uint8Array | string);
  'failIfCompacted'?: (boolean);
}

export interface WatchRequest__Output {
  'keyspace': (string);
  'span': (_cadastre_v1_Span__Output | null);
  'nodeId': (string);
  'resumeToken': (Buffer);
  'failIfCompacted': (boolean);
}
