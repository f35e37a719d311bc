/**
 * Elections: votes and timeouts.
 *
 * Sources: Raft §5.1, §5.2, §5.4.1; Ongaro §4.2.3 (stickiness), §9.6 (pre-vote). A term rises only
 * after a quorum has said that it would vote.
 *
 * Stickiness: who heard from a leader within the shortest election timeout refuses votes and
 * pre-votes and doesn't take over their term, or one cut-off replica could unseat a good leader.
 * Only a vote that the leader itself has asked for passes (transfer.ts).
 * Every other message with a higher term is adopted, refusals of all kinds included, so that a
 * replica with a higher term is never left out for good: its refusals reach the leader.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, ReplicaId, Term } from "../base/brands.ts";
import { becomeLeader } from "./leadership.ts";
import type {
  PreVote,
  PreVoteReply,
  RequestVote,
  RequestVoteReply,
  TimeoutNow,
} from "./messages.ts";
import { refuseReadsOf, tickForwardedReads } from "./read-index.ts";
import { adoptTerm, becomeFollower, followLeader } from "./role.ts";
import {
  type CandidateRole,
  type FollowerRole,
  leaderOf,
  type RaftState,
  sendInTerm,
} from "./state.ts";

/**
 * Ticks within which a follower campaigns once the connection to its leader broke. Drawn, so that
 * followers who notice at once don't stand at once; few, because that is what fail-over waits for.
 */
const UNREACHABLE_TIMEOUT_TICKS_MAX = 4;

export function tickElection(state: RaftState, role: FollowerRole | CandidateRole): void {
  const { electionTimeoutTicksMin, electionTimeoutTicksMax } = state.config;
  if (role.kind === "follower") tickForwardedReads(state, role);
  role.electionElapsedTicks++;
  if (role.electionTimeoutTicks === undefined) {
    if (role.electionElapsedTicks <= electionTimeoutTicksMin) return;
    const shortest = electionTimeoutTicksMin + 1;
    role.electionTimeoutTicks = state.prng.nextInteger(shortest, electionTimeoutTicksMax);
  }
  if (role.electionElapsedTicks < role.electionTimeoutTicks) return;
  // A replica whose disk hangs cannot make its own vote durable: it would only raise the term.
  if (state.durability.stalledTicks >= electionTimeoutTicksMin) return;
  startPreVote(state);
}

/** The connection to the leader broke: believe it gone, and stand soon if nobody else does. */
export function onLeaderUnreachable(state: RaftState, role: FollowerRole): void {
  role.leaderId = undefined;
  role.electionElapsedTicks = 0;
  role.electionTimeoutTicks = state.prng.nextInteger(1, UNREACHABLE_TIMEOUT_TICKS_MAX);
  refuseReadsOf(state, role);
  state.outbox.transition({ kind: "becameFollower", term: state.term, leaderId: undefined });
}

export function onPreVote(state: RaftState, from: ReplicaId, request: PreVote): void {
  const isSticky = hearsLeader(state);
  if (!isSticky && request.term > state.term) adoptTerm(state, request.term, undefined);
  const granted = !isSticky && request.nextTerm > state.term && isUpToDate(state, request);
  const { term } = state;
  sendInTerm(state, from, { kind: "preVoteReply", term, nextTerm: request.nextTerm, granted });
}

export function onPreVoteReply(state: RaftState, from: ReplicaId, reply: PreVoteReply): void {
  const { role } = state;
  if (role.kind !== "preCandidate" || !reply.granted) return;
  if (reply.nextTerm === state.term + 1) countVote(state, role, from);
}

export function onRequestVote(state: RaftState, from: ReplicaId, request: RequestVote): void {
  const isSticky = !request.isTransfer && hearsLeader(state);
  if (!isSticky && request.term > state.term) adoptTerm(state, request.term, undefined);
  const isOpenTerm = request.term === state.term && leaderOf(state) === undefined;
  const isFree = state.votedFor === undefined || state.votedFor === from;
  if (!isOpenTerm || !isFree || !isUpToDate(state, request)) {
    sendInTerm(state, from, { kind: "requestVoteReply", term: state.term, granted: false });
    return;
  }
  if (state.votedFor === undefined) castVote(state, from);
  // Also when repeated: the vote's own step may still be on its way to the disk.
  state.outbox.sendAfterPersist(from, {
    kind: "requestVoteReply",
    term: state.term,
    granted: true,
  });
}

export function onRequestVoteReply(
  state: RaftState,
  from: ReplicaId,
  reply: RequestVoteReply,
): void {
  const { role } = state;
  if (role.kind !== "candidate" || !reply.granted || reply.term !== state.term) return;
  countVote(state, role, from);
}

/**
 * A leader whose whole log we hold wants us in its place (Ongaro §3.10): no pre-vote, and the
 * others are asked past their leader.
 */
export function onTimeoutNow(state: RaftState, from: ReplicaId, message: TimeoutNow): void {
  const { role, durability, config } = state;
  if (message.term !== state.term || role.kind === "leader" || role.kind === "candidate") return;
  if (state.installing !== undefined) return;
  // As in tickElection: a vote that never gets to the disk only raises the term.
  if (durability.stalledTicks >= config.electionTimeoutTicksMin) return;
  refuseReadsOf(state, followLeader(state, from));
  startElection(state, { isTransfer: true });
}

/** A persist step completed: a candidate's own vote may have become durable. */
export function countOwnVote(state: RaftState): void {
  const { role, durability } = state;
  if (role.kind !== "candidate") return;
  const isDurable = durability.term === state.term && durability.votedFor === state.self;
  if (isDurable) countVote(state, role, state.self);
}

function startPreVote(state: RaftState): void {
  const { term, log, role: former } = state;
  const role = newCandidate("preCandidate");
  state.role = role;
  refuseReadsOf(state, former);
  state.outbox.transition({ kind: "becamePreCandidate", term });
  const request = {
    kind: "preVote",
    term,
    nextTerm: (term + 1) as Term,
    lastIndex: log.lastIndex,
    lastTerm: log.lastTerm,
  } as const;
  for (const peer of state.peers) sendInTerm(state, peer, request);
  countVote(state, role, state.self);
}

/** Term and vote change in one step; the requests wait for it, and so does our own vote. */
function startElection(state: RaftState, { isTransfer }: { readonly isTransfer: boolean }): void {
  const { log } = state;
  state.term = (state.term + 1) as Term;
  state.votedFor = state.self;
  state.role = newCandidate("candidate");
  const { term } = state;
  state.outbox.transition({ kind: "becameCandidate", term });
  state.outbox.transition({ kind: "voted", term, for: state.self });
  const { lastIndex, lastTerm } = log;
  const request = { kind: "requestVote", term, isTransfer, lastIndex, lastTerm } as const;
  for (const peer of state.peers) state.outbox.sendAfterPersist(peer, request);
}

function countVote(state: RaftState, role: CandidateRole, voter: ReplicaId): void {
  if (role.granted.includes(voter)) return;
  role.granted.push(voter);
  if (role.granted.length < state.quorum || !role.granted.includes(state.self)) return;
  if (role.kind === "preCandidate") startElection(state, { isTransfer: false });
  else becomeLeader(state);
}

function castVote(state: RaftState, candidate: ReplicaId): void {
  const { role } = state;
  assert(state.votedFor === undefined, "a vote is cast at most once per term (R5)");
  assert(role.kind === "follower" || role.kind === "preCandidate", "candidates voted already");
  state.votedFor = candidate;
  state.outbox.transition({ kind: "voted", term: state.term, for: candidate });
  const follower = role.kind === "follower" ? role : becomeFollower(state, undefined);
  follower.electionElapsedTicks = 0;
  follower.electionTimeoutTicks = undefined;
}

/** Whether a leader was heard within the stickiness window. A leader hears itself. */
function hearsLeader(state: RaftState): boolean {
  const { role, config } = state;
  switch (role.kind) {
    case "leader":
      return true;
    case "follower":
      if (role.leaderId === undefined) return false;
      return role.electionElapsedTicks < config.electionTimeoutTicksMin;
    case "preCandidate":
    case "candidate":
      return false;
  }
}

/** The asker's log is at least as recent as ours: by last term, then by length (§5.4.1). */
function isUpToDate(
  state: RaftState,
  asker: { readonly lastIndex: LogIndex; readonly lastTerm: Term },
): boolean {
  const { log } = state;
  if (asker.lastTerm !== log.lastTerm) return asker.lastTerm > log.lastTerm;
  return asker.lastIndex >= log.lastIndex;
}

function newCandidate(kind: CandidateRole["kind"]): CandidateRole {
  return { kind, granted: [], electionElapsedTicks: 0, electionTimeoutTicks: undefined };
}
