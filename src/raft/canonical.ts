/**
 * The canonical form of a core's state: equal text for states that behave the same from here on.
 *
 * For exhaustive exploration and trace hashes. Every field of RaftState is in it but the config and
 * the outbox, which is empty between steps. Lists are in their own order, none comes from a Map.
 */

import type { LogIndex, ReplicaId } from "../base/brands.ts";
import { bytesToHex } from "../base/bytes.ts";
import { defined } from "../base/assert.ts";
import type { CandidateRole, FollowerRole, LeaderRole, RaftState, Role } from "./state.ts";
import type { LogPosition } from "./types.ts";

export function canonicalForm(state: RaftState): string {
  const { writtenHardState: written } = state;
  const own = [
    state.self,
    state.term,
    voteNumber(state.votedFor),
    state.commitIndex,
    state.deliveredIndex,
    state.appliedIndex,
    ...positionParts(state.log.base),
    ...positionParts(state.snapshot),
    state.installing?.index ?? -1,
    state.offeredIndex,
    written.term,
    voteNumber(written.votedFor),
    written.commitIndex,
    ...state.prng.state,
  ];
  const parts = [own.join(","), state.durability.parts.join(","), roleForm(state.role)];
  for (let index = state.log.base.index + 1; index <= state.log.lastIndex; index++) {
    const entry = defined(state.log.entryAt(index as LogIndex), "the log has no gaps (R2)");
    parts.push(`${entry.term},${entry.kind},${entry.timeMs},${bytesToHex(entry.payload)}`);
  }
  return parts.join("|");
}

function roleForm(role: Role): string {
  switch (role.kind) {
    case "follower":
      return followerForm(role);
    case "preCandidate":
    case "candidate":
      return candidateForm(role);
    case "leader":
      return leaderForm(role);
  }
}

function followerForm(role: FollowerRole): string {
  const numbers = [
    voteNumber(role.leaderId),
    role.electionElapsedTicks,
    role.electionTimeoutTicks ?? -1,
  ];
  for (const read of role.forwardedReads) numbers.push(read.readId, read.waitedTicks);
  return `follower:${numbers.join(",")}`;
}

/** Votes count whatever order they came in. */
function candidateForm(role: CandidateRole): string {
  const granted = role.granted.toSorted((a, b) => a - b).join(",");
  const timer = `${role.electionElapsedTicks},${role.electionTimeoutTicks ?? -1}`;
  return `${role.kind}:${timer}:${granted}`;
}

function leaderForm(role: LeaderRole): string {
  const { reads } = role;
  const numbers = [
    Number(role.isReady),
    role.heartbeatElapsedTicks,
    role.uncommittedBytes,
    ...role.clock.parts,
    reads.round,
    reads.readIndex,
    voteNumber(role.transfer?.target),
    role.transfer?.elapsedTicks ?? -1,
  ];
  const groups = [numbers.join(",")];
  for (const list of [reads.confirming, reads.waiting]) {
    groups.push(list.map((read) => `${read.readId}@${voteNumber(read.from)}`).join(","));
  }
  for (const progress of role.progress) groups.push(progress.parts.join(","));
  return `leader:${groups.join(";")}`;
}

function positionParts({ index, term, timeMs }: LogPosition): readonly number[] {
  return [index, term, timeMs];
}

/** 0 is no replica. */
function voteNumber(replica: ReplicaId | undefined): number {
  return replica ?? 0;
}
