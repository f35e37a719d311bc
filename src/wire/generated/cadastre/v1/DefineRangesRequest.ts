// Original file: proto/cadastre/v1/keyspaces.proto

import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from '../../cadastre/v1/RequestId.ts';

export interface DefineRangesRequest {
  'requestId'?: (_cadastre_v1_RequestId | null);
  'keyspace'?: (string);
  'splitKeys'?: (Buffer | Uint8Array | string)[];
}

export interface DefineRangesRequest__Output {
  'requestId': (_cadastre_v1_RequestId__Output | null);
  'keyspace': (string);
  'splitKeys': (Buffer)[];
}
