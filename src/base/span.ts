/**
 * Key spans `[startKey, endKey)`. An empty start is -inf; an undefined end is +inf.
 *
 * On the wire and in JSON an empty end means +inf as well: no span ends at the empty key, so the
 * two cannot be confused.
 */

import { type Bytes, bytesEqual, compareBytes, EMPTY_BYTES } from "./bytes.ts";

export interface Span {
  readonly startKey: Bytes;
  /** Exclusive; undefined is +inf. */
  readonly endKey: Bytes | undefined;
}

export const WHOLE_SPAN: Span = { startKey: EMPTY_BYTES, endKey: undefined };

/** Order of exclusive ends, +inf last. */
export function compareEndKeys(a: Bytes | undefined, b: Bytes | undefined): number {
  if (a === undefined || b === undefined) {
    return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0);
  }
  return compareBytes(a, b);
}

export function spanContains(span: Span, key: Bytes): boolean {
  return (
    compareBytes(span.startKey, key) <= 0 &&
    (span.endKey === undefined || compareBytes(key, span.endKey) < 0)
  );
}

export function spansOverlap(a: Span, b: Span): boolean {
  return (
    (a.endKey === undefined || compareBytes(b.startKey, a.endKey) < 0) &&
    (b.endKey === undefined || compareBytes(a.startKey, b.endKey) < 0)
  );
}

/** Whether inner lies within outer, bounds included. */
export function spanCovers(outer: Span, inner: Span): boolean {
  return (
    compareBytes(outer.startKey, inner.startKey) <= 0 &&
    compareEndKeys(inner.endKey, outer.endKey) <= 0
  );
}

export function spansEqual(a: Span, b: Span): boolean {
  return bytesEqual(a.startKey, b.startKey) && compareEndKeys(a.endKey, b.endKey) === 0;
}

/** A span holds at least one key: its start is below its end. */
export function isValidSpan(span: Span): boolean {
  return span.endKey === undefined || compareBytes(span.startKey, span.endKey) < 0;
}
