/**
 * What the store keeps in memory of one group: hard state, bounds, and of each entry its term, time
 * and chain value, so that a step is checked and encoded without reading the disk.
 *
 * It runs ahead of the disk: it describes the log as it is once all submitted steps are durable.
 */

import { assert, defined } from "../base/assert.ts";
import type { GroupId, LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import { type Entry, type HardState, INITIAL_HARD_STATE } from "../raft/types.ts";
import { CHAIN_START } from "./entry-record.ts";
import type { HardStateRecord } from "./records.ts";
import type { KnownLog } from "./step-contract.ts";

export class GroupLog implements KnownLog {
  readonly group: GroupId;
  hardState: HardState;
  /** The store's write that last rewrote this group's hard state. Only grows. */
  writeSequence: number;
  readonly #firstIndex: LogIndex;
  /** Of the entry before the first, then of each entry. All three have one length. */
  readonly #terms: Term[];
  readonly #times: LogTimeMs[] = [0 as LogTimeMs];
  readonly #chains: number[];

  /** The log that a hard state record bounds, still without its entries. */
  constructor(record: HardStateRecord) {
    this.group = record.group;
    this.hardState = record.hardState;
    this.writeSequence = record.writeSequence;
    this.#firstIndex = record.firstIndex;
    this.#terms = [record.prevTerm];
    this.#chains = [record.prevChain];
  }

  get lastIndex(): LogIndex {
    return (this.#firstIndex + this.#terms.length - 2) as LogIndex;
  }

  termAt(index: LogIndex): Term {
    return defined(this.#terms[this.#position(index)], "a term is known for each entry");
  }

  timeAt(index: LogIndex): LogTimeMs {
    return defined(this.#times[this.#position(index)], "a time is known for each entry");
  }

  chainAt(index: LogIndex): number {
    return defined(this.#chains[this.#position(index)], "a chain value is known for each entry");
  }

  append(entry: Entry, chain: number): void {
    assert(entry.index === this.lastIndex + 1, "a log grows at its end");
    this.#terms.push(entry.term);
    this.#times.push(entry.timeMs);
    this.#chains.push(chain);
  }

  /** Forgets everything behind an index. */
  cutAfter(lastIndex: LogIndex): void {
    const length = this.#position(lastIndex) + 1;
    assert(length >= 1 && length <= this.#terms.length, "a cut lies within the log");
    this.#terms.length = length;
    this.#times.length = length;
    this.#chains.length = length;
  }

  toRecord(): HardStateRecord {
    const { lastIndex } = this;
    return {
      group: this.group,
      hardState: this.hardState,
      firstIndex: this.#firstIndex,
      prevTerm: defined(this.#terms[0], "the term before the first entry is known"),
      prevChain: defined(this.#chains[0], "the chain before the first entry is known"),
      lastIndex,
      lastTerm: this.termAt(lastIndex),
      lastChain: this.chainAt(lastIndex),
      writeSequence: this.writeSequence,
    };
  }

  #position(index: LogIndex): number {
    return index - this.#firstIndex + 1;
  }
}

/** The record of a group that has nothing yet. */
export function emptyHardStateRecord(group: GroupId, writeSequence: number): HardStateRecord {
  return {
    group,
    hardState: INITIAL_HARD_STATE,
    firstIndex: 1 as LogIndex,
    prevTerm: 0 as Term,
    prevChain: CHAIN_START,
    lastIndex: 0 as LogIndex,
    lastTerm: 0 as Term,
    lastChain: CHAIN_START,
    writeSequence,
  };
}
