/**
 * The leader's side of log replication (§5.3): what is sent to whom, and what answers mean.
 *
 * Appends leave beside the leader's own write. In replicate mode they stream ahead of their
 * answers until the window is full; what is appended meanwhile gathers and leaves in one message
 * with the next acknowledgement. Lost messages are found by the heartbeat: a follower that answers
 * it and has left an append open is asked again.
 */

import { assert, defined } from "../base/assert.ts";
import type { LogIndex, ReplicaId } from "../base/brands.ts";
import { advanceLeaderCommit } from "./commit.ts";
import { noticeCommit } from "./heartbeat.ts";
import type { AppendEntries, AppendEntriesReply, HeartbeatReply } from "./messages.ts";
import type { Progress } from "./progress.ts";
import { confirmRound } from "./read-index.ts";
import { offerSnapshot } from "./snapshot.ts";
import { type LeaderRole, progressOf, type RaftState } from "./state.ts";
import { type Entry, entryBytes } from "./types.ts";

/** Appends to our own log, for the disk and for everyone. */
export function appendAsLeader(state: RaftState, leader: LeaderRole, entry: Entry): void {
  const entries = [entry];
  state.log.append(entries);
  state.outbox.append(entries);
  leader.uncommittedBytes += entryBytes(entry);
  let shared: AppendEntries | undefined;
  for (const progress of leader.progress) shared = sendAppends(state, progress, shared);
}

export function onAppendEntriesReply(
  state: RaftState,
  leader: LeaderRole,
  from: ReplicaId,
  reply: AppendEntriesReply,
): void {
  const progress = progressOf(leader, from);
  progress.contactElapsedTicks = 0;
  const { result } = reply;
  if (result.kind === "rejected") {
    // Where the logs agree may lie below our base: then a snapshot is what it needs.
    const found = state.log.lastIndexWithTermAtMost(result.hintTerm, result.hintIndex);
    const retryIndex = found ?? (0 as LogIndex);
    if (progress.rejected(result.prevIndex, retryIndex)) sendAppends(state, progress, undefined);
    return;
  }
  assert(result.matchIndex <= state.log.lastIndex, "followers acknowledge only what we sent");
  if (progress.accepted(result.matchIndex, state.log.base.index))
    advanceLeaderCommit(state, leader);
  sendAppends(state, progress, undefined);
  noticeCommit(state, leader);
}

export function onHeartbeatReply(
  state: RaftState,
  leader: LeaderRole,
  from: ReplicaId,
  reply: HeartbeatReply,
): void {
  assert(reply.round <= leader.reads.round, "followers answer rounds that we started");
  const progress = progressOf(leader, from);
  progress.contactElapsedTicks = 0;
  if (reply.round > progress.ackedRound) progress.ackedRound = reply.round;
  if (progress.takeResend()) askAgain(state, progress);
  else sendAppends(state, progress, undefined);
  confirmRound(state, leader);
}

/** The connection to a follower broke: what was under way is lost, as far as we know. */
export function onFollowerUnreachable(leader: LeaderRole, peer: ReplicaId): void {
  progressOf(leader, peer).disconnected();
}

/**
 * Sends what the follower's window lets through. Followers at the same place are sent the same
 * message object: shared is the one that the last of them got.
 */
function sendAppends(
  state: RaftState,
  progress: Progress,
  shared: AppendEntries | undefined,
): AppendEntries | undefined {
  let append = shared;
  while (progress.mayAppend(state.config.inflightMessagesMax)) {
    if (progress.nextIndex <= state.log.base.index) {
      offerSnapshot(state, progress);
      break;
    }
    // A probe is worth sending without entries: it finds out where the logs match.
    if (progress.mode === "replicate" && progress.nextIndex > state.log.lastIndex) break;
    if (append?.prevIndex !== progress.nextIndex - 1) {
      const { appendBytesMax } = state.config;
      append = buildAppend(
        state,
        progress,
        state.log.sliceByBytes(progress.nextIndex, appendBytesMax),
      );
    }
    sendAppend(state, progress, append);
    progress.sent((append.prevIndex + append.entries.length) as LogIndex);
  }
  return append;
}

/** Asks, without sending them again, whether the entries or the snapshot have arrived. */
function askAgain(state: RaftState, progress: Progress): void {
  if (progress.mode === "snapshot" || progress.nextIndex <= state.log.base.index) {
    offerSnapshot(state, progress);
    return;
  }
  sendAppend(state, progress, buildAppend(state, progress, []));
}

function buildAppend(
  state: RaftState,
  progress: Progress,
  entries: readonly Entry[],
): AppendEntries {
  const prevIndex = (progress.nextIndex - 1) as LogIndex;
  return {
    kind: "appendEntries",
    term: state.term,
    prevIndex,
    prevTerm: defined(state.log.termAt(prevIndex), "nextIndex is at most one beyond the log (R12)"),
    commitIndex: state.commitIndex,
    entries,
  };
}

function sendAppend(state: RaftState, progress: Progress, append: AppendEntries): void {
  const verifiedIndex = append.prevIndex + append.entries.length;
  const toldIndex = Math.min(append.commitIndex, verifiedIndex) as LogIndex;
  if (toldIndex > progress.toldCommitIndex) progress.toldCommitIndex = toldIndex;
  state.outbox.sendNow(progress.peer, append);
}
