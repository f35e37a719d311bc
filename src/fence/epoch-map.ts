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

interface KeyspaceEpochs {
  /** Pairwise disjoint, by start key: only the one at or before a key can reach over it. */
  readonly disjoint: OrderedMap<Bytes, RememberedEpoch>;
  /** Those that overlap one of them: few, since ranges of a keyspace tile it. */
  readonly overlapping: Map<string, RememberedEpoch>;
}

export class EpochMap {
  readonly #keyspaces = new Map<string, KeyspaceEpochs>();

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
      const { disjoint, overlapping } = this.#ofKeyspace(next.keyspace);
      const meets = reachedBy(disjoint, next.span).next().done !== true;
      if (meets) overlapping.set(spanKey(next), next);
      else disjoint.set(next.span.startKey, next);
    }
  }

  #remove(old: RememberedEpoch): void {
    const { disjoint, overlapping } = this.#ofKeyspace(old.keyspace);
    if (overlapping.delete(spanKey(old))) return;
    const there = disjoint.get(old.span.startKey);
    if (there !== undefined && spanKey(there) === spanKey(old)) disjoint.delete(old.span.startKey);
  }

  #ofKeyspace(keyspace: string): KeyspaceEpochs {
    let ofKeyspace = this.#keyspaces.get(keyspace);
    if (ofKeyspace === undefined) {
      ofKeyspace = { disjoint: new OrderedMap(compareBytes), overlapping: new Map() };
      this.#keyspaces.set(keyspace, ofKeyspace);
    }
    return ofKeyspace;
  }

  *#overlapping(keyspace: string, span: Span): Generator<RememberedEpoch> {
    const ofKeyspace = this.#keyspaces.get(keyspace);
    if (ofKeyspace === undefined) return;
    yield* reachedBy(ofKeyspace.disjoint, span);
    for (const known of ofKeyspace.overlapping.values()) {
      if (spansOverlap(known.span, span)) yield known;
    }
  }
}

/** Those of the disjoint ones that a span overlaps, in key order. */
function* reachedBy(
  disjoint: OrderedMap<Bytes, RememberedEpoch>,
  span: Span,
): Generator<RememberedEpoch> {
  const before = disjoint.floor(span.startKey)?.[1];
  if (before !== undefined && spansOverlap(before.span, span)) yield before;
  for (const [startKey, known] of disjoint.entriesFrom(span.startKey)) {
    if (span.endKey !== undefined && compareBytes(startKey, span.endKey) >= 0) return;
    if (known !== before) yield known;
  }
}
