/**
 * Everything a host must do after a step, in this order: start `persist`, send `sendNow`, and once
 * `persist` is durable send `sendAfterPersist`. The order of durability is in the type: what must
 * not leave before the disk is safe cannot be sent from anywhere else.
 *
 * An Output shares no mutable part with the core.
 */

import type { LogIndex, ReplicaId, Term } from "../base/brands.ts";
import type { Message } from "./messages.ts";
import type { Entry, HardState, LogPosition } from "./types.ts";

export interface Output {
  /** To be made durable as one atomic step. undefined: nothing to write. */
  readonly persist: Persist | undefined;
  /** May leave at once, beside the write. */
  readonly sendNow: readonly Outbound[];
  /**
   * Depend on `persist` of this Output and of all earlier ones being durable. Without a `persist`
   * here they still wait for the steps that are under way.
   */
  readonly sendAfterPersist: readonly Outbound[];
  /**
   * The machine's state is to be replaced by the received snapshot at this position before
   * `committed` is applied: all that was handed out earlier is at or before it.
   */
  readonly install: LogPosition | undefined;
  /** Snapshots that a leader offers and that we need; repeated with every offer. */
  readonly fetches: readonly Fetch[];
  /** Newly committed entries that are durable here, in order, each exactly once. */
  readonly committed: readonly Entry[];
  /** Reads whose index is confirmed; the host still waits until it has applied that index. */
  readonly readsReady: readonly ReadReady[];
  /** Proposals taken into the log. Taken is not committed: they may still be lost. */
  readonly proposed: readonly Proposed[];
  /** Proposals and reads that had no effect; a retry is safe. */
  readonly refused: readonly Refused[];
  /** What changed, for logs and metrics. */
  readonly transitions: readonly Transition[];
}

/** One atomic step. Its completion is reported by one `persisted`, also without entries. */
export interface Persist {
  readonly hardState: HardState | undefined;
  /** Entries from here on are deleted before the new ones are written. */
  readonly truncateFrom: LogIndex | undefined;
  /**
   * The log now begins after this entry: what is at or below it is no longer needed. Beyond the end
   * of the log (an installed snapshot) the log is empty from here on.
   */
  readonly base: LogPosition | undefined;
  /** The snapshot to start from after a restart; its file is durable already. */
  readonly snapshot: LogPosition | undefined;
  /** New entries, contiguous with what is kept. */
  readonly entries: readonly Entry[];
  /** The end of the log after this step: what its `persisted` repeats. */
  readonly lastTerm: Term;
  readonly lastIndex: LogIndex;
}

export interface Outbound {
  readonly to: ReplicaId;
  readonly message: Message;
}

/** A snapshot to fetch, and who has it. */
export interface Fetch {
  readonly from: ReplicaId;
  readonly position: LogPosition;
}

export interface ReadReady {
  readonly readId: number;
  readonly readIndex: LogIndex;
}

export interface Proposed {
  readonly proposalId: number;
  readonly index: LogIndex;
  readonly term: Term;
}

export interface Refused {
  readonly kind: "proposal" | "read";
  readonly id: number;
  /**
   * "overloaded": a bound of the config is reached; try later, here. "leaderChanged": the leader
   * stepped down, moved, or gave a read no answer for an election timeout.
   */
  readonly reason: "notLeader" | "overloaded" | "leaderChanged";
  readonly leaderId: ReplicaId | undefined;
}

export type Transition =
  | {
      readonly kind: "becameFollower";
      readonly term: Term;
      readonly leaderId: ReplicaId | undefined;
    }
  | { readonly kind: "becamePreCandidate"; readonly term: Term }
  | { readonly kind: "becameCandidate"; readonly term: Term }
  | { readonly kind: "becameLeader"; readonly term: Term }
  | { readonly kind: "leaderReady"; readonly term: Term }
  | {
      readonly kind: "steppedDown";
      readonly term: Term;
      readonly reason: "quorumLost" | "higherTerm" | "diskStalled";
    }
  | { readonly kind: "transferStarted"; readonly term: Term; readonly target: ReplicaId }
  /** It still leads, and takes proposals again; a later election may yet follow from it. */
  | { readonly kind: "transferAborted"; readonly term: Term; readonly target: ReplicaId }
  | {
      readonly kind: "transferRefused";
      readonly term: Term;
      /** "notReady": another transfer runs, or nothing is committed in this term yet. */
      readonly reason: "notLeader" | "targetNotHeard" | "notReady";
    }
  | { readonly kind: "truncated"; readonly fromIndex: LogIndex }
  /** A received snapshot takes the place of the log. */
  | { readonly kind: "snapshotAccepted"; readonly position: LogPosition }
  | { readonly kind: "voted"; readonly term: Term; readonly for: ReplicaId };
