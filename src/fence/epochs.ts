/**
 * The port to the owner's durable memory of epochs: per key span, the largest epoch under which its
 * data were ever used here (law 17). It lives with the data it fences, never with the directory.
 */

import type { Epoch } from "../base/brands.ts";
import type { Span } from "../base/span.ts";

/** An epoch about to be used for a span. */
export interface RememberedEpoch {
  readonly keyspace: string;
  readonly span: Span;
  readonly epoch: Epoch;
}

/** One storage node's memory. A single process uses it at a time. */
export interface EpochMemory {
  /**
   * Resolves when all of them are durable, all or none; an epoch lower than one that is remembered
   * for a part of its span lowers nothing. Rejects when the storage fails: nothing may then be
   * served under the epochs, and the seat stops.
   */
  remember(epochs: readonly RememberedEpoch[]): Promise<void>;
  /** The largest epoch remembered for any span that overlaps this one; 0: none. */
  highWater(keyspace: string, span: Span): Epoch;
}
