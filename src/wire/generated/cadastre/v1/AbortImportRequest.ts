// Original file: proto/cadastre/v1/keyspaces.proto


export interface AbortImportRequest {
  'keyspace'?: (string);
  'importId'?: (string);
}

export interface AbortImportRequest__Output {
  'keyspace': (string);
  'importId': (string);
}
