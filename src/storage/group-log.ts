/**
 * What the store keeps in memory of one group: hard state, bounds, and a few numbers of each entry,
 * so that a step is checked and encoded without reading the disk.
 *
 * It runs ahead of the disk: it describes the log as it is once all submitted steps are durable.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import {
  type Entry,
  type HardState,
  INITIAL_HARD_STATE,
  LOG_START,
  type LogPosition,
} from "../raft/types.ts";
import { CHAIN_START, chainOfInstalled } from "./entry-record.ts";
import { EntryRing } from "./entry-ring.ts";
import type { HardStateRecord } from "./records.ts";
import type { KnownLog } from "./step-contract.ts";

export class GroupLog implements KnownLog {
  readonly group: GroupId;
  hardState: HardState;
  snapshot: LogPosition;
  /** The store's write that last rewrote this group's hard state. Only grows. */
  writeSequence: number;
  #base: LogPosition;
  #baseChain: number;
  readonly #entries = new EntryRing();

  /** The log that a hard state record bounds, still without its entries. */
  constructor(record: HardStateRecord, snapshot: LogPosition = LOG_START) {
    this.group = record.group;
    this.hardState = record.hardState;
    this.snapshot = snapshot;
    this.writeSequence = record.writeSequence;
    this.#base = record.base;
    this.#baseChain = record.baseChain;
  }

  get base(): LogPosition {
    return this.#base;
  }

  get lastIndex(): LogIndex {
    return (this.#base.index + this.#entries.length) as LogIndex;
  }

  termAt(index: LogIndex): Term {
    if (index === this.#base.index) return this.#base.term;
    return this.#entries.at(this.#place(index)).term as Term;
  }

  timeAt(index: LogIndex): LogTimeMs {
    if (index === this.#base.index) return this.#base.timeMs;
    return this.#entries.at(this.#place(index)).timeMs as LogTimeMs;
  }

  chainAt(index: LogIndex): number {
    return index === this.#base.index
      ? this.#baseChain
      : this.#entries.at(this.#place(index)).chain;
  }

  append(entry: Entry, chain: number, storedBytes: number): void {
    assert(entry.index === this.lastIndex + 1, "a log grows at its end");
    this.#entries.push({ term: entry.term, timeMs: entry.timeMs, chain, storedBytes });
  }

  /** Forgets everything behind an index. */
  cutAfter(lastIndex: LogIndex): void {
    this.#entries.cutTo(lastIndex - this.#base.index);
  }

  /**
   * The log begins after this position, and is empty when it did not reach that far. Answers how
   * many bytes its entries at or below have on disk.
   */
  moveBase(position: LogPosition): number {
    const dropped = Math.min(position.index, this.lastIndex) - this.#base.index;
    const isWithin = position.index <= this.lastIndex;
    this.#baseChain = isWithin ? this.chainAt(position.index) : chainOfInstalled(position);
    this.#base = position;
    return this.#entries.drop(dropped);
  }

  toRecord(): HardStateRecord {
    const { lastIndex } = this;
    return {
      group: this.group,
      hardState: this.hardState,
      base: this.#base,
      baseChain: this.#baseChain,
      lastIndex,
      lastTerm: this.termAt(lastIndex),
      lastChain: this.chainAt(lastIndex),
      snapshotIndex: this.snapshot.index,
      writeSequence: this.writeSequence,
    };
  }

  #place(index: LogIndex): number {
    return index - this.#base.index - 1;
  }
}

/** The record of a group that has nothing yet. */
export function emptyHardStateRecord(group: GroupId, writeSequence: number): HardStateRecord {
  return {
    group,
    hardState: INITIAL_HARD_STATE,
    base: LOG_START,
    baseChain: CHAIN_START,
    lastIndex: LOG_START.index,
    lastTerm: LOG_START.term,
    lastChain: CHAIN_START,
    snapshotIndex: LOG_START.index,
    writeSequence,
  };
}
