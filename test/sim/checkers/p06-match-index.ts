/**
 * Property 6: what a leader counts as matching is durable at that follower, and its own share is
 * what it has synced itself. (That indexes stay in order within one core is checked at every step:
 * raft/invariants.ts.)
 */

import type { LogIndex, ReplicaId } from "../../../src/base/brands.ts";
import { sameEntry } from "../entries.ts";
import type { Step } from "../group-history.ts";
import { must } from "../must.ts";
import type { DurableLog } from "../store-model.ts";

export function checkMatchIndexes(
  { before, after, core }: Step,
  diskOf: (replica: ReplicaId) => DurableLog,
): void {
  if (after.role !== "leader") return;
  for (const [at, { peer, matchIndex }] of after.progress.entries()) {
    if (matchIndex === 0 || before.progress[at]?.matchIndex === matchIndex) continue;
    const disk = diskOf(peer);
    // In a later term the follower may have cut it off again.
    if (disk.hardState.term !== after.term) continue;
    const ours = core.entryAt(matchIndex as LogIndex);
    const isCovered = ours === undefined || disk.base.index >= matchIndex;
    const isHeld = isCovered || sameEntry(disk.entryAt(matchIndex), ours);
    must(isHeld, 6, `${matchIndex} counts as matching at replica ${peer}, whose disk has it not`);
  }
}
