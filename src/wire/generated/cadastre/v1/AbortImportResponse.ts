// Original file: proto/cadastre/v1/keyspaces.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';

export interface AbortImportResponse {
  'header'?: (_cadastre_v1_Header | null);
}

export interface AbortImportResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
}
