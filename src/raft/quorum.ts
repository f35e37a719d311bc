/**
 * Majorities: the one place that knows how many voters make a quorum.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex } from "../base/brands.ts";

/** The smallest number of voters of which any two sets share a member. */
export function quorumSize(voters: number): number {
  assert(voters >= 1, "a quorum needs voters");
  return Math.floor(voters / 2) + 1;
}

/**
 * Highest index stored on a majority. One element per voter, self included. Groups are small, so
 * counting beats sorting a copy: this runs at each acknowledgement.
 */
export function quorumIndex(matchIndexes: readonly LogIndex[]): LogIndex {
  const needed = quorumSize(matchIndexes.length);
  let best = 0 as LogIndex;
  for (const candidate of matchIndexes) {
    if (candidate <= best) continue;
    let holders = 0;
    for (const matchIndex of matchIndexes) if (matchIndex >= candidate) holders++;
    if (holders >= needed) best = candidate;
  }
  return best;
}
