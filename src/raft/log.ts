/**
 * The log of one replica, in memory: contiguous entries after a base.
 *
 * The base is the position of the entry before the first: what lies at or below it has been
 * compacted away or was never here, and a snapshot stands for it. Owns the order rules that hold
 * along any log (R2): indexes without gaps, terms and log times that never decrease. Who may
 * truncate and compact, and when, is decided in append.ts and snapshot.ts; what of it is on disk is
 * known by durability.ts.
 */

import { assert, defined } from "../base/assert.ts";
import type { LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import { type Entry, entryBytes, type LogPosition } from "./types.ts";

export class RaftLog {
  #base: LogPosition;
  /** The entry with index base.index + 1 + i is at position i. */
  #entries: Entry[] = [];
  /** Of all entries, as entryBytes counts. */
  #bytes = 0;

  constructor(base: LogPosition, entries: readonly Entry[]) {
    this.#base = base;
    this.append(entries);
  }

  /** The entry before the first; LOG_START when nothing was ever compacted. */
  get base(): LogPosition {
    return this.#base;
  }

  /** The base's when empty. */
  get lastIndex(): LogIndex {
    return (this.#base.index + this.#entries.length) as LogIndex;
  }

  /** Term of the last entry; the base's when empty. */
  get lastTerm(): Term {
    return this.#entries.at(-1)?.term ?? this.#base.term;
  }

  /** Log time of the last entry; the base's when empty. */
  get lastTimeMs(): LogTimeMs {
    return this.#entries.at(-1)?.timeMs ?? this.#base.timeMs;
  }

  /** Bytes of all entries that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** undefined at and below the base, and beyond the end. */
  entryAt(index: LogIndex): Entry | undefined {
    return index <= this.#base.index ? undefined : this.#entries[index - this.#base.index - 1];
  }

  /** Term of the entry at index, the base's included; undefined below it and beyond the end. */
  termAt(index: LogIndex): Term | undefined {
    return index === this.#base.index ? this.#base.term : this.entryAt(index)?.term;
  }

  /** Where the entry at index stands; it is the base or in the log. */
  positionAt(index: LogIndex): LogPosition {
    if (index === this.#base.index) return this.#base;
    const { term, timeMs } = defined(this.entryAt(index), "a position lies within the log");
    return { index, term, timeMs };
  }

  /** Adds entries at the end. They continue the log. */
  append(entries: readonly Entry[]): void {
    for (const entry of entries) {
      assert(entry.index === this.lastIndex + 1, "appended entries leave no gap (R2)");
      assert(entry.term >= this.lastTerm, "terms never decrease along the log (R2)");
      assert(entry.timeMs >= this.lastTimeMs, "log time never decreases along the log (R2)");
      this.#entries.push(entry);
      this.#bytes += entryBytes(entry);
    }
  }

  /** Removes the entries from fromIndex on. */
  truncate(fromIndex: LogIndex): void {
    const kept = fromIndex - this.#base.index - 1;
    assert(kept >= 0 && fromIndex <= this.lastIndex, "what is truncated exists");
    this.#bytes -= this.bytesAfter((fromIndex - 1) as LogIndex);
    this.#entries.length = kept;
  }

  /** Forgets the entries up to index, which becomes the base. */
  compact(index: LogIndex): void {
    assert(index >= this.#base.index && index <= this.lastIndex, "what is compacted exists");
    const base = this.positionAt(index);
    for (const entry of this.#entries.splice(0, index - this.#base.index)) {
      this.#bytes -= entryBytes(entry);
    }
    this.#base = base;
  }

  /** Forgets everything: a snapshot at this position takes the log's place. */
  reset(base: LogPosition): void {
    this.#base = base;
    this.#entries = [];
    this.#bytes = 0;
  }

  /** Entries firstIndex to lastIndex, both included, as a fresh array. */
  slice(firstIndex: LogIndex, lastIndex: LogIndex): readonly Entry[] {
    const { index: baseIndex } = this.#base;
    assert(firstIndex > baseIndex && lastIndex <= this.lastIndex, "a slice lies within the log");
    return this.#entries.slice(firstIndex - baseIndex - 1, lastIndex - baseIndex);
  }

  /** Entries from firstIndex on, as many as fit into bytesMax, at least one if there is one. */
  sliceByBytes(firstIndex: LogIndex, bytesMax: number): readonly Entry[] {
    const start = firstIndex - this.#base.index - 1;
    assert(start >= 0, "a slice begins after the base");
    let bytes = 0;
    let position = start;
    while (position < this.#entries.length) {
      bytes += entryBytes(defined(this.#entries[position], "positions below the length exist"));
      if (bytes > bytesMax && position > start) break;
      position++;
    }
    return this.#entries.slice(start, position);
  }

  /** Bytes of the entries after index. */
  bytesAfter(index: LogIndex): number {
    let bytes = 0;
    for (let at = Math.max(0, index - this.#base.index); at < this.#entries.length; at++) {
      bytes += entryBytes(defined(this.#entries[at], "positions below the length exist"));
    }
    return bytes;
  }

  /** The lowest index after which the entries up to `index` fit into bytesMax. */
  startOfTail(index: LogIndex, bytesMax: number): LogIndex {
    let at = index;
    let bytes = 0;
    for (; at > this.#base.index; at--) {
      bytes += entryBytes(defined(this.entryAt(at), "what is above the base is in the log"));
      if (bytes > bytesMax) break;
    }
    return at;
  }

  /**
   * The last index <= upToIndex whose term is <= term, the base's included; undefined when it lies
   * below the base. Terms never decrease, so this is a binary search. Backtracking by term rests on
   * it (§5.3, end).
   */
  lastIndexWithTermAtMost(term: Term, upToIndex: LogIndex): LogIndex | undefined {
    let low: number = this.#base.index;
    let high = Math.min(upToIndex, this.lastIndex);
    if (high < low || this.#base.term > term) return undefined;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const at = defined(this.termAt(middle as LogIndex), "an index within the log has a term");
      if (at <= term) low = middle;
      else high = middle - 1;
    }
    return low as LogIndex;
  }

  clone(): RaftLog {
    return new RaftLog(this.#base, this.#entries);
  }
}
