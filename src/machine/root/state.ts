/**
 * The state of the root: the cluster, its keyspaces and the coarse map, storage nodes. SPEC.md
 * states the invariants, invariants.ts checks them.
 */

import { type LogIndex, type LogTimeMs, type Revision, revisionOf } from "../../base/brands.ts";
import { numberMap, type OrderedMap, stringMap } from "../../base/ordered-map.ts";
import { RequestMemory } from "../common/request-memory.ts";
import { type RootResult, rootResultBytes } from "./commands.ts";
import type { ClusterRecord, KeyspaceRecord, NodeRecord } from "./types.ts";

/** Only the root machine changes it, inside apply(). */
export interface RootState {
  readonly generation: number;
  revision: Revision;
  timeMs: LogTimeMs;
  /** undefined until the first leader's initCluster. */
  cluster: ClusterRecord | undefined;
  readonly keyspaces: OrderedMap<number, KeyspaceRecord>;
  readonly keyspaceIds: OrderedMap<string, number>;
  /** Never goes back: ids are not reused. */
  lastKeyspaceId: number;
  readonly nodes: OrderedMap<string, NodeRecord>;
  readonly requests: RequestMemory<RootResult>;
}

export function emptyRoot(generation: number): RootState {
  const revision = revisionOf(generation, 0 as LogIndex);
  return {
    generation,
    revision,
    timeMs: 0 as LogTimeMs,
    cluster: undefined,
    keyspaces: numberMap(),
    keyspaceIds: stringMap(),
    lastKeyspaceId: 0,
    nodes: stringMap(),
    requests: new RequestMemory(revision, rootResultBytes),
  };
}
