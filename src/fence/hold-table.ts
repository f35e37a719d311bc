/**
 * Holds by range id and by key. Ranges of one keyspace never overlap, so the hold of a key is the
 * one with the largest start key at or below it, if it reaches that far.
 */

import { type Bytes, bytesEqual, compareBytes } from "../base/bytes.ts";
import { OrderedMap } from "../base/ordered-map.ts";
import { spanContains } from "../base/span.ts";
import type { Hold } from "./hold.ts";

export class HoldTable {
  readonly #byId = new Map<string, Hold>();
  readonly #byKey = new Map<string, OrderedMap<Bytes, Hold>>();

  /** A copy, so that holds may be put and deleted while it is walked. */
  all(): readonly Hold[] {
    return [...this.#byId.values()];
  }

  get(rangeId: string): Hold | undefined {
    return this.#byId.get(rangeId);
  }

  find(keyspace: string, key: Bytes): Hold | undefined {
    const hold = this.#byKey.get(keyspace)?.floor(key)?.[1];
    return hold !== undefined && spanContains(hold.record.descriptor.span, key) ? hold : undefined;
  }

  /** Adds it, or replaces the hold of the same range. */
  put(hold: Hold): void {
    const { keyspace, rangeId, span } = hold.record.descriptor;
    const before = this.#byId.get(rangeId);
    if (before !== undefined) {
      const startsElsewhere = !bytesEqual(before.record.descriptor.span.startKey, span.startKey);
      if (startsElsewhere) this.delete(rangeId);
    }
    this.#byId.set(rangeId, hold);
    let ofKeyspace = this.#byKey.get(keyspace);
    if (ofKeyspace === undefined) {
      ofKeyspace = new OrderedMap(compareBytes);
      this.#byKey.set(keyspace, ofKeyspace);
    }
    ofKeyspace.set(span.startKey, hold);
  }

  delete(rangeId: string): void {
    const hold = this.#byId.get(rangeId);
    if (hold === undefined) return;
    this.#byId.delete(rangeId);
    const { keyspace, span } = hold.record.descriptor;
    const ofKeyspace = this.#byKey.get(keyspace);
    const indexed = ofKeyspace?.get(span.startKey);
    if (indexed?.record.descriptor.rangeId === rangeId) ofKeyspace?.delete(span.startKey);
  }
}
