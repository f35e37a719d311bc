/**
 * The log of one replica, in memory: contiguous entries from index 1.
 *
 * Owns the order rules that hold along any log (R2): indexes without gaps, terms and log times that
 * never decrease. Who may truncate, and when, is decided in append.ts; what of it is on disk is
 * known by durability.ts.
 */

import { assert, defined } from "../base/assert.ts";
import type { LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import { type Entry, entryBytes } from "./types.ts";

export class RaftLog {
  /** Entry i + 1 is at position i. */
  readonly #entries: Entry[] = [];

  constructor(entries: readonly Entry[]) {
    this.append(entries);
  }

  /** 0 when empty. */
  get lastIndex(): LogIndex {
    return this.#entries.length as LogIndex;
  }

  /** Term of the last entry; 0 when empty. */
  get lastTerm(): Term {
    return this.#entries.at(-1)?.term ?? (0 as Term);
  }

  /** Log time of the last entry; 0 when empty. */
  get lastTimeMs(): LogTimeMs {
    return this.#entries.at(-1)?.timeMs ?? (0 as LogTimeMs);
  }

  entryAt(index: LogIndex): Entry | undefined {
    return this.#entries[index - 1];
  }

  /** Term of the entry at index; 0 before the first; undefined beyond the end. */
  termAt(index: LogIndex): Term | undefined {
    return index === 0 ? (0 as Term) : this.#entries[index - 1]?.term;
  }

  /** Adds entries at the end. They continue the log. */
  append(entries: readonly Entry[]): void {
    for (const entry of entries) {
      assert(entry.index === this.#entries.length + 1, "appended entries leave no gap (R2)");
      assert(entry.term >= this.lastTerm, "terms never decrease along the log (R2)");
      assert(entry.timeMs >= this.lastTimeMs, "log time never decreases along the log (R2)");
      this.#entries.push(entry);
    }
  }

  /** Removes the entries from fromIndex on. */
  truncate(fromIndex: LogIndex): void {
    assert(fromIndex >= 1 && fromIndex <= this.lastIndex, "what is truncated exists");
    this.#entries.length = fromIndex - 1;
  }

  /** Entries firstIndex to lastIndex, both included, as a fresh array. */
  slice(firstIndex: LogIndex, lastIndex: LogIndex): readonly Entry[] {
    assert(firstIndex >= 1 && lastIndex <= this.lastIndex, "a slice lies within the log");
    return this.#entries.slice(firstIndex - 1, lastIndex);
  }

  /** Entries from firstIndex on, as many as fit into bytesMax, at least one if there is one. */
  sliceByBytes(firstIndex: LogIndex, bytesMax: number): readonly Entry[] {
    let bytes = 0;
    let position = firstIndex - 1;
    while (position < this.#entries.length) {
      bytes += entryBytes(defined(this.#entries[position], "positions below the length exist"));
      if (bytes > bytesMax && position > firstIndex - 1) break;
      position++;
    }
    return this.#entries.slice(firstIndex - 1, position);
  }

  /** Bytes of the entries after index. */
  bytesAfter(index: LogIndex): number {
    let bytes = 0;
    for (let position = index as number; position < this.#entries.length; position++) {
      bytes += entryBytes(defined(this.#entries[position], "positions below the length exist"));
    }
    return bytes;
  }

  /**
   * The last index <= upToIndex whose term is <= term; 0 if there is none. Terms never decrease, so
   * this is a binary search. Backtracking by term rests on it (§5.3, end).
   */
  lastIndexWithTermAtMost(term: Term, upToIndex: LogIndex): LogIndex {
    let low = 0;
    let high = Math.min(upToIndex, this.lastIndex);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const at = defined(this.termAt(middle as LogIndex), "an index within the log has a term");
      if (at <= term) low = middle;
      else high = middle - 1;
    }
    return low as LogIndex;
  }

  clone(): RaftLog {
    return new RaftLog(this.#entries);
  }
}
