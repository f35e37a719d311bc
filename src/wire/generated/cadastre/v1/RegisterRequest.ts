// Original file: proto/cadastre/v1/ownership.proto

import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from '../../cadastre/v1/RequestId.ts';
import type { ProcessStart as _cadastre_v1_ProcessStart, ProcessStart__Output as _cadastre_v1_ProcessStart__Output } from '../../cadastre/v1/ProcessStart.ts';
import type { Long } from '@grpc/proto-loader';

export interface RegisterRequest {
  'requestId'?: (_cadastre_v1_RequestId | null);
  'nodeId'?: (string);
  'dataUuid'?: (string);
  'addresses'?: (string)[];
  'zone'?: (string);
  'labels'?: ({[key: string]: string});
  'capacity'?: (number | string | Long);
  'start'?: (_cadastre_v1_ProcessStart | null);
}

export interface RegisterRequest__Output {
  'requestId': (_cadastre_v1_RequestId__Output | null);
  'nodeId': (string);
  'dataUuid': (string);
  'addresses': (string)[];
  'zone': (string);
  'labels': ({[key: string]: string});
  'capacity': (string);
  'start': (_cadastre_v1_ProcessStart__Output | null);
}
