/**
 * What a shard's entry changed, as data: the input of the watch fan-out on every replica.
 *
 * One event per cause and keyspace; a session's mass expiry is one event however many ranges end
 * (law 9). Within an entry events are in the order in which they took effect, and a range may occur
 * twice (its lease ended, then it was granted to its successor).
 */

import type { RangeRecord } from "./types.ts";

export type EventCause =
  | "keyspaceCreated"
  | "rangesDefined"
  | "imported"
  | "granted"
  | "released"
  | "expired"
  /** Its owner's process is proven dead, and the node's next process has come (law 13). */
  | "restarted"
  | "successorSet"
  | "successorLifted"
  | "accepted";

export interface ShardEvent {
  readonly cause: EventCause;
  readonly keyspaceId: number;
  readonly changes: readonly RecordChange[];
}

/** undefined before: the range is new; undefined after: it is retired. Never both. */
export interface RecordChange {
  readonly before: RangeRecord | undefined;
  readonly after: RangeRecord | undefined;
}
