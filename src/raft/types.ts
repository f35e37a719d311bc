/**
 * What a replica's log holds and what it must remember: entries and hard state.
 *
 * Sources: Raft (extended version) Figure 2; DESIGN laws 2 and 7.
 */

import type { Bytes } from "../base/bytes.ts";
import type { GroupId, LogIndex, LogTimeMs, ReplicaId, Term } from "../base/brands.ts";

/**
 * What an entry is for. "noop" opens a leader's term (§8) and carries no payload; "command" carries
 * bytes that only the machine understands.
 */
export type EntryKind = "noop" | "command";

/** One entry of a group's log. Immutable from the moment it is appended. */
export interface Entry {
  readonly index: LogIndex;
  /** Term of the leader that appended it; never decreases along the log (§5.3). */
  readonly term: Term;
  readonly kind: EntryKind;
  /** Stamped by the appending leader at append; never decreases along the log (law 7). */
  readonly timeMs: LogTimeMs;
  readonly payload: Bytes;
}

/** Where a log or a snapshot ends: the last entry that it covers. */
export interface LogPosition {
  readonly index: LogIndex;
  readonly term: Term;
  readonly timeMs: LogTimeMs;
}

/** What must be on disk before any message that depends on it is sent (Figure 2, "persistent"). */
export interface HardState {
  /** Latest term this replica has seen. Never decreases. */
  readonly term: Term;
  /** Whom it voted for in that term; set at most once per term. */
  readonly votedFor: ReplicaId | undefined;
  /** A hint that saves work after a restart; it may be older than the truth, never newer. */
  readonly commitIndex: LogIndex;
}

/** Who takes part in a group. Later configurations are entries of the log; this is the first. */
export interface Configuration {
  /** At least one, ascending, no repeats. */
  readonly voters: readonly ReplicaId[];
}

/** Everything a core is started with. */
export interface RaftConfig {
  readonly group: GroupId;
  readonly self: ReplicaId;
  readonly configuration: Configuration;
  /** Length of a tick in ms; log time advances at most two of these per tick (law 7). */
  readonly tickMs: number;
  /** Ticks between heartbeats. At least 10 fit into the shortest election timeout. */
  readonly heartbeatTicks: number;
  /**
   * The stickiness window, and the shortest election timeout less one tick: a follower that heard
   * from a leader within it refuses (pre-)votes, and a leader without a quorum for it steps down.
   */
  readonly electionTimeoutTicksMin: number;
  /** Timeouts are drawn anew, uniformly from (min, max], each time one starts. */
  readonly electionTimeoutTicksMax: number;
  /**
   * Append messages that may be under way to one follower in the replicate state. What is proposed
   * while the window is full gathers and leaves in one message: a small window means large batches.
   */
  readonly inflightMessagesMax: number;
  /** Bytes of the entries of one append message (entryBytes); one larger entry travels alone. */
  readonly appendBytesMax: number;
  /**
   * Bytes of entries (entryBytes) that may be appended and not yet committed; beyond it proposals
   * are refused. One larger proposal is taken when nothing else is uncommitted.
   */
  readonly uncommittedBytesMax: number;
  /** Bytes of entries (entryBytes) that are kept behind the snapshot, for followers that lag. */
  readonly logTrailingBytes: number;
  /** Bytes of entries beyond which the log is cut even if a snapshot in use then is useless. */
  readonly logHeldBytesMax: number;
  /** Reads that may wait for confirmation; beyond it they are refused. */
  readonly pendingReadsMax: number;
  /** Seeds the election jitter. */
  readonly seed: number;
}

/** What a core starts from after a restart; empty for a new replica. */
export interface RestoredState {
  readonly hardState: HardState;
  /** What the machine starts from; LOG_START when there is no snapshot. Committed and durable. */
  readonly snapshot: LogPosition;
  /** The entry before the first of `entries`: at or before the snapshot. */
  readonly base: LogPosition;
  /** Contiguous from base.index + 1. All of it is durable. */
  readonly entries: readonly Entry[];
}

/** What an entry costs in memory and on the wire besides its payload, roughly. */
export const ENTRY_OVERHEAD_BYTES = 32;

/** The size of an entry as all bounds count it, so that empty payloads are bounded too. */
export function entryBytes(entry: Entry): number {
  return entry.payload.length + ENTRY_OVERHEAD_BYTES;
}

/** Before the first entry of a group. */
export const LOG_START: LogPosition = {
  index: 0 as LogIndex,
  term: 0 as Term,
  timeMs: 0 as LogTimeMs,
};

export const INITIAL_HARD_STATE: HardState = {
  term: 0 as Term,
  votedFor: undefined,
  commitIndex: 0 as LogIndex,
};
