// Original file: proto/cadastre/v1/keyspaces.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { Long } from '@grpc/proto-loader';

export interface StageImportResponse {
  'header'?: (_cadastre_v1_Header | null);
  'stagedRows'?: (number | string | Long);
  'expiresInMs'?: (number | string | Long);
}

export interface StageImportResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'stagedRows': (string);
  'expiresInMs': (string);
}
