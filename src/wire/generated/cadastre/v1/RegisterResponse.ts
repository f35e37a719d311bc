// Original file: proto/cadastre/v1/ownership.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { Long } from '@grpc/proto-loader';

export interface RegisterResponse {
  'header'?: (_cadastre_v1_Header | null);
  'incarnation'?: (number | string | Long);
  'shardGroups'?: (number)[];
  'replayed'?: (boolean);
  'predecessor'?: (number | string | Long);
  'proven'?: (boolean);
}

export interface RegisterResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'incarnation': (string);
  'shardGroups': (number)[];
  'replayed': (boolean);
  'predecessor': (string);
  'proven': (boolean);
}
