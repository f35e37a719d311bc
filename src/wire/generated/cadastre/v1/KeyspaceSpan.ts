// Original file: proto/cadastre/v1/ownership.proto

import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from '../../cadastre/v1/Span.ts';

export interface KeyspaceSpan {
  'keyspace'?: (string);
  'span'?: (_cadastre_v1_Span | null);
}

export interface KeyspaceSpan__Output {
  'keyspace': (string);
  'span': (_cadastre_v1_Span__Output | null);
}
