/**
 * The proposals of one replica from the call to the answer: first on the way to the core, then, by
 * index, in the log.
 */

import type { LogIndex, MonotonicMs, Term } from "../base/brands.ts";
import type { Proposed } from "../raft/output.ts";
import type { ForwardFailure } from "./ports.ts";
import { type ProposeOutcome, ProposalWaiters } from "./waiters.ts";

interface Starting<Answer> {
  readonly deadlineMs: MonotonicMs;
  readonly settle: (outcome: ProposeOutcome<Answer>) => void;
}

export class Proposals<Answer> {
  readonly #starting = new Map<number, Starting<Answer>>();
  readonly #placed = new ProposalWaiters<Answer>();
  #lastId = 0;

  get size(): number {
    return this.#starting.size + this.#placed.size;
  }

  /** The id by which the core will tell of it. */
  begin(waiter: Starting<Answer>): number {
    const id = ++this.#lastId;
    this.#starting.set(id, waiter);
    return id;
  }

  /** It is in the log. */
  placed({ proposalId, index, term }: Proposed): void {
    const waiter = this.#starting.get(proposalId);
    if (waiter === undefined) return;
    this.#starting.delete(proposalId);
    this.#placed.add(index, { ...waiter, term });
  }

  refused(id: number, reason: ForwardFailure): void {
    const waiter = this.#starting.get(id);
    this.#starting.delete(id);
    waiter?.settle({ kind: "failed", outcome: "notApplied", reason });
  }

  applied(index: LogIndex, term: Term, answer: Answer | undefined): void {
    this.#placed.applied(index, term, answer);
  }

  replaced(lastIndex: LogIndex): void {
    this.#placed.replaced(lastIndex);
  }

  expire(nowMs: MonotonicMs): void {
    this.#placed.expire(nowMs);
    for (const [id, waiter] of this.#starting) {
      if (waiter.deadlineMs > nowMs) continue;
      this.#starting.delete(id);
      // It is still queued and may be appended yet.
      waiter.settle({ kind: "failed", outcome: "unknown", reason: "deadlineExceeded" });
    }
  }

  failAll(reason: ForwardFailure): void {
    this.#placed.failAll(reason);
    for (const id of Array.from(this.#starting.keys())) this.refused(id, reason);
  }
}
