/**
 * Heartbeats: what a leader says when it has nothing to append.
 *
 * One carries the present read round (Ongaro §6.4) and as much of the commit index as the follower
 * is known to hold; it never touches the follower's log. They go out each interval, when a read
 * round starts, and, as round 0, to tell a follower without traffic of a commit.
 */

import type { LogIndex } from "../base/brands.ts";
import type { Progress } from "./progress.ts";
import type { LeaderRole, RaftState } from "./state.ts";

/** Wants no answer: the commit index alone. */
const COMMIT_NOTICE_ROUND = 0;

export function broadcastHeartbeats(state: RaftState, leader: LeaderRole): void {
  for (const progress of leader.progress) sendHeartbeat(state, progress, leader.reads.round);
}

/**
 * Tells followers of a commit that no append is under way to carry. Where appends are under way,
 * the next one or the next acknowledgement takes care of it.
 */
export function noticeCommit(state: RaftState, leader: LeaderRole): void {
  for (const progress of leader.progress) {
    if (progress.mode !== "replicate" || progress.inflightMessages > 0) continue;
    if (tellableCommitIndex(state, progress) <= progress.toldCommitIndex) continue;
    sendHeartbeat(state, progress, COMMIT_NOTICE_ROUND);
  }
}

function sendHeartbeat(state: RaftState, progress: Progress, round: number): void {
  const commitIndex = tellableCommitIndex(state, progress);
  if (commitIndex > progress.toldCommitIndex) progress.toldCommitIndex = commitIndex;
  state.outbox.sendNow(progress.peer, {
    kind: "heartbeat",
    term: state.term,
    commitIndex,
    round,
  });
}

/** A follower is told of no more than it is known to hold of our log (§5.3). */
function tellableCommitIndex(state: RaftState, progress: Progress): LogIndex {
  return Math.min(state.commitIndex, progress.matchIndex) as LogIndex;
}
