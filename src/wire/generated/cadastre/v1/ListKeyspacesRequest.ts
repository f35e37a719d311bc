// Original file: proto/cadastre/v1/keyspaces.proto


export interface ListKeyspacesRequest {
  'pageSize'?: (number);
  'pageToken'?: (string);
}

export interface ListKeyspacesRequest__Output {
  'pageSize': (number);
  'pageToken': (string);
}
