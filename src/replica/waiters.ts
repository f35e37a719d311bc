/**
 * Who waits for what: proposals for their entry to be applied, reads for an index to be applied.
 *
 * Every waiter has a deadline and gets exactly one answer. Deadlines are looked at on ticks, so an
 * answer may be up to a tick late; a proposal that ran out of time may still be applied (unknown).
 */

import type { LogIndex, MonotonicMs, Term } from "../base/brands.ts";
import type { ForwardFailure } from "./ports.ts";

export type ProposeOutcome<Answer> =
  | { readonly kind: "applied"; readonly index: LogIndex; readonly answer: Answer }
  | ProposeFailed;

/** "notApplied": certainly without effect. "unknown": only the same request may be repeated. */
export interface ProposeFailed {
  readonly kind: "failed";
  readonly outcome: "notApplied" | "unknown";
  readonly reason: ForwardFailure;
}

interface ProposalWaiter<Answer> {
  readonly term: Term;
  readonly deadlineMs: MonotonicMs;
  readonly settle: (outcome: ProposeOutcome<Answer>) => void;
}

/** Proposals that are in the log, by index. */
export class ProposalWaiters<Answer> {
  readonly #byIndex = new Map<LogIndex, ProposalWaiter<Answer>>();

  get size(): number {
    return this.#byIndex.size;
  }

  add(index: LogIndex, waiter: ProposalWaiter<Answer>): void {
    // An entry of an earlier term of ours stood here and is gone from our log. A server that still
    // has it may win an election and commit it, so its outcome stays unknown.
    const replaced = this.#byIndex.get(index);
    this.#byIndex.set(index, waiter);
    replaced?.settle({ kind: "failed", outcome: "unknown", reason: "leaderChanged" });
  }

  /** The entry at `index` was applied. If it is another term's, ours is lost for good. */
  applied(index: LogIndex, term: Term, answer: Answer | undefined): void {
    const waiter = this.#byIndex.get(index);
    if (waiter === undefined) return;
    this.#byIndex.delete(index);
    if (waiter.term === term && answer !== undefined) {
      waiter.settle({ kind: "applied", index, answer });
    } else {
      waiter.settle({ kind: "failed", outcome: "notApplied", reason: "leaderChanged" });
    }
  }

  /**
   * A snapshot covers everything through `index`. Whether our entries are in it, or others of their
   * places, cannot be told, and their answers are not known either.
   */
  replaced(lastIndex: LogIndex): void {
    for (const [index, waiter] of this.#byIndex) {
      if (index > lastIndex) continue;
      this.#byIndex.delete(index);
      waiter.settle({ kind: "failed", outcome: "unknown", reason: "leaderChanged" });
    }
  }

  expire(nowMs: MonotonicMs): void {
    for (const [index, waiter] of this.#byIndex) {
      if (waiter.deadlineMs > nowMs) continue;
      this.#byIndex.delete(index);
      waiter.settle({ kind: "failed", outcome: "unknown", reason: "deadlineExceeded" });
    }
  }

  failAll(reason: ForwardFailure): void {
    for (const [index, waiter] of this.#byIndex) {
      this.#byIndex.delete(index);
      waiter.settle({ kind: "failed", outcome: "unknown", reason });
    }
  }
}

interface IndexWaiter {
  readonly index: LogIndex;
  readonly deadlineMs: MonotonicMs;
  readonly settle: (isApplied: boolean) => void;
}

/** Waits for an index to be applied here. */
export class AppliedWaiters {
  #waiters: IndexWaiter[] = [];
  /** At most the lowest index that is waited for: most entries are nobody's, and cost nothing. */
  #lowestIndex = Number.POSITIVE_INFINITY;

  add(waiter: IndexWaiter): void {
    this.#waiters.push(waiter);
    this.#lowestIndex = Math.min(this.#lowestIndex, waiter.index);
  }

  applied(appliedIndex: LogIndex): void {
    if (appliedIndex < this.#lowestIndex) return;
    const ready = this.#waiters.filter(({ index }) => index <= appliedIndex);
    this.#waiters = this.#waiters.filter(({ index }) => index > appliedIndex);
    this.#lowestIndex = Number.POSITIVE_INFINITY;
    for (const { index } of this.#waiters) {
      this.#lowestIndex = Math.min(this.#lowestIndex, index);
    }
    for (const { settle } of ready) settle(true);
  }

  expire(nowMs: MonotonicMs): void {
    this.#fail(({ deadlineMs }) => deadlineMs <= nowMs);
  }

  failAll(): void {
    this.#fail(() => true);
  }

  #fail(isOver: (waiter: IndexWaiter) => boolean): void {
    const over = this.#waiters.filter(isOver);
    if (over.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => !isOver(waiter));
    for (const { settle } of over) settle(false);
  }
}
