/**
 * What every step must respect, whichever store keeps it: the rules of Raft that a log can check.
 *
 * A violation is a bug of the caller and stops the process before anything is written (STYLE 5).
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import type { DurableStep } from "../replica/ports.ts";
import type { HardState, LogPosition } from "../raft/types.ts";

/** A group's log as it will be once all that was submitted is durable. */
export interface KnownLog {
  readonly hardState: HardState;
  readonly snapshot: LogPosition;
  /** The entry before the first. */
  readonly base: LogPosition;
  readonly lastIndex: LogIndex;
  /** Term of the entry at an index from the base to the last. */
  termAt(index: LogIndex): Term;
  /** Log time of the entry at an index from the base to the last. */
  timeAt(index: LogIndex): LogTimeMs;
}

/** Asserts that a step may follow what is known. */
export function assertStepFits(known: KnownLog, step: DurableStep): void {
  const hardState = step.hardState ?? known.hardState;
  assertHardStateFits(known.hardState, hardState);
  const kept = lastKeptIndex(known, step);
  assert(kept >= known.hardState.commitIndex, "a committed entry is never truncated");
  const base = step.base ?? known.base;
  assertPositionFits({ known, kept, from: known.base, to: base, what: "a base" });
  const start =
    base.index > kept
      ? base
      : { index: kept, term: known.termAt(kept), timeMs: known.timeAt(kept) };
  let { index, term, timeMs } = start;
  for (const entry of step.entries) {
    assert(entry.index === index + 1, "entries are contiguous with what is kept");
    assert(entry.term >= term, "terms never decrease along the log (§5.3)");
    assert(entry.timeMs >= timeMs, "log time never decreases along the log (law 7)");
    ({ index, term, timeMs } = entry);
  }
  assert(term <= hardState.term, "the current term is no older than the last entry's");
  assert(hardState.commitIndex <= index, "the commit index lies within the log");
  const snapshot = step.snapshot ?? known.snapshot;
  assertPositionFits({ known, kept, from: known.snapshot, to: snapshot, what: "a snapshot" });
  assert(base.index <= snapshot.index, "what a log no longer holds is in its snapshot");
  assert(snapshot.index <= hardState.commitIndex, "a snapshot holds what is committed");
}

/** Index of the last entry that a step leaves in place. */
export function lastKeptIndex(known: KnownLog, step: DurableStep): LogIndex {
  if (step.truncateFrom === undefined) return known.lastIndex;
  assert(step.truncateFrom >= 1, "an index is at least 1");
  return Math.min(known.lastIndex, step.truncateFrom - 1) as LogIndex;
}

function assertHardStateFits(before: HardState, after: HardState): void {
  assert(after.term >= before.term, "the current term never decreases (§5.1)");
  const isVoteKept =
    after.term > before.term || before.votedFor === undefined || after.votedFor === before.votedFor;
  assert(isVoteKept, "a vote is given once per term (§5.2)");
}

/** A position only moves on, and where the log holds it, it is the log's. */
function assertPositionFits(move: {
  readonly known: KnownLog;
  readonly kept: LogIndex;
  readonly from: LogPosition;
  readonly to: LogPosition;
  readonly what: string;
}): void {
  const { known, kept, from, to, what } = move;
  if (to === from) return;
  assert(to.index >= from.index, `${what} never goes back`);
  const isHeld = to.index >= known.base.index && to.index <= kept;
  const isAsHeld =
    !isHeld || (known.termAt(to.index) === to.term && known.timeAt(to.index) === to.timeMs);
  assert(isAsHeld, `${what} within the log is a position of it`);
}
