// Original file: proto/cadastre/admin/v1/cluster.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../../cadastre/v1/Header.ts';
import type { ServerStatus as _cadastre_admin_v1_ServerStatus, ServerStatus__Output as _cadastre_admin_v1_ServerStatus__Output } from '../../../cadastre/admin/v1/ServerStatus.ts';
import type { GroupStatus as _cadastre_admin_v1_GroupStatus, GroupStatus__Output as _cadastre_admin_v1_GroupStatus__Output } from '../../../cadastre/admin/v1/GroupStatus.ts';
import type { Abstention as _cadastre_admin_v1_Abstention, Abstention__Output as _cadastre_admin_v1_Abstention__Output } from '../../../cadastre/admin/v1/Abstention.ts';
import type { Long } from '@grpc/proto-loader';

export interface GetStatusResponse {
  'header'?: (_cadastre_v1_Header | null);
  'clusterName'?: (string);
  'productVersion'?: (string);
  'uptimeMs'?: (number | string | Long);
  'servers'?: (_cadastre_admin_v1_ServerStatus)[];
  'groups'?: (_cadastre_admin_v1_GroupStatus)[];
  'abstention'?: (_cadastre_admin_v1_Abstention | null);
}

export interface GetStatusResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'clusterName': (string);
  'productVersion': (string);
  'uptimeMs': (string);
  'servers': (_cadastre_admin_v1_ServerStatus__Output)[];
  'groups': (_cadastre_admin_v1_GroupStatus__Output)[];
  'abstention': (_cadastre_admin_v1_Abstention__Output | null);
}
