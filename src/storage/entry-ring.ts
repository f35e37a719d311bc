/**
 * What is known of each entry of a log without reading the disk, oldest first, in a ring of typed
 * arrays: a log that moves its beginning for ever keeps neither garbage nor copies of it.
 */

import { assert } from "../base/assert.ts";

const CAPACITY_MIN = 64;

/** Numbers of one entry. */
export interface EntryFacts {
  readonly term: number;
  readonly timeMs: number;
  readonly chain: number;
  /** Of its key and record. */
  readonly storedBytes: number;
}

export class EntryRing {
  #terms = new Float64Array(CAPACITY_MIN);
  #times = new Float64Array(CAPACITY_MIN);
  #chains = new Uint32Array(CAPACITY_MIN);
  #storedBytes = new Uint32Array(CAPACITY_MIN);
  /** Slot of the oldest. */
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Slots, used or not: a power of two. */
  get capacity(): number {
    return this.#terms.length;
  }

  push(entry: EntryFacts): void {
    if (this.#length === this.capacity) this.#resize(this.capacity * 2);
    const slot = (this.#head + this.#length) & (this.capacity - 1);
    this.#terms[slot] = entry.term;
    this.#times[slot] = entry.timeMs;
    this.#chains[slot] = entry.chain;
    this.#storedBytes[slot] = entry.storedBytes;
    this.#length++;
  }

  /** Of the oldest is position 0. */
  at(position: number): EntryFacts {
    assert(position >= 0 && position < this.#length, "an entry lies within the log");
    const slot = (this.#head + position) & (this.capacity - 1);
    return {
      term: this.#terms[slot] as number,
      timeMs: this.#times[slot] as number,
      chain: this.#chains[slot] as number,
      storedBytes: this.#storedBytes[slot] as number,
    };
  }

  /** Forgets the newest, so that this many are left. */
  cutTo(length: number): void {
    assert(length >= 0 && length <= this.#length, "a cut lies within the log");
    this.#length = length;
    this.#shrink();
  }

  /** Forgets the oldest; answers how many bytes they have on disk. */
  drop(count: number): number {
    assert(count >= 0 && count <= this.#length, "what is dropped exists");
    let storedBytes = 0;
    for (let position = 0; position < count; position++) {
      const slot = (this.#head + position) & (this.capacity - 1);
      storedBytes += this.#storedBytes[slot] as number;
    }
    this.#head = (this.#head + count) & (this.capacity - 1);
    this.#length -= count;
    this.#shrink();
    return storedBytes;
  }

  /** At most an eighth in use: a quarter of the slots leaves room to grow again. */
  #shrink(): void {
    let capacity = this.capacity;
    while (capacity > CAPACITY_MIN && this.#length * 8 <= capacity) capacity /= 4;
    if (capacity < this.capacity) this.#resize(Math.max(capacity, CAPACITY_MIN));
  }

  #resize(capacity: number): void {
    const copy = <Numbers extends Float64Array | Uint32Array>(from: Numbers, to: Numbers) => {
      const tail = from.subarray(this.#head, this.#head + this.#length);
      to.set(tail);
      to.set(from.subarray(0, this.#length - tail.length), tail.length);
      return to;
    };
    this.#terms = copy(this.#terms, new Float64Array(capacity));
    this.#times = copy(this.#times, new Float64Array(capacity));
    this.#chains = copy(this.#chains, new Uint32Array(capacity));
    this.#storedBytes = copy(this.#storedBytes, new Uint32Array(capacity));
    this.#head = 0;
  }
}
