// Original file: proto/cadastre/v1/directory.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { NodeRecord as _cadastre_v1_NodeRecord, NodeRecord__Output as _cadastre_v1_NodeRecord__Output } from '../../cadastre/v1/NodeRecord.ts';

export interface ListNodesResponse {
  'header'?: (_cadastre_v1_Header | null);
  'nodes'?: (_cadastre_v1_NodeRecord)[];
  'nextPageToken'?: (string);
}

export interface ListNodesResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'nodes': (_cadastre_v1_NodeRecord__Output)[];
  'nextPageToken': (string);
}
