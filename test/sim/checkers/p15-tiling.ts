/**
 * Property 15: the ranges of a keyspace tile -inf to +inf at every position.
 */

import { bytesEqual, type Bytes, EMPTY_BYTES } from "../../../src/base/bytes.ts";
import { isValidSpan } from "../../../src/base/span.ts";
import type { RangeRecord } from "../../../src/machine/shard/types.ts";
import { must } from "../must.ts";
import type { RevisionSeen } from "../range-versions.ts";

const CHANGES_BOUNDS: ReadonlySet<string> = new Set([
  "keyspaceCreated",
  "rangesDefined",
  "imported",
]);

/** Only what changes bounds is looked at; everything else may change none. */
export function checkTiling(
  { revision, changes }: RevisionSeen,
  mapOf: (keyspaceId: number) => readonly RangeRecord[],
): void {
  const keyspaceIds = new Set<number>();
  for (const { cause, keyspaceId, before, after } of changes) {
    if (CHANGES_BOUNDS.has(cause)) {
      keyspaceIds.add(keyspaceId);
      continue;
    }
    const isKept = before !== undefined && after !== undefined && sameBounds(before, after);
    must(isKept, 15, `"${cause}" at ${revision} changes bounds`);
  }
  for (const keyspaceId of keyspaceIds) checkMap(keyspaceId, mapOf(keyspaceId));
}

function checkMap(keyspaceId: number, ranges: readonly RangeRecord[]): void {
  let expected: Bytes | undefined = EMPTY_BYTES;
  for (const record of ranges) {
    const meets: boolean = expected !== undefined && bytesEqual(expected, record.startKey);
    must(
      meets && isValidSpan(record),
      15,
      `keyspace ${keyspaceId}: ${record.rangeId} leaves a gap`,
    );
    expected = record.endKey;
  }
  const isWhole = ranges.length > 0 && expected === undefined;
  must(isWhole, 15, `keyspace ${keyspaceId} ends before +inf`);
}

function sameBounds(a: RangeRecord, b: RangeRecord): boolean {
  const sameEnd =
    a.endKey === undefined || b.endKey === undefined
      ? a.endKey === b.endKey
      : bytesEqual(a.endKey, b.endKey);
  return sameEnd && bytesEqual(a.startKey, b.startKey) && a.rangeId === b.rangeId;
}
