// Original file: proto/cadastre/v1/directory.proto

import type { Header as _cadastre_v1_Header, Header__Output as _cadastre_v1_Header__Output } from '../../cadastre/v1/Header.ts';
import type { Route as _cadastre_v1_Route, Route__Output as _cadastre_v1_Route__Output } from '../../cadastre/v1/Route.ts';
import type { Staleness as _cadastre_v1_Staleness, Staleness__Output as _cadastre_v1_Staleness__Output } from '../../cadastre/v1/Staleness.ts';

export interface LookupBatchResponse {
  'header'?: (_cadastre_v1_Header | null);
  'routes'?: (_cadastre_v1_Route)[];
  'routeOfKey'?: (number)[];
  'staleness'?: (_cadastre_v1_Staleness | null);
}

export interface LookupBatchResponse__Output {
  'header': (_cadastre_v1_Header__Output | null);
  'routes': (_cadastre_v1_Route__Output)[];
  'routeOfKey': (number)[];
  'staleness': (_cadastre_v1_Staleness__Output | null);
}
