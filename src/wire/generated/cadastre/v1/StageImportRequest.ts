// Original file: proto/cadastre/v1/keyspaces.proto

import type { ImportRow as _cadastre_v1_ImportRow, ImportRow__Output as _cadastre_v1_ImportRow__Output } from '../../cadastre/v1/ImportRow.ts';

export interface StageImportRequest {
  'keyspace'?: (string);
  'importId'?: (string);
  'part'?: (number);
  'rows'?: (_cadastre_v1_ImportRow)[];
}

export interface StageImportRequest__Output {
  'keyspace': (string);
  'importId': (string);
  'part': (number);
  'rows': (_cadastre_v1_ImportRow__Output)[];
}
