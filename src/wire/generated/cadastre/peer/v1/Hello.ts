// Original file: proto/cadastre/peer/v1/peer.proto

import type { Acknowledged as _cadastre_peer_v1_Acknowledged, Acknowledged__Output as _cadastre_peer_v1_Acknowledged__Output } from '../../../cadastre/peer/v1/Acknowledged.ts';
import type { Long } from '@grpc/proto-loader';

export interface Hello {
  'protocolVersion'?: (number);
  'clusterId'?: (string);
  'fromServer'?: (number | string | Long);
  'toServer'?: (number | string | Long);
  'bootNonce'?: (string);
  'attempt'?: (number | string | Long);
  'storeUuid'?: (string);
  'acknowledged'?: (_cadastre_peer_v1_Acknowledged)[];
}

export interface Hello__Output {
  'protocolVersion': (number);
  'clusterId': (string);
  'fromServer': (string);
  'toServer': (string);
  'bootNonce': (string);
  'attempt': (string);
  'storeUuid': (string);
  'acknowledged': (_cadastre_peer_v1_Acknowledged__Output)[];
}
