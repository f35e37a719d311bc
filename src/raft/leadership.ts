/**
 * A leader's office: taking it, keeping it tick by tick, and giving it up.
 *
 * Sources: Raft §5.2, §8 (the no-op that opens a term); Ongaro §6.2 (a leader that no quorum
 * answers steps down). A leader whose disk hangs steps down too: heartbeats must not outlive the
 * ability to persist.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex } from "../base/brands.ts";
import { EMPTY_BYTES } from "../base/bytes.ts";
import { broadcastHeartbeats } from "./heartbeat.ts";
import type { ProposeInput } from "./input.ts";
import { LogTimeClock } from "./log-time.ts";
import { Progress } from "./progress.ts";
import { newReadRounds } from "./read-index.ts";
import { appendAsLeader } from "./replication.ts";
import { stepDown } from "./role.ts";
import { type LeaderRole, leaderOf, type RaftState } from "./state.ts";
import { tickTransfer } from "./transfer.ts";
import { ENTRY_OVERHEAD_BYTES } from "./types.ts";

/**
 * Shortest election timeouts that one persist step may take before the leader resigns: long enough
 * for a disk that is only slow, short enough that clients see no outage of minutes.
 */
const DISK_STALL_TIMEOUTS = 4;

/** A quorum voted for us in this term, our own durable vote included. */
export function becomeLeader(state: RaftState): void {
  assert(state.votedFor === state.self, "a leader voted for itself (R6)");
  assert(state.durability.term === state.term, "a leader's term is on its disk (R7)");
  const nextIndex = (state.log.lastIndex + 1) as LogIndex;
  const clock = new LogTimeClock({
    lastTimeMs: state.log.lastTimeMs,
    nowMs: state.nowMs,
    tickMs: state.config.tickMs,
  });
  const leader: LeaderRole = {
    kind: "leader",
    progress: state.peers.map((peer) => new Progress(peer, nextIndex)),
    clock,
    isReady: false,
    heartbeatElapsedTicks: 0,
    uncommittedBytes: state.log.bytesAfter(state.commitIndex),
    reads: newReadRounds(),
    transfer: undefined,
  };
  state.role = leader;
  state.outbox.transition({ kind: "becameLeader", term: state.term });
  appendAsLeader(state, leader, {
    index: nextIndex,
    term: state.term,
    kind: "noop",
    timeMs: clock.timeMs,
    payload: EMPTY_BYTES,
  });
}

/**
 * Appends a command, unless this replica doesn't lead, is moving its office, or too much is
 * uncommitted already.
 */
export function propose(state: RaftState, input: ProposeInput): void {
  const { role, outbox } = state;
  const { proposalId: id, payload } = input;
  if (role.kind !== "leader") {
    outbox.refused({ kind: "proposal", id, reason: "notLeader", leaderId: leaderOf(state) });
    return;
  }
  if (role.transfer !== undefined) {
    const leaderId = role.transfer.target;
    outbox.refused({ kind: "proposal", id, reason: "leaderChanged", leaderId });
    return;
  }
  const bytes = role.uncommittedBytes + payload.length + ENTRY_OVERHEAD_BYTES;
  if (role.uncommittedBytes > 0 && bytes > state.config.uncommittedBytesMax) {
    outbox.refused({ kind: "proposal", id, reason: "overloaded", leaderId: state.self });
    return;
  }
  const index = (state.log.lastIndex + 1) as LogIndex;
  const { term } = state;
  outbox.proposed({ proposalId: id, index, term });
  const entry = { index, term, kind: "command", timeMs: role.clock.timeMs, payload } as const;
  appendAsLeader(state, role, entry);
}

export function tickLeader(state: RaftState, leader: LeaderRole): void {
  leader.clock.startTick();
  const { electionTimeoutTicksMin, heartbeatTicks } = state.config;
  let inContact = 1;
  for (const progress of leader.progress) {
    progress.contactElapsedTicks++;
    if (progress.contactElapsedTicks < electionTimeoutTicksMin) inContact++;
    // It is offered what there is when it comes back.
    else if (progress.mode === "snapshot") progress.startProbing();
  }
  if (inContact < state.quorum) {
    stepDown(state, "quorumLost");
    return;
  }
  if (state.durability.stalledTicks >= DISK_STALL_TIMEOUTS * electionTimeoutTicksMin) {
    stepDown(state, "diskStalled");
    return;
  }
  tickTransfer(state, leader);
  leader.heartbeatElapsedTicks++;
  if (leader.heartbeatElapsedTicks < heartbeatTicks) return;
  leader.heartbeatElapsedTicks = 0;
  for (const progress of leader.progress) progress.heartbeatSent();
  broadcastHeartbeats(state, leader);
}
