/**
 * Which entries are committed (§5.3, §5.4.2).
 *
 * A leader commits by counting durable copies, and only entries of its own term; all before them
 * are committed with them. Its own copy counts once it is on its own disk.
 */

import { assert, defined } from "../base/assert.ts";
import type { LogIndex } from "../base/brands.ts";
import { quorumIndex } from "./quorum.ts";
import { startRound } from "./read-index.ts";
import type { LeaderRole, RaftState } from "./state.ts";
import { entryBytes } from "./types.ts";

/** A copy more is durable somewhere: perhaps more is committed. */
export function advanceLeaderCommit(state: RaftState, leader: LeaderRole): void {
  const matchIndexes = [state.durability.durableIndex];
  for (const progress of leader.progress) matchIndexes.push(progress.matchIndex);
  const index = quorumIndex(matchIndexes);
  if (index <= state.commitIndex) return;
  // An entry of an earlier term may be on a quorum and still be replaced (Figure 8).
  if (state.log.termAt(index) !== state.term) return;
  for (let at = state.commitIndex + 1; at <= index; at++) {
    const entry = defined(state.log.entryAt(at as LogIndex), "committed entries are in the log");
    leader.uncommittedBytes -= entryBytes(entry);
  }
  assert(leader.uncommittedBytes >= 0, "uncommitted bytes are counted once");
  state.commitIndex = index;
  if (!leader.isReady) {
    leader.isReady = true;
    state.outbox.transition({ kind: "leaderReady", term: state.term });
    startRound(state, leader);
  }
}

/** The leader has committed up to index, and our log is verified up to there. */
export function advanceFollowerCommit(state: RaftState, index: LogIndex): void {
  if (index <= state.commitIndex) return;
  assert(index <= state.log.lastIndex, "a follower holds what it is told to commit (R8)");
  state.commitIndex = index;
}
