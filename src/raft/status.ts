/**
 * A read-only picture of a core, for hosts, metrics and checkers.
 */

import type { LogIndex, LogTimeMs, ReplicaId, Term } from "../base/brands.ts";
import type { ProgressMode } from "./progress.ts";
import { leaderOf, type RaftState, type Role } from "./state.ts";

export interface RaftStatus {
  readonly self: ReplicaId;
  readonly term: Term;
  readonly votedFor: ReplicaId | undefined;
  readonly role: Role["kind"];
  readonly leaderId: ReplicaId | undefined;
  /** This replica leads and its commit index is current: reads and time-critical work may start. */
  readonly isLeaderReady: boolean;
  readonly commitIndex: LogIndex;
  /** Handed out as `committed` up to here. */
  readonly deliveredIndex: LogIndex;
  readonly appliedIndex: LogIndex;
  /** The log begins after this index. */
  readonly baseIndex: LogIndex;
  /** Where the snapshot stands; 0: there is none. */
  readonly snapshotIndex: LogIndex;
  /** A received snapshot is on its way to the disk. */
  readonly isInstalling: boolean;
  readonly lastIndex: LogIndex;
  readonly lastTerm: Term;
  readonly lastTimeMs: LogTimeMs;
  /** The log up to here is on disk. */
  readonly persistedIndex: LogIndex;
  /** The term and the vote on disk. */
  readonly persistedTerm: Term;
  readonly persistedVote: ReplicaId | undefined;
  readonly uncommittedBytes: number;
  /** To whom leadership is being moved. */
  readonly transferTarget: ReplicaId | undefined;
  /** Reads that wait here, for a round or for the leader's answer. */
  readonly pendingReads: number;
  /** One for each other voter while this replica leads, else empty. */
  readonly progress: readonly ProgressStatus[];
}

export interface ProgressStatus {
  readonly peer: ReplicaId;
  readonly mode: ProgressMode;
  readonly matchIndex: LogIndex;
  readonly nextIndex: LogIndex;
  readonly inflightMessages: number;
}

export function statusOf(state: RaftState): RaftStatus {
  const { role, log, durability } = state;
  return {
    self: state.self,
    term: state.term,
    votedFor: state.votedFor,
    role: role.kind,
    leaderId: leaderOf(state),
    isLeaderReady: role.kind === "leader" && role.isReady,
    commitIndex: state.commitIndex,
    deliveredIndex: state.deliveredIndex,
    appliedIndex: state.appliedIndex,
    baseIndex: log.base.index,
    snapshotIndex: state.snapshot.index,
    isInstalling: state.installing !== undefined,
    lastIndex: log.lastIndex,
    lastTerm: log.lastTerm,
    lastTimeMs: log.lastTimeMs,
    persistedIndex: durability.durableIndex,
    persistedTerm: durability.term,
    persistedVote: durability.votedFor,
    uncommittedBytes: role.kind === "leader" ? role.uncommittedBytes : 0,
    transferTarget: role.kind === "leader" ? role.transfer?.target : undefined,
    pendingReads: pendingReads(role),
    progress: progressStatus(role),
  };
}

function pendingReads(role: Role): number {
  switch (role.kind) {
    case "leader":
      return role.reads.confirming.length + role.reads.waiting.length;
    case "follower":
      return role.forwardedReads.length;
    case "preCandidate":
    case "candidate":
      return 0;
  }
}

function progressStatus(role: Role): readonly ProgressStatus[] {
  if (role.kind !== "leader") return [];
  return role.progress.map(({ peer, mode, matchIndex, nextIndex, inflightMessages }) => ({
    peer,
    mode,
    matchIndex,
    nextIndex,
    inflightMessages,
  }));
}
