/**
 * The follower's side of log replication (§5.3): appends and heartbeats from the leader.
 *
 * What a message verifies is prevIndex + its entries, and nothing beyond: our log may go on with
 * entries that this leader never had. Both the acknowledgement and the commit index stop there.
 */

import { assert, defined } from "../base/assert.ts";
import type { LogIndex, ReplicaId, Term } from "../base/brands.ts";
import { advanceFollowerCommit } from "./commit.ts";
import type { AppendEntries, AppendEntriesReply, Heartbeat } from "./messages.ts";
import { followLeader } from "./role.ts";
import { type RaftState, sendInTerm } from "./state.ts";

export function onAppendEntries(state: RaftState, from: ReplicaId, append: AppendEntries): void {
  const { log } = state;
  const { prevIndex, prevTerm, entries } = append;
  if (append.term < state.term) {
    reject(state, from, append);
    return;
  }
  followLeader(state, from);
  // What was compacted away was committed, so every later leader has it, and it matches.
  if (prevIndex >= log.base.index && log.termAt(prevIndex) !== prevTerm) {
    reject(state, from, append);
    return;
  }
  storeEntries(state, append);
  const verifiedIndex = (prevIndex + entries.length) as LogIndex;
  advanceFollowerCommit(state, Math.min(append.commitIndex, verifiedIndex) as LogIndex);
  acknowledge(state, from, verifiedIndex);
}

export function onHeartbeat(state: RaftState, from: ReplicaId, heartbeat: Heartbeat): void {
  const { term } = state;
  if (heartbeat.term < term) {
    // Rounds are counted per term. The sender may lead again in our term by now, and must not take
    // the echo of an old round for an answer to a new one.
    sendInTerm(state, from, { kind: "heartbeatReply", term, round: 0 });
    return;
  }
  followLeader(state, from);
  advanceFollowerCommit(state, heartbeat.commitIndex);
  const { round } = heartbeat;
  if (round > 0) sendInTerm(state, from, { kind: "heartbeatReply", term, round });
}

/** Entry by entry: keeps what agrees, cuts at the first real conflict, appends the rest. */
function storeEntries(state: RaftState, append: AppendEntries): void {
  const { log } = state;
  const { entries } = append;
  let position = Math.max(0, log.base.index - append.prevIndex);
  while (position < entries.length) {
    const entry = defined(entries[position], "positions below the length exist");
    const ours = log.termAt(entry.index);
    if (ours === undefined) break;
    if (ours !== entry.term) {
      truncate(state, entry.index);
      break;
    }
    position++;
  }
  if (position >= entries.length) return;
  const added = position === 0 ? entries : entries.slice(position);
  log.append(added);
  assert(log.lastTerm <= append.term, "a leader's entries are not of later terms (R2)");
  state.outbox.append(added);
}

function truncate(state: RaftState, fromIndex: LogIndex): void {
  assert(fromIndex > state.commitIndex, "what is committed is never truncated (R10)");
  state.log.truncate(fromIndex);
  state.durability.truncated(fromIndex);
  state.outbox.truncate(fromIndex);
  state.outbox.transition({ kind: "truncated", fromIndex });
}

/** Everything up to matchIndex is the leader's, and leaves here once it is on our disk (R7). */
export function acknowledge(state: RaftState, to: ReplicaId, matchIndex: LogIndex): void {
  const { durability, outbox } = state;
  const reply: AppendEntriesReply = {
    kind: "appendEntriesReply",
    term: state.term,
    result: { kind: "accepted", matchIndex },
  };
  if (matchIndex <= durability.durableIndex) sendInTerm(state, to, reply);
  else outbox.sendAfterPersist(to, reply);
}

/**
 * Our log does not match there, or the asker is deposed. Tells where to look next: below all
 * entries of terms that the leader cannot have there.
 */
export function reject(
  state: RaftState,
  to: ReplicaId,
  asked: { readonly prevIndex: LogIndex; readonly prevTerm: Term },
): void {
  const { log } = state;
  const found = log.lastIndexWithTermAtMost(asked.prevTerm, asked.prevIndex);
  // Only a deposed leader can be told of the base: the present one has all that is committed.
  const hintIndex = found ?? log.base.index;
  sendInTerm(state, to, {
    kind: "appendEntriesReply",
    term: state.term,
    result: {
      kind: "rejected",
      prevIndex: asked.prevIndex,
      hintIndex,
      hintTerm: defined(log.termAt(hintIndex), "a hint lies within the log"),
    },
  });
}
