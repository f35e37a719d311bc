/**
 * What the host of a replica needs from the world. Adapters (storage/, net/, server/) and the
 * simulator implement these; replica/ knows nothing else of disks, sockets and clocks.
 */

import type { Bytes } from "../base/bytes.ts";
import type { GroupId, LogIndex, MonotonicMs, ReplicaId, ServerId } from "../base/brands.ts";
import type { Envelope } from "../raft/messages.ts";
import type { Configuration, Entry, HardState, LogPosition } from "../raft/types.ts";

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
  /**
   * The log begins after this entry from now on. At or behind the log's end, after truncation; or
   * beyond it, when a snapshot was installed: then the log is empty from here on.
   */
  readonly base: LogPosition | undefined;
  /** The snapshot to start from after a restart. Published in the SnapshotStore before. */
  readonly snapshot: LogPosition | undefined;
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
  /** What the machine starts from; LOG_START when there is none. */
  readonly snapshot: LogPosition;
  /** The entry before the first of `entries`: at or before the snapshot. */
  readonly base: LogPosition;
  /** Contiguous from base.index + 1. */
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

/**
 * Hands a command to the leader of a group on another server, or to one that may hand it on to the
 * leader: two hops at most.
 */
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
  /** Whoever gets it and does not lead hands it on to the leader that it knows. */
  readonly mayRelay?: boolean;
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

/** How a snapshot file of a group is named: by the position that its state was taken at. */
export interface SnapshotName {
  readonly group: GroupId;
  readonly position: LogPosition;
}

/**
 * The snapshot files of a server. A file is whole or not there: it is written under another name,
 * checked, synced and renamed. Failures of the disk reject with the store's error; after one of a
 * write nothing was published. The file's own framing and checksums are the store's business; what
 * goes in and comes out are the machine's bytes, while `openFile` and `receive` deal in raw bytes
 * of the file, for sending it to another server.
 */
export interface SnapshotStore {
  /** Begins a file. One at a time for each group; an earlier unfinished one is dropped. */
  create(name: SnapshotName): SnapshotWriter;
  /** The machine's bytes of a published file, verified as they are read; damage rejects. */
  read(name: SnapshotName): AsyncIterable<Bytes>;
  /** A published file as raw bytes; undefined when there is none. Open files outlive `retain`. */
  openFile(name: SnapshotName): Promise<SnapshotFile | undefined>;
  /**
   * Goes on receiving a file from another server, from `offset` on: what an earlier attempt
   * received of the same file (same position and size) is kept over restarts.
   */
  receive(name: SnapshotName, fileBytes: number): Promise<SnapshotReceiver>;
  /** Removes the group's published files and drafts, these positions excepted. */
  retain(group: GroupId, positions: readonly LogPosition[]): Promise<void>;
}

export interface SnapshotWriter {
  /** Resolves when the next piece may come. Not yet durable. */
  append(piece: Bytes): Promise<void>;
  /** Makes the file durable under its name; resolves with its size. Exactly once. */
  publish(): Promise<number>;
  /** Drops what was written. Safe at any time, also after a failure. */
  abort(): Promise<void>;
}

export interface SnapshotFile {
  readonly fileBytes: number;
  read(offset: number, length: number): Promise<Bytes>;
  close(): Promise<void>;
}

export interface SnapshotReceiver {
  /** Bytes that are here already. */
  readonly offset: number;
  append(bytes: Bytes): Promise<void>;
  /** Verifies the whole file and makes it durable under its name. Rejects, and drops it, if bad. */
  publish(): Promise<void>;
  /** Stops for now; what was received is kept for a later attempt. */
  suspend(): Promise<void>;
}

/** Fetches snapshot files from other servers, on a connection of its own. */
export interface SnapshotSource {
  /**
   * The bytes of a peer's file from `offset` on. Ends when all were delivered; throws when the peer
   * does not have it (any more), cannot be reached, or `signal` is aborted.
   */
  fetch(
    from: ServerId,
    request: SnapshotRequest,
    signal: AbortSignal,
  ): AsyncIterable<SnapshotChunk>;
}

export interface SnapshotRequest {
  readonly name: SnapshotName;
  readonly offset: number;
}

export interface SnapshotChunk {
  readonly fileBytes: number;
  readonly offset: number;
  /** Checked against the chunk's own CRC already. */
  readonly bytes: Bytes;
}
