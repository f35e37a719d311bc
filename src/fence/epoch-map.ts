/**
 * Epochs by key span, in memory: what an epoch memory keeps, and how a new epoch changes it. A span
 * that a later epoch covers wholly is forgotten; one that it covers in part stays, because the rest
 * of it is fenced by nothing else (law 17).
 */

import { type Bytes, bytesToHex, compareBytes } from "../base/bytes.ts";
import type { Epoch } from "../base/brands.ts";
import { OrderedMap } from "../base/ordered-map.ts";
import { type Span, spanCovers, spansOverlap } from "../base/span.ts";
import type { RememberedEpoch } from "./epochs.ts";

/** What to store and what to delete so that the stored form follows. */
export interface EpochMapChange {
  readonly put: readonly RememberedEpoch[];
  readonly drop: readonly RememberedEpoch[];
}

/** One text per keyspace and span: the key under which a stored form keeps it. */
export function spanKey({ keyspace, span }: Pick<RememberedEpoch, "keyspace" | "span">): string {
  const end = span.endKey === undefined ? "inf" : bytesToHex(span.endKey);
  return `${keyspace}/${bytesToHex(span.startKey)}-${end}`;
}

export class EpochMap {
  /** Per keyspace, by start key; spans with the same start stand side by side. */
  readonly #keyspaces = new Map<string, OrderedMap<Bytes, readonly RememberedEpoch[]>>();

  highWater(keyspace: string, span: Span): Epoch {
    let highest = 0 as Epoch;
    for (const known of this.#overlapping(keyspace, span)) {
      if (known.epoch > highest) highest = known.epoch;
    }
    return highest;
  }

  /**
   * What remembering these would change; nothing is changed yet. To be applied in this order: first
   * what is dropped, then what is put, of which the last for a span is the largest.
   */
  changeFor(epochs: readonly RememberedEpoch[]): EpochMapChange {
    const put: RememberedEpoch[] = [];
    const drop: RememberedEpoch[] = [];
    for (const next of epochs.toSorted((a, b) => a.epoch - b.epoch)) {
      const known = [...this.#overlapping(next.keyspace, next.span)];
      const covered = known.filter(
        (one) => spanCovers(next.span, one.span) && one.epoch <= next.epoch,
      );
      const isNews = !known.some(
        (one) => spanCovers(one.span, next.span) && one.epoch >= next.epoch,
      );
      if (!isNews) continue;
      put.push(next);
      drop.push(...covered.filter((one) => spanKey(one) !== spanKey(next)));
    }
    return { put, drop };
  }

  apply({ put, drop }: EpochMapChange): void {
    for (const old of drop) this.#remove(old);
    for (const next of put) {
      this.#remove(next);
      const ofKeyspace = this.#ofKeyspace(next.keyspace);
      const beside = ofKeyspace.get(next.span.startKey) ?? [];
      ofKeyspace.set(next.span.startKey, [...beside, next]);
    }
  }

  #remove(old: RememberedEpoch): void {
    const ofKeyspace = this.#ofKeyspace(old.keyspace);
    const beside = ofKeyspace.get(old.span.startKey) ?? [];
    const rest = beside.filter((one) => spanKey(one) !== spanKey(old));
    if (rest.length > 0) ofKeyspace.set(old.span.startKey, rest);
    else ofKeyspace.delete(old.span.startKey);
  }

  #ofKeyspace(keyspace: string): OrderedMap<Bytes, readonly RememberedEpoch[]> {
    let ofKeyspace = this.#keyspaces.get(keyspace);
    if (ofKeyspace === undefined) {
      ofKeyspace = new OrderedMap(compareBytes);
      this.#keyspaces.set(keyspace, ofKeyspace);
    }
    return ofKeyspace;
  }

  /** Spans may overlap one another, so any that starts before the end may reach in. */
  *#overlapping(keyspace: string, span: Span): Generator<RememberedEpoch> {
    const ofKeyspace = this.#keyspaces.get(keyspace);
    if (ofKeyspace === undefined) return;
    for (const [startKey, beside] of ofKeyspace.entries()) {
      if (span.endKey !== undefined && compareBytes(startKey, span.endKey) >= 0) return;
      for (const known of beside) if (spansOverlap(known.span, span)) yield known;
    }
  }
}
