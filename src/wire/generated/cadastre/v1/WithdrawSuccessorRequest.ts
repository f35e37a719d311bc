// Original file: proto/cadastre/v1/ownership.proto

import type { RequestId as _cadastre_v1_RequestId, RequestId__Output as _cadastre_v1_RequestId__Output } from '../../cadastre/v1/RequestId.ts';
import type { Long } from '@grpc/proto-loader';

export interface WithdrawSuccessorRequest {
  'requestId'?: (_cadastre_v1_RequestId | null);
  'group'?: (number);
  'rangeId'?: (string);
  'expectedEpoch'?: (number | string | Long);
  'expectedDescriptorRevision'?: (number | string | Long);
}

export interface WithdrawSuccessorRequest__Output {
  'requestId': (_cadastre_v1_RequestId__Output | null);
  'group': (number);
  'rangeId': (string);
  'expectedEpoch': (string);
  'expectedDescriptorRevision': (string);
}
