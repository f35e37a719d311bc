/**
 * Log entries by content: a restarted server reads new objects from its disk.
 */

import { bytesEqual } from "../../src/base/bytes.ts";
import type { Entry } from "../../src/raft/types.ts";

export function sameEntry(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.index === b.index &&
    a.term === b.term &&
    a.kind === b.kind &&
    a.timeMs === b.timeMs &&
    bytesEqual(a.payload, b.payload)
  );
}

/** One number for (index, term): terms of a simulation stay small. */
export function positionKey({ index, term }: Pick<Entry, "index" | "term">): number {
  return index * 2 ** 20 + term;
}
