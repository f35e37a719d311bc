// Original file: proto/cadastre/v1/keyspaces.proto

import type { Long } from '@grpc/proto-loader';

export interface CommitImportRequest {
  'keyspace'?: (string);
  'importId'?: (string);
  'rowCount'?: (number | string | Long);
}

export interface CommitImportRequest__Output {
  'keyspace': (string);
  'importId': (string);
  'rowCount': (string);
}
