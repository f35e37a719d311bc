/**
 * Linearizable reads of one replica: callers that come in one turn share one read of the core, and
 * its confirmed index serves them all (Ongaro §6.4).
 *
 * A caller may only join a batch that has not been handed to the core yet: what was acknowledged
 * before the call must be covered by the confirmation.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, MonotonicMs } from "../base/brands.ts";
import type { Prng } from "../base/prng.ts";

/** Why a read got no index; the caller asks again, or another server. */
export type ReadFailure = "notLeader" | "overloaded" | "leaderChanged" | "deadlineExceeded";

interface Reader {
  readonly deadlineMs: MonotonicMs;
  readonly settle: (outcome: LogIndex | ReadFailure) => void;
}

interface Batch {
  readonly readers: Reader[];
  readonly sentAtMs: MonotonicMs;
}

interface Confirmed {
  readonly sentAtMs: MonotonicMs;
  readonly readIndex: LogIndex;
}

/** Reads of one process; ids of two processes do not meet while an answer can be late. */
const READ_IDS_PER_PROCESS = 2 ** 20;

export class ReadBatches {
  #lastReadId: number;
  #gathering: Reader[] = [];
  readonly #sent = new Map<number, Batch>();
  /** When the youngest confirmed batch was sent, whether its index is applied here or not. */
  confirmedAtMs: MonotonicMs | undefined = undefined;
  #currentAtMs: MonotonicMs | undefined;
  /** Confirmed, and not known to be applied here: the oldest and the youngest of them. */
  readonly #ahead: Confirmed[] = [];
  /** The largest index that was confirmed: committed, though perhaps not known to be so here. */
  confirmedIndex = 0 as LogIndex;

  /**
   * Ids count up from a random place: a late answer to a read of this replica's former process
   * must not be taken for the answer to one of ours.
   */
  constructor(prng: Prng) {
    this.#lastReadId = prng.nextUint32() * READ_IDS_PER_PROCESS;
  }

  get hasGathered(): boolean {
    return this.#gathering.length > 0;
  }

  join(reader: Reader): void {
    this.#gathering.push(reader);
  }

  /** Closes the batch that gathers and gives it an id, fresh for every attempt. */
  take(nowMs: MonotonicMs): number {
    assert(this.#gathering.length > 0, "an empty batch is not sent");
    const readId = ++this.#lastReadId;
    this.#sent.set(readId, { readers: this.#gathering, sentAtMs: nowMs });
    this.#gathering = [];
    return readId;
  }

  confirmed(readId: number, readIndex: LogIndex): void {
    const batch = this.#remove(readId);
    if (batch === undefined) return;
    const { sentAtMs } = batch;
    if (sentAtMs > (this.confirmedAtMs ?? -1)) this.confirmedAtMs = sentAtMs;
    const youngest = this.#ahead[1];
    if (youngest === undefined) this.#ahead.push({ sentAtMs, readIndex });
    else if (sentAtMs > youngest.sentAtMs) this.#ahead[1] = { sentAtMs, readIndex };
    if (readIndex > this.confirmedIndex) this.confirmedIndex = readIndex;
    for (const reader of batch.readers) reader.settle(readIndex);
  }

  /**
   * The latest moment as of which what is applied here was complete: when the youngest batch was
   * sent whose index is applied. A replica that is told indexes and applies nothing is not current.
   */
  currentAtMs(appliedIndex: LogIndex): MonotonicMs | undefined {
    while (this.#ahead[0] !== undefined && this.#ahead[0].readIndex <= appliedIndex) {
      const { sentAtMs } = this.#ahead.shift() as Confirmed;
      this.#currentAtMs = Math.max(this.#currentAtMs ?? sentAtMs, sentAtMs) as MonotonicMs;
    }
    return this.#currentAtMs;
  }

  refused(readId: number, reason: ReadFailure): void {
    for (const reader of this.#remove(readId)?.readers ?? []) reader.settle(reason);
  }

  expire(nowMs: MonotonicMs): void {
    this.#gathering = expireReaders(this.#gathering, nowMs);
    for (const [readId, batch] of this.#sent) {
      const kept = expireReaders(batch.readers, nowMs);
      if (kept.length === 0) this.#sent.delete(readId);
      else if (kept.length < batch.readers.length) {
        this.#sent.set(readId, { ...batch, readers: kept });
      }
    }
  }

  failAll(): void {
    this.expire(Number.POSITIVE_INFINITY as MonotonicMs);
  }

  #remove(readId: number): Batch | undefined {
    const batch = this.#sent.get(readId);
    this.#sent.delete(readId);
    return batch;
  }
}

function expireReaders(readers: Reader[], nowMs: MonotonicMs): Reader[] {
  const over = readers.filter(({ deadlineMs }) => deadlineMs <= nowMs);
  if (over.length === 0) return readers;
  for (const { settle } of over) settle("deadlineExceeded");
  return readers.filter(({ deadlineMs }) => deadlineMs > nowMs);
}
