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
  encodeRequest(request: Request): Bytes;
  decodeRequest(bytes: Bytes): Result<Request, string>;
  encodeAnswer(answer: Answer): Bytes;
  decodeAnswer(bytes: Bytes): Result<Answer, string>;
}
