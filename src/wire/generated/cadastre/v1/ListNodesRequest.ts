// Original file: proto/cadastre/v1/directory.proto


export interface ListNodesRequest {
  'pageSize'?: (number);
  'pageToken'?: (string);
}

export interface ListNodesRequest__Output {
  'pageSize': (number);
  'pageToken': (string);
}
