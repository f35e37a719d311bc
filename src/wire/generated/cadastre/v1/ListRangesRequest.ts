// Original file: proto/cadastre/v1/directory.proto

import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from '../../cadastre/v1/Span.ts';
import type { ReadOptions as _cadastre_v1_ReadOptions, ReadOptions__Output as _cadastre_v1_ReadOptions__Output } from '../../cadastre/v1/ReadOptions.ts';

export interface ListRangesRequest {
  'keyspace'?: (string);
  'span'?: (_cadastre_v1_Span | null);
  'nodeId'?: (string);
  'pageSize'?: (number);
  'pageToken'?: (string);
  'read'?: (_cadastre_v1_ReadOptions | null);
  'unownedOnly'?: (boolean);
}

export interface ListRangesRequest__Output {
  'keyspace': (string);
  'span': (_cadastre_v1_Span__Output | null);
  'nodeId': (string);
  'pageSize': (number);
  'pageToken': (string);
  'read': (_cadastre_v1_ReadOptions__Output | null);
  'unownedOnly': (boolean);
}
