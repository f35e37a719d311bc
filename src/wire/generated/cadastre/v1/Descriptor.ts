// Original file: proto/cadastre/v1/common.proto

import type { Span as _cadastre_v1_Span, Span__Output as _cadastre_v1_Span__Output } from '../../cadastre/v1/Span.ts';
import type { Owner as _cadastre_v1_Owner, Owner__Output as _cadastre_v1_Owner__Output } from '../../cadastre/v1/Owner.ts';
import type { RangeReplica as _cadastre_v1_RangeReplica, RangeReplica__Output as _cadastre_v1_RangeReplica__Output } from '../../cadastre/v1/RangeReplica.ts';
import type { Long } from '@grpc/proto-loader';

export interface Descriptor {
  'rangeId'?: (string);
  'keyspace'?: (string);
  'span'?: (_cadastre_v1_Span | null);
  'epoch'?: (number | string | Long);
  'owner'?: (_cadastre_v1_Owner | null);
  'replicas'?: (_cadastre_v1_RangeReplica)[];
  'descriptorRevision'?: (number | string | Long);
  'group'?: (number);
}

export interface Descriptor__Output {
  'rangeId': (string);
  'keyspace': (string);
  'span': (_cadastre_v1_Span__Output | null);
  'epoch': (string);
  'owner': (_cadastre_v1_Owner__Output | null);
  'replicas': (_cadastre_v1_RangeReplica__Output)[];
  'descriptorRevision': (string);
  'group': (number);
}
