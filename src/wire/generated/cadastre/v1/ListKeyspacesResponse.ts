// Original file: proto/cadastre/v1/keyspaces.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { KeyspaceRecord as _cadastre_v1_KeyspaceRecord, KeyspaceRecord__Output as _cadastre_v1_KeyspaceRecord__Output } from '../../cadastre/v1/KeyspaceRecord.ts';

export interface ListKeyspacesResponse {
  'header'?: (_cadastre_v1_Header | null);
  'keyspaces'?: (_cadastre_v1_KeyspaceRecord)[];
  'nextPageToken'?: (string);
}

export interface ListKeyspacesResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'keyspaces': (_cadastre_v1_KeyspaceRecord__Output)[];
  'nextPageToken': (string);
}
