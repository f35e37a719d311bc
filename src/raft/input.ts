/**
 * Everything that can happen to a core. Each input carries the host's monotonic reading, which the
 * core uses for log time (law 7) and for nothing else: timeouts are counted in ticks.
 */

import type { Bytes } from "../base/bytes.ts";
import type { LogIndex, MonotonicMs, ReplicaId, Term } from "../base/brands.ts";
import type { Message } from "./messages.ts";
import type { LogPosition } from "./types.ts";

export type Input =
  | TickInput
  | MessageInput
  | ProposeInput
  | ReadIndexInput
  | PersistedInput
  | AppliedInput
  | SnapshotTakenInput
  | SnapshotReceivedInput
  | TransferInput
  | PeerUnreachableInput;

/** One tick interval has passed. A host that stalled sends one tick, not the missed ones. */
export interface TickInput {
  readonly kind: "tick";
  readonly nowMs: MonotonicMs;
}

/** A message arrived whose group and receiver are this replica. */
export interface MessageInput {
  readonly kind: "message";
  readonly nowMs: MonotonicMs;
  readonly from: ReplicaId;
  readonly message: Message;
}

/**
 * Append this command if this replica leads. Answered in the same Output: `proposed` with its
 * position, or `refused`. proposalId is the host's and means nothing here.
 */
export interface ProposeInput {
  readonly kind: "propose";
  readonly nowMs: MonotonicMs;
  readonly proposalId: number;
  readonly payload: Bytes;
}

/**
 * Ask for an index that covers everything acknowledged before now (Ongaro §6.4). Answered later by
 * `readsReady` or `refused`. readId is fresh for every attempt and never reused, not even by this
 * replica after a restart: a late answer to an earlier attempt would count for this one.
 */
export interface ReadIndexInput {
  readonly kind: "readIndex";
  readonly nowMs: MonotonicMs;
  readonly readId: number;
}

/**
 * The oldest persist step that was not yet reported is durable: one report for each
 * `Output.persist`, in their order, with the step's lastTerm and lastIndex (also for a step of hard
 * state alone). Both are compared: by index alone a late completion would vouch for entries that
 * have been replaced since.
 */
export interface PersistedInput {
  readonly kind: "persisted";
  readonly nowMs: MonotonicMs;
  readonly lastTerm: Term;
  readonly lastIndex: LogIndex;
}

/** The machine has applied up to index. */
export interface AppliedInput {
  readonly kind: "applied";
  readonly nowMs: MonotonicMs;
  readonly index: LogIndex;
}

/**
 * A checkpoint of the machine as it was at `position`, at most the applied index, is durable. The
 * Output's `persist` makes it the snapshot to start from, and perhaps shortens the log; without a
 * `persist.snapshot` it came too late and its file is of no use.
 */
export interface SnapshotTakenInput {
  readonly kind: "snapshotTaken";
  readonly nowMs: MonotonicMs;
  readonly position: LogPosition;
}

/**
 * A snapshot that `Output.fetches` asked for since the start is durable and decoded. Taken: the
 * Output's `persist` carries it, and `install` follows once that step is durable. Without a
 * `persist.snapshot` it is of no use any more.
 */
export interface SnapshotReceivedInput {
  readonly kind: "snapshotReceived";
  readonly nowMs: MonotonicMs;
  readonly position: LogPosition;
}

/**
 * Move leadership to this follower, or, if undefined, to the one that is furthest. A transition
 * tells how it goes: refused or started, and then aborted, unless another one leads.
 */
export interface TransferInput {
  readonly kind: "transfer";
  readonly nowMs: MonotonicMs;
  readonly target: ReplicaId | undefined;
}

/** The connection to this peer broke. A follower whose leader it is may campaign sooner. */
export interface PeerUnreachableInput {
  readonly kind: "peerUnreachable";
  readonly nowMs: MonotonicMs;
  readonly peer: ReplicaId;
}
