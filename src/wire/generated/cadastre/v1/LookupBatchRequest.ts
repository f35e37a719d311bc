// Original file: proto/cadastre/v1/directory.proto

import type { ReadOptions as _cadastre_v1_ReadOptions, ReadOptions__Output as _cadastre_v1_ReadOptions__Output } from '../../cadastre/v1/ReadOptions.ts';

export interface LookupBatchRequest {
  'keyspace'?: (string);
  'keys'?: (Buffer | Uint8Array | string)[];
  'read'?: (_cadastre_v1_ReadOptions | null);
}

export interface LookupBatchRequest__Output {
  'keyspace': (string);
  'keys': (Buffer)[];
  'read': (_cadastre_v1_ReadOptions__Output | null);
}
