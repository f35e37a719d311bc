/**
 * What the host of a replica needs from the world. Adapters (storage/, net/, server/) and the
 * simulator implement these; replica/ knows nothing else of disks, sockets and clocks.
 */

import type { Bytes } from "../base/bytes.ts";
import type { GroupId, LogIndex, MonotonicMs, ReplicaId, ServerId } from "../base/brands.ts";
import type { Envelope } from "../raft/messages.ts";
import type { Configuration, Entry, HardState } from "../raft/types.ts";

/** A reading of CLOCK_MONOTONIC or its simulated counterpart. */
export interface Clock {
  nowMs(): MonotonicMs;
}

/** Timers of the host. Callbacks never run inside the call that set them. */
export interface Timers {
  /** Runs once after about delayMs; the answer cancels it. May run late, never trust it. */
  after(delayMs: number, run: () => void): () => void;
  /**
   * Runs after everything that is already readable from sockets was read: a due timer can
   * otherwise overtake a heartbeat that lies in a socket (research: a stalled event loop).
   */
  afterReading(run: () => void): void;
  /** Runs soon, after the present callback, before timers. Many inputs, one flush. */
  soon(run: () => void): void;
}

/** Names the event, ids go in fields. `error` in a simulation fails the run. */
export interface Logger {
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void;
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** One atomic, synced step of one group's log (law 29). */
export interface DurableStep {
  readonly group: GroupId;
  readonly hardState: HardState | undefined;
  /** Entries from here on are deleted in the same batch. */
  readonly truncateFrom: LogIndex | undefined;
  /** Contiguous with what is kept. */
  readonly entries: readonly Entry[];
  /** Called once, when the step is on disk, in the order of submission. Never for a failed step. */
  readonly onDurable: () => void;
}

/**
 * The durable log of all groups of a server. Steps are durable in the order of submission; steps
 * that wait while a write is under way share the next synced write (group commit).
 */
export interface LogStore {
  submit(step: DurableStep): void;
  /** Flushes what was submitted, then closes. */
  close(): Promise<void>;
}

/** What a log store held when it was opened, fully verified. */
export interface LoadedReplica {
  readonly group: GroupId;
  readonly replicaId: ReplicaId;
  readonly configuration: Configuration;
  readonly hardState: HardState;
  /** Contiguous from index 1. */
  readonly entries: readonly Entry[];
}

/** Carries raft messages. Sending never blocks and never fails: what cannot be sent is dropped. */
export interface Transport {
  send(to: ServerId, envelope: Envelope): void;
}

/** What a transport tells its server. */
export interface TransportEvents {
  onEnvelope(from: ServerId, envelope: Envelope): void;
  /** The stream to this server broke, or could not be made. */
  onPeerUnreachable(peer: ServerId): void;
  onPeerReachable(peer: ServerId): void;
}

/** Hands a command to the leader of a group on another server: one hop, never forwarded again. */
export interface Forwarder {
  /**
   * Resolves with the leader's answer. `notApplied`: certainly without effect, try elsewhere.
   * `unknown`: it may have been appended; only the same request id may be repeated.
   */
  forward(to: ServerId, call: ForwardCall): Promise<ForwardAnswer>;
}

export interface ForwardCall {
  readonly group: GroupId;
  readonly command: Bytes;
  /** Time left to the caller; the leader stops waiting after it. */
  readonly timeoutMs: number;
}

export type ForwardAnswer =
  | {
      readonly kind: "applied";
      readonly index: LogIndex;
      /** The machine's encoded result. */
      readonly result: Bytes;
    }
  | {
      readonly kind: "failed";
      readonly outcome: "notApplied" | "unknown";
      readonly reason: ForwardFailure;
    };

export type ForwardFailure =
  | "notLeader"
  | "overloaded"
  | "leaderChanged"
  | "deadlineExceeded"
  | "unreachable"
  | "shuttingDown";
