/**
 * What every replicated machine is: a function from (state, entry) to (state, result, events).
 *
 * apply() reads nothing but its state and its arguments: no clock, no randomness, no configuration,
 * no leader flag. It never throws for anything that a client can cause; refusals are results. The
 * same entries give the same state, results and events on every replica and at every replay.
 */

import type { Bytes } from "../base/bytes.ts";
import type { GroupId, LogIndex, LogTimeMs, Revision, Term } from "../base/brands.ts";
import type { Result } from "../base/result.ts";

/** Where an entry stands. `timeMs` is log time (law 7), the only clock a machine knows. */
export interface EntryMeta {
  readonly index: LogIndex;
  readonly term: Term;
  readonly timeMs: LogTimeMs;
}

export interface AppliedEntry<Answer, Event> {
  /** The revision of the entry (law 2). */
  readonly revision: Revision;
  /** undefined for a noop entry. */
  readonly answer: Answer | undefined;
  /** What changed, in order; the same on every replica. */
  readonly events: readonly Event[];
}

/** A machine's state fixed at one revision, given out piece by piece while entries are applied. */
export interface SnapshotCut {
  readonly revision: Revision;
  /**
   * The next piece, of exactly the cut's piece length; the last one is what is left, and undefined
   * comes after it. Each call is short (below 5 ms): it encodes no more than the piece and the
   * record that goes beyond it.
   */
  next(): Bytes | undefined;
  /** Ends it, early or after the last piece: the machine keeps nothing more for it. Idempotent. */
  close(): void;
}

/** Builds a state from pieces, split at any place, without touching the machine until finish(). */
export interface SnapshotRestore {
  /**
   * Takes the next bytes in order. Failed: they are no snapshot for this machine (kind, version,
   * group, generation), or a damaged one; whatever follows fails, too. Total on any bytes.
   */
  accept(bytes: Bytes): Result<void, string>;
  /** Whether the bytes so far are a whole snapshot: finish() will succeed. */
  readonly isWhole: boolean;
  /** All bytes were given: the machine's state becomes the snapshot's, or nothing changes. */
  finish(): Result<void, string>;
}

export interface GroupMachine<Request, Answer, Event> {
  readonly group: GroupId;
  /** Revision of the last applied entry; the generation's first revision before any. */
  readonly revision: Revision;
  /** Applies a committed entry; `request` is undefined for a leader's noop. */
  apply(meta: EntryMeta, request: Request | undefined): AppliedEntry<Answer, Event>;
  /** When the next thing is due (law 9), in log time; undefined: nothing will ever be. */
  nextDueMs(): LogTimeMs | undefined;
  /** The request that ends what is due and has no effect of its own, if there is such a one. */
  expireRequest(): Request | undefined;
  /**
   * Fixes the present state. O(chunks of ranges + sessions): short even for a million ranges. Open
   * one at a time: each keeps, until it is closed, what has changed since it was opened.
   * `pieceBytes` is 32 KiB unless told, at least 1.
   */
  openCut(pieceBytes?: number): SnapshotCut;
  beginRestore(): SnapshotRestore;
  /**
   * 16 hex digits over the canonical form of the state: equal on all replicas at equal revisions,
   * and equal to the digest of the bytes of a cut. Encodes the whole state in one go.
   */
  digest(): string;
  encodeRequest(request: Request): Bytes;
  decodeRequest(bytes: Bytes): Result<Request, string>;
  encodeAnswer(answer: Answer): Bytes;
  decodeAnswer(bytes: Bytes): Result<Answer, string>;
}
