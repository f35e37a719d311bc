/**
 * Ranges as they stood at an earlier revision: the present ones, with every later change undone.
 * Lists use it to give all pages of one answer at the revision of the first.
 */

import { assert, defined } from "../base/assert.ts";
import { type Bytes, compareBytes } from "../base/bytes.ts";
import type { Revision } from "../base/brands.ts";
import { compareEndKeys, type Span, spansOverlap } from "../base/span.ts";
import type { RangeRecord } from "../machine/shard/types.ts";
import type { EventHistory } from "./history.ts";

/** The present records of a keyspace, in key order. */
export interface PresentRecords {
  /** From the range that holds `startKey` on. */
  from(startKey: Bytes): Iterable<RangeRecord>;
}

export interface PastQuery {
  readonly keyspaceId: number;
  readonly span: Span;
  /** Not below the history's floor. */
  readonly revision: Revision;
}

/** Records that overlap the span, in key order, as of the revision. */
export function* recordsAt(
  present: PresentRecords,
  history: EventHistory,
  query: PastQuery,
): Generator<RangeRecord> {
  const { span, revision } = query;
  assert(revision >= history.floor, "only kept revisions can be listed");
  const { touched, past } = undoLaterChanges(history, query);
  let nextPast = 0;
  for (const record of present.from(span.startKey)) {
    if (span.endKey !== undefined && compareEndKeys(record.startKey, span.endKey) >= 0) break;
    if (touched.has(record.rangeId)) continue;
    for (; nextPast < past.length; nextPast++) {
      const earlier = defined(past[nextPast], "the position is in the list");
      if (compareBytes(earlier.startKey, record.startKey) > 0) break;
      yield earlier;
    }
    if (spansOverlap(span, record)) yield record;
  }
  yield* past.slice(nextPast);
}

/** What was changed since, and how those records stood then, in key order. */
function undoLaterChanges(
  history: EventHistory,
  { keyspaceId, span, revision }: PastQuery,
): { readonly touched: ReadonlySet<string>; readonly past: readonly RangeRecord[] } {
  const touched = new Set<string>();
  const past: RangeRecord[] = [];
  for (const { events } of history.after(revision)) {
    for (const event of events) {
      if (event.keyspaceId !== keyspaceId) continue;
      for (const { before, after } of event.changes) {
        const { rangeId } = defined(before ?? after, "a change has a record");
        // Only the first change since tells how the record stood.
        if (touched.has(rangeId)) continue;
        touched.add(rangeId);
        if (before !== undefined && spansOverlap(span, before)) past.push(before);
      }
    }
  }
  return { touched, past: past.toSorted((a, b) => compareBytes(a.startKey, b.startKey)) };
}
