/**
 * Linearizable reads without log entries (Ongaro §6.4).
 *
 * The leader notes its commit index, then proves by a round of heartbeats, sent afterwards, that it
 * still leads. Rounds are numbered from 1 in each term and one is out at a time; reads that come
 * while it is out wait for the next, so one round serves all that came before it was sent. No round
 * starts before an entry of the term is committed: until then the commit index may be old (§8).
 * Followers ask the leader; only the present leader's answer in the present term counts.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, ReplicaId } from "../base/brands.ts";
import { broadcastHeartbeats } from "./heartbeat.ts";
import type { ReadIndexReply, ReadIndexRequest } from "./messages.ts";
import type { Refused } from "./output.ts";
import {
  type FollowerRole,
  type LeaderRole,
  leaderOf,
  type PendingRead,
  type RaftState,
  type ReadRounds,
  type Role,
  sendInTerm,
} from "./state.ts";

export function newReadRounds(): ReadRounds {
  return { round: 1, confirming: [], readIndex: 0 as LogIndex, waiting: [] };
}

/** A read that a client asks of this replica. */
export function readHere(state: RaftState, readId: number): void {
  const { role } = state;
  switch (role.kind) {
    case "leader":
      if (!takeRead(state, role, { readId, from: undefined })) {
        refuseRead(state, readId, "overloaded");
      }
      return;
    case "follower":
      forwardRead(state, role, readId);
      return;
    case "preCandidate":
    case "candidate":
      refuseRead(state, readId, "notLeader");
      return;
  }
}

/** A follower asks for one of its reads. */
export function onReadIndexRequest(
  state: RaftState,
  from: ReplicaId,
  request: ReadIndexRequest,
): void {
  const { role } = state;
  const { readId } = request;
  const isOurs = role.kind === "leader" && request.term === state.term;
  if (isOurs && takeRead(state, role, { readId, from })) return;
  replyTo(state, from, readId, undefined);
}

export function onReadIndexReply(state: RaftState, from: ReplicaId, reply: ReadIndexReply): void {
  const { role } = state;
  if (role.kind !== "follower" || role.leaderId !== from || reply.term !== state.term) return;
  const position = role.forwardedReads.findIndex((read) => read.readId === reply.readId);
  if (position < 0) return;
  role.forwardedReads.splice(position, 1);
  const { readId, readIndex } = reply;
  if (readIndex === undefined) refuseRead(state, readId, "leaderChanged");
  else state.outbox.readReady({ readId, readIndex });
}

/** The leader starts the round that is due, if one is. */
export function startRound(state: RaftState, leader: LeaderRole): void {
  const { reads } = leader;
  if (!leader.isReady || reads.confirming.length > 0 || reads.waiting.length === 0) return;
  reads.round++;
  reads.readIndex = state.commitIndex;
  reads.confirming = reads.waiting;
  reads.waiting = [];
  broadcastHeartbeats(state, leader);
  confirmRound(state, leader);
}

/** Answers the reads of the present round once a quorum has confirmed it. */
export function confirmRound(state: RaftState, leader: LeaderRole): void {
  const { reads } = leader;
  if (reads.confirming.length === 0) return;
  let confirmations = 1;
  for (const { ackedRound } of leader.progress) if (ackedRound >= reads.round) confirmations++;
  if (confirmations < state.quorum) return;
  assert(reads.readIndex <= state.commitIndex, "a read index was committed when it was noted");
  const confirmed = reads.confirming;
  reads.confirming = [];
  for (const { readId, from } of confirmed) {
    if (from !== undefined) replyTo(state, from, readId, reads.readIndex);
    else state.outbox.readReady({ readId, readIndex: reads.readIndex });
  }
  startRound(state, leader);
}

/** A role has ended, or its leader is given up: nobody is left waiting. */
export function refuseReadsOf(state: RaftState, former: Role): void {
  if (former.kind === "follower") {
    for (const { readId } of former.forwardedReads) refuseRead(state, readId, "leaderChanged");
    former.forwardedReads.length = 0;
  }
  if (former.kind !== "leader") return;
  for (const { readId, from } of [...former.reads.confirming, ...former.reads.waiting]) {
    if (from !== undefined) replyTo(state, from, readId, undefined);
    else refuseRead(state, readId, "leaderChanged");
  }
}

/** Gives up on reads that the leader has not answered for an election timeout. */
export function tickForwardedReads(state: RaftState, follower: FollowerRole): void {
  const reads = follower.forwardedReads;
  for (const read of reads) read.waitedTicks++;
  for (let oldest = reads[0]; oldest !== undefined; oldest = reads[0]) {
    if (oldest.waitedTicks < state.config.electionTimeoutTicksMax) return;
    reads.shift();
    refuseRead(state, oldest.readId, "leaderChanged");
  }
}

/** False: the bound on waiting reads is reached. */
function takeRead(state: RaftState, leader: LeaderRole, read: PendingRead): boolean {
  const { confirming, waiting } = leader.reads;
  if (confirming.length + waiting.length >= state.config.pendingReadsMax) return false;
  waiting.push(read);
  startRound(state, leader);
  return true;
}

function forwardRead(state: RaftState, follower: FollowerRole, readId: number): void {
  if (follower.leaderId === undefined) {
    refuseRead(state, readId, "notLeader");
  } else if (follower.forwardedReads.length >= state.config.pendingReadsMax) {
    refuseRead(state, readId, "overloaded");
  } else {
    follower.forwardedReads.push({ readId, waitedTicks: 0 });
    sendInTerm(state, follower.leaderId, { kind: "readIndexRequest", term: state.term, readId });
  }
}

function replyTo(
  state: RaftState,
  to: ReplicaId,
  readId: number,
  readIndex: LogIndex | undefined,
): void {
  sendInTerm(state, to, { kind: "readIndexReply", term: state.term, readId, readIndex });
}

function refuseRead(state: RaftState, readId: number, reason: Refused["reason"]): void {
  state.outbox.refused({ kind: "read", id: readId, reason, leaderId: leaderOf(state) });
}
