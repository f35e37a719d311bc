// Original file: proto/cadastre/v1/keyspaces.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { Long } from '@grpc/proto-loader';

export interface CommitImportResponse {
  'header'?: (_cadastre_v1_Header | null);
  'rangeCount'?: (number | string | Long);
  'grantedCount'?: (number | string | Long);
}

export interface CommitImportResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'rangeCount': (string);
  'grantedCount': (string);
}
