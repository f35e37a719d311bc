/**
 * The consensus core of one replica: `step(input)` gives the Output to carry out.
 *
 * Synchronous and total: no IO, clock, randomness or promise inside. A failed assertion is a bug
 * (STYLE 5); whatever peers and clients can cause has an answer. Peers are authenticated and their
 * messages checked at the wire; one that breaks the protocol itself stops us by an assertion.
 * SPEC.md lists the invariants, invariants.ts checks them.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, LogTimeMs, ReplicaId, Term } from "../base/brands.ts";
import { onAppendEntries, onHeartbeat } from "./append.ts";
import { canonicalForm } from "./canonical.ts";
import { advanceLeaderCommit } from "./commit.ts";
import {
  countOwnVote,
  onLeaderUnreachable,
  onPreVote,
  onPreVoteReply,
  onRequestVote,
  onRequestVoteReply,
  onTimeoutNow,
  tickElection,
} from "./election.ts";
import { noticeCommit } from "./heartbeat.ts";
import type { Input, MessageInput, PersistedInput } from "./input.ts";
import { propose, tickLeader } from "./leadership.ts";
import type { Message } from "./messages.ts";
import type { Output, Persist } from "./output.ts";
import { onReadIndexReply, onReadIndexRequest, readHere } from "./read-index.ts";
import { onAppendEntriesReply, onFollowerUnreachable, onHeartbeatReply } from "./replication.ts";
import { adoptTerm } from "./role.ts";
import {
  onSnapshotOffer,
  onSnapshotReceived,
  onSnapshotTaken,
  snapshotsInUse,
} from "./snapshot.ts";
import { cloneState, createState, leaderOf, type RaftState, type Role } from "./state.ts";
import { onTransferProgress, transfer } from "./transfer.ts";
import { type RaftStatus, statusOf } from "./status.ts";
import {
  type Entry,
  type HardState,
  INITIAL_HARD_STATE,
  LOG_START,
  type LogPosition,
  type RaftConfig,
  type RestoredState,
} from "./types.ts";

/**
 * By how many entries the commit index on disk may lag before a step that is written anyway
 * refreshes it. It only saves a restarted replica from waiting for its leader's word.
 */
const COMMIT_HINT_LAG_ENTRIES = 256;

export class RaftCore {
  #state: RaftState;

  constructor(config: RaftConfig, restored: RestoredState) {
    this.#state = createState(config, restored);
  }

  /** Takes one input in and says what to do. The first one also delivers what was committed. */
  step(input: Input): Output {
    const state = this.#state;
    state.nowMs = input.nowMs;
    if (state.role.kind === "leader") state.role.clock.read(input.nowMs);
    dispatch(state, input);
    return finish(state);
  }

  get term(): Term {
    return this.#state.term;
  }

  get role(): Role["kind"] {
    return this.#state.role.kind;
  }

  get leaderId(): ReplicaId | undefined {
    return leaderOf(this.#state);
  }

  get lastIndex(): LogIndex {
    return this.#state.log.lastIndex;
  }

  get commitIndex(): LogIndex {
    return this.#state.commitIndex;
  }

  /** This replica leads, and its commit index is current. */
  get isLeaderReady(): boolean {
    const { role } = this.#state;
    return role.kind === "leader" && role.isReady;
  }

  /** Log time as of the last input, as an entry appended then would carry; only while leading. */
  get leaderTimeMs(): LogTimeMs | undefined {
    const { role } = this.#state;
    return role.kind === "leader" ? role.clock.timeMs : undefined;
  }

  /** undefined at and below the log's base, and beyond its end. */
  entryAt(index: LogIndex): Entry | undefined {
    return this.#state.log.entryAt(index);
  }

  /** The entry before the first of the log. */
  get base(): LogPosition {
    return this.#state.log.base;
  }

  /** Term of the entry at index, the base's included; undefined below it and beyond the end. */
  termAt(index: LogIndex): Term | undefined {
    return this.#state.log.termAt(index);
  }

  /**
   * Files that must be kept: the present snapshot, what else a restart may start from, and those
   * that followers are offered. LOG_START stands for none, and positions may repeat.
   */
  get snapshotsInUse(): readonly LogPosition[] {
    return snapshotsInUse(this.#state);
  }

  /** Bytes of the entries in memory (entryBytes). */
  get logBytes(): number {
    return this.#state.log.bytes;
  }

  status(): RaftStatus {
    return statusOf(this.#state);
  }

  /** An independent copy that behaves the same from here on. */
  clone(): RaftCore {
    const copy = new RaftCore(this.#state.config, {
      hardState: INITIAL_HARD_STATE,
      snapshot: LOG_START,
      base: LOG_START,
      entries: [],
    });
    copy.#state = cloneState(this.#state);
    return copy;
  }

  /** The whole state as text: equal for cores that behave the same from here on. */
  canonicalForm(): string {
    return canonicalForm(this.#state);
  }
}

function dispatch(state: RaftState, input: Input): void {
  const { role } = state;
  switch (input.kind) {
    case "tick":
      state.durability.tick();
      if (role.kind === "leader") tickLeader(state, role);
      else tickElection(state, role);
      return;
    case "message":
      onMessage(state, input);
      return;
    case "propose":
      propose(state, input);
      return;
    case "readIndex":
      readHere(state, input.readId);
      return;
    case "persisted":
      onPersisted(state, input);
      return;
    case "applied":
      assert(input.index >= state.appliedIndex, "the applied index never decreases (R9)");
      assert(input.index <= state.deliveredIndex, "only delivered entries are applied (R9)");
      state.appliedIndex = input.index;
      return;
    case "snapshotTaken":
      onSnapshotTaken(state, input);
      return;
    case "snapshotReceived":
      onSnapshotReceived(state, input);
      return;
    case "transfer":
      transfer(state, input);
      return;
    case "peerUnreachable":
      if (role.kind === "follower" && role.leaderId === input.peer) {
        onLeaderUnreachable(state, role);
      } else if (role.kind === "leader" && state.peers.includes(input.peer)) {
        onFollowerUnreachable(role, input.peer);
      }
      return;
  }
}

/** Who is no voter of this group is not heard. Higher terms first (§5.1), then what is said. */
function onMessage(state: RaftState, input: MessageInput): void {
  const { from, message } = input;
  if (!state.peers.includes(from)) return;
  if (message.term > state.term && !asksForVotes(message)) {
    adoptTerm(state, message.term, leadsBy(message) ? from : undefined);
  }
  const { role } = state;
  switch (message.kind) {
    case "preVote":
      onPreVote(state, from, message);
      return;
    case "preVoteReply":
      onPreVoteReply(state, from, message);
      return;
    case "requestVote":
      onRequestVote(state, from, message);
      return;
    case "requestVoteReply":
      onRequestVoteReply(state, from, message);
      return;
    case "appendEntries":
      onAppendEntries(state, from, message);
      return;
    case "heartbeat":
      onHeartbeat(state, from, message);
      return;
    case "snapshotOffer":
      onSnapshotOffer(state, from, message);
      return;
    case "appendEntriesReply":
      if (role.kind === "leader" && message.term === state.term) {
        onAppendEntriesReply(state, role, from, message);
        onTransferProgress(state, role, from);
      }
      return;
    case "heartbeatReply":
      if (role.kind === "leader" && message.term === state.term) {
        onHeartbeatReply(state, role, from, message);
      }
      return;
    case "readIndexRequest":
      onReadIndexRequest(state, from, message);
      return;
    case "readIndexReply":
      onReadIndexReply(state, from, message);
      return;
    case "timeoutNow":
      onTimeoutNow(state, from, message);
      return;
  }
}

/** Whether to take over these terms is judged in election.ts. */
function asksForVotes(message: Message): boolean {
  return message.kind === "preVote" || message.kind === "requestVote";
}

/** Only a leader says these. */
function leadsBy(message: Message): boolean {
  const { kind } = message;
  return (
    kind === "appendEntries" ||
    kind === "heartbeat" ||
    kind === "snapshotOffer" ||
    kind === "timeoutNow"
  );
}

function onPersisted(state: RaftState, input: PersistedInput): void {
  state.durability.completed(input.lastTerm, input.lastIndex);
  countOwnVote(state);
  if (state.role.kind !== "leader") return;
  advanceLeaderCommit(state, state.role);
  noticeCommit(state, state.role);
}

/** Turns what changed into the Output: what to write, and what is committed and on our disk. */
function finish(state: RaftState): Output {
  const persist = takePersist(state);
  if (persist !== undefined) state.durability.started(persist);
  const { durableIndex } = state.durability;
  const { installing } = state;
  if (installing !== undefined) {
    // What an earlier step made durable was replaced with the log: only the snapshot counts.
    if (durableIndex < installing.index) return state.outbox.take(persist, {});
    state.installing = undefined;
    state.deliveredIndex = installing.index;
  }
  const endIndex = Math.min(state.commitIndex, durableIndex) as LogIndex;
  const firstIndex = (state.deliveredIndex + 1) as LogIndex;
  if (endIndex >= firstIndex) state.deliveredIndex = endIndex;
  return state.outbox.take(persist, {
    ...(installing && { install: installing }),
    ...(endIndex >= firstIndex && { committed: state.log.slice(firstIndex, endIndex) }),
  });
}

function takePersist(state: RaftState): Persist | undefined {
  const { outbox, log, term, votedFor, commitIndex, writtenHardState: written } = state;
  const { truncateFrom, appended, newSnapshot: snapshot, newBase: base } = outbox;
  const isVoteNews = term !== written.term || votedFor !== written.votedFor;
  const isLogNews = truncateFrom !== undefined || appended.length > 0;
  if (!isVoteNews && !isLogNews && snapshot === undefined) return undefined;
  let hardState: HardState | undefined;
  // The commit index on disk is never below the snapshot's.
  const isHintDue =
    snapshot !== undefined || commitIndex - written.commitIndex >= COMMIT_HINT_LAG_ENTRIES;
  if (isVoteNews || isHintDue) {
    hardState = { term, votedFor, commitIndex };
    state.writtenHardState = hardState;
  }
  const { lastTerm, lastIndex } = log;
  return { hardState, truncateFrom, base, snapshot, entries: appended, lastTerm, lastIndex };
}
