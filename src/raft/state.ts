/**
 * The state of a core: what Figure 2 of the Raft paper lists, by role.
 *
 * Each field says who moves it and what holds. The rules that move it are in election.ts,
 * append.ts, replication.ts, commit.ts and read-index.ts; only `RaftCore.step` runs them.
 */

import { assert, defined } from "../base/assert.ts";
import type { LogIndex, MonotonicMs, ReplicaId, Term } from "../base/brands.ts";
import { Prng } from "../base/prng.ts";
import { Durability } from "./durability.ts";
import { RaftLog } from "./log.ts";
import type { LogTimeClock } from "./log-time.ts";
import type { Message } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import type { Progress } from "./progress.ts";
import { quorumSize } from "./quorum.ts";
import type { HardState, LogPosition, RaftConfig, RestoredState } from "./types.ts";

export interface FollowerRole {
  readonly kind: "follower";
  /** Who leads this term, once it has been heard as a leader and while it is believed in. */
  leaderId: ReplicaId | undefined;
  /** Since the leader was heard, a vote was granted, or the role began. */
  electionElapsedTicks: number;
  /** Drawn when the stickiness window has passed: most timeouts never get that far. */
  electionTimeoutTicks: number | undefined;
  /** Reads that the leader has been asked about, oldest first. */
  readonly forwardedReads: ForwardedRead[];
}

export interface ForwardedRead {
  readonly readId: number;
  waitedTicks: number;
}

/** A pre-candidate asks whether it could win (Ongaro §9.6); a candidate stands (§5.2). */
export interface CandidateRole {
  readonly kind: "preCandidate" | "candidate";
  /** Who said yes. A candidate's own vote is in it only once it is durable (R6). */
  readonly granted: ReplicaId[];
  electionElapsedTicks: number;
  electionTimeoutTicks: number | undefined;
}

export interface LeaderRole {
  readonly kind: "leader";
  /** One for each other voter, ascending. */
  readonly progress: readonly Progress[];
  readonly clock: LogTimeClock;
  /** An entry of this term is committed: the commit index is current (§8). Never unset. */
  isReady: boolean;
  heartbeatElapsedTicks: number;
  /** Bytes of the entries above the commit index. */
  uncommittedBytes: number;
  readonly reads: ReadRounds;
  /** Leadership is being moved; proposals are refused meanwhile. */
  transfer: Transfer | undefined;
}

export interface Transfer {
  readonly target: ReplicaId;
  elapsedTicks: number;
}

/** Who waits for a read index: a local read, or another replica's. */
export interface PendingRead {
  readonly readId: number;
  readonly from: ReplicaId | undefined;
}

export interface ReadRounds {
  /** The present round; heartbeats carry it. Starts at 1, never repeats within the term. */
  round: number;
  /** Reads that the present round answers. Empty: no round is out. */
  confirming: PendingRead[];
  /** What the present round's reads are told; the commit index when it started. */
  readIndex: LogIndex;
  /** Reads that came later: they need the next round. */
  waiting: PendingRead[];
}

export type Role = FollowerRole | CandidateRole | LeaderRole;

export interface RaftState {
  readonly config: RaftConfig;
  readonly self: ReplicaId;
  /** The other voters, ascending. */
  readonly peers: readonly ReplicaId[];
  readonly quorum: number;
  readonly prng: Prng;
  /** Never decreases (R4). */
  term: Term;
  /** Set at most once per term (R5). */
  votedFor: ReplicaId | undefined;
  readonly log: RaftLog;
  /** What the machine starts from after a restart; at or above the log's base (R21). */
  snapshot: LogPosition;
  /** A received snapshot that is on its way to the disk: nothing is delivered until it is there. */
  installing: LogPosition | undefined;
  /** The furthest snapshot that leaders have offered since the start, in our term or before it. */
  offeredIndex: LogIndex;
  readonly durability: Durability;
  /** Committed up to here. Never decreases, never above the last index (R8). */
  commitIndex: LogIndex;
  /** Handed out as `committed` up to here; at most min(commitIndex, durable index) (R9). */
  deliveredIndex: LogIndex;
  /** Applied by the machine up to here, as the host reports; at most deliveredIndex. */
  appliedIndex: LogIndex;
  /** The hard state last handed out for writing. */
  writtenHardState: HardState;
  role: Role;
  /** The reading that came with the present input. */
  nowMs: MonotonicMs;
  readonly outbox: Outbox;
}

export function createState(config: RaftConfig, restored: RestoredState): RaftState {
  checkConfig(config);
  const log = new RaftLog(restored.base, restored.entries);
  const { hardState, snapshot } = restored;
  assert(snapshot.index >= log.base.index, "a snapshot stands for what the log lacks (R21)");
  assert(snapshot.index <= log.lastIndex, "a restored log goes on from its snapshot (R21)");
  assert(hardState.commitIndex <= log.lastIndex, "a restored log holds what was committed");
  assert(log.lastTerm <= hardState.term, "a restored term is not below its log's");
  const { voters } = config.configuration;
  return {
    config,
    self: config.self,
    peers: voters.filter((voter) => voter !== config.self),
    quorum: quorumSize(voters.length),
    prng: Prng.fromSeed(config.seed),
    term: hardState.term,
    votedFor: hardState.votedFor,
    log,
    snapshot,
    installing: undefined,
    offeredIndex: snapshot.index,
    durability: new Durability(hardState, snapshot, log.lastIndex),
    commitIndex: Math.max(hardState.commitIndex, snapshot.index) as LogIndex,
    deliveredIndex: snapshot.index,
    appliedIndex: snapshot.index,
    writtenHardState: hardState,
    role: newFollower(undefined),
    nowMs: 0 as MonotonicMs,
    outbox: new Outbox(),
  };
}

/** An independent copy. The outbox is empty between steps, and entries are immutable. */
export function cloneState(state: RaftState): RaftState {
  return {
    ...state,
    prng: state.prng.clone(),
    log: state.log.clone(),
    durability: state.durability.clone(),
    role: cloneRole(state.role),
    outbox: new Outbox(),
  };
}

function cloneRole(role: Role): Role {
  switch (role.kind) {
    case "follower":
      return { ...role, forwardedReads: role.forwardedReads.map((read) => ({ ...read })) };
    case "preCandidate":
    case "candidate":
      return { ...role, granted: [...role.granted] };
    case "leader": {
      const { confirming, waiting } = role.reads;
      return {
        ...role,
        progress: role.progress.map((progress) => progress.clone()),
        clock: role.clock.clone(),
        reads: { ...role.reads, confirming: [...confirming], waiting: [...waiting] },
        transfer: role.transfer && { ...role.transfer },
      };
    }
  }
}

export function newFollower(leaderId: ReplicaId | undefined): FollowerRole {
  return {
    kind: "follower",
    leaderId,
    electionElapsedTicks: 0,
    electionTimeoutTicks: undefined,
    forwardedReads: [],
  };
}

/** Who leads, as far as this replica knows. */
export function leaderOf(state: RaftState): ReplicaId | undefined {
  switch (state.role.kind) {
    case "leader":
      return state.self;
    case "follower":
      return state.role.leaderId;
    case "preCandidate":
    case "candidate":
      return undefined;
  }
}

/** Progress of a peer; the peer is a voter. */
export function progressOf(leader: LeaderRole, peer: ReplicaId): Progress {
  const found = leader.progress.find((progress) => progress.peer === peer);
  return defined(found, "a leader tracks every voter");
}

/**
 * Sends what promises nothing but the present term: at once if that term is on disk. No message
 * leaves with a term that a crash could take back (R7).
 */
export function sendInTerm(state: RaftState, to: ReplicaId, message: Message): void {
  if (state.durability.term === state.term) state.outbox.sendNow(to, message);
  else state.outbox.sendAfterPersist(to, message);
}

function checkConfig(config: RaftConfig): void {
  const { voters } = config.configuration;
  const { electionTimeoutTicksMin, electionTimeoutTicksMax, heartbeatTicks } = config;
  assert(voters.includes(config.self), "a replica is a voter of its group");
  assert(
    voters.every((voter, at) => voter >= 1 && (at === 0 || (voters[at - 1] ?? 0) < voter)),
    "voters are ascending, without repeats",
  );
  assert(config.tickMs > 0 && heartbeatTicks >= 1, "ticks and heartbeats take time");
  assert(
    electionTimeoutTicksMin >= 10 * heartbeatTicks,
    "ten heartbeats fit into the shortest election timeout",
  );
  assert(electionTimeoutTicksMax > electionTimeoutTicksMin, "election timeouts are drawn");
  assert(config.inflightMessagesMax >= 1, "a window lets one append through");
  assert(config.appendBytesMax >= 1 && config.uncommittedBytesMax >= 1, "limits are positive");
  assert(config.logTrailingBytes >= 0, "limits are positive");
  assert(config.logHeldBytesMax >= config.logTrailingBytes, "what is held includes the tail");
  assert(config.pendingReadsMax >= 1, "limits are positive");
}
