/**
 * The disk of one simulated replica: steps become durable in order, each whole or not at all.
 *
 * Steps that are submitted while a write is under way share the next one. A crash keeps a prefix
 * of what was not yet reported, of any length: a step can be on disk without anyone knowing.
 * Snapshot files are durable at once, before a step points at them.
 */

import { assert } from "../../src/base/assert.ts";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import { RaftLog } from "../../src/raft/log.ts";
import type { Outbound, Persist } from "../../src/raft/output.ts";
import {
  type Entry,
  type HardState,
  INITIAL_HARD_STATE,
  LOG_START,
  type LogPosition,
  type RestoredState,
} from "../../src/raft/types.ts";

export interface DiskStep {
  readonly persist: Persist;
  /** Messages that leave once this step is durable. */
  readonly held: Outbound[];
}

export class SimDisk {
  #hardState: HardState = INITIAL_HARD_STATE;
  #snapshot: LogPosition = LOG_START;
  readonly #log = new RaftLog(LOG_START, []);
  /** Snapshot files, by index. */
  readonly #files = new Map<number, LogPosition>();
  readonly #pending: DiskStep[] = [];
  /** Steps of the write under way. */
  #writing = 0;
  readonly #onTruncate: (entry: Entry, byTerm: Term) => void;

  constructor(onTruncate: (entry: Entry, byTerm: Term) => void) {
    this.#onTruncate = onTruncate;
  }

  /** A test starts with this on disk. */
  preset(restored: RestoredState): void {
    this.#hardState = restored.hardState;
    this.#snapshot = restored.snapshot;
    this.addFile(restored.snapshot);
    this.#log.reset(restored.base);
    this.#log.append(restored.entries);
  }

  get hardState(): HardState {
    return this.#hardState;
  }

  get base(): LogPosition {
    return this.#log.base;
  }

  get lastIndex(): number {
    return this.#log.lastIndex;
  }

  entryAt(index: number): Entry | undefined {
    return this.#log.entryAt(index as LogIndex);
  }

  addFile(position: LogPosition): void {
    this.#files.set(position.index, position);
  }

  hasFile(position: LogPosition): boolean {
    return position.index === 0 || this.#files.has(position.index);
  }

  /** Removes all files but these. */
  retainFiles(positions: readonly LogPosition[]): void {
    const kept = new Set<number>(positions.map(({ index }) => index));
    for (const index of this.#files.keys()) if (!kept.has(index)) this.#files.delete(index);
  }

  get pendingSteps(): number {
    return this.#pending.length;
  }

  submit(persist: Persist): void {
    this.#pending.push({ persist, held: [] });
  }

  /** Keeps a message until everything submitted so far is durable. False: it may leave now. */
  hold(outbound: Outbound): boolean {
    const last = this.#pending.at(-1);
    last?.held.push(outbound);
    return last !== undefined;
  }

  /** Begins a write of stepsMax steps. False: nothing waits, or a write is under way. */
  startWrite(stepsMax: number): boolean {
    if (this.#writing > 0 || this.#pending.length === 0) return false;
    this.#writing = Math.min(stepsMax, this.#pending.length);
    return true;
  }

  /** The write under way completed; its steps, in order. */
  finishWrite(): readonly DiskStep[] {
    const steps = this.#pending.splice(0, this.#writing);
    this.#writing = 0;
    for (const step of steps) this.#apply(step.persist);
    return steps;
  }

  /** Power is lost: the first keptSteps of what was pending are durable, the rest never was. */
  crash(keptSteps: number): void {
    for (const step of this.#pending.slice(0, keptSteps)) this.#apply(step.persist);
    this.#pending.length = 0;
    this.#writing = 0;
  }

  restore(): RestoredState {
    const log = this.#log;
    assert(this.hasFile(this.#snapshot), "R21: the snapshot to start from is on disk");
    return {
      hardState: this.#hardState,
      snapshot: this.#snapshot,
      base: log.base,
      entries: log.slice((log.base.index + 1) as LogIndex, log.lastIndex),
    };
  }

  #apply(persist: Persist): void {
    const { truncateFrom, base, snapshot, entries, hardState } = persist;
    const log = this.#log;
    if (truncateFrom !== undefined) {
      const term = hardState?.term ?? this.#hardState.term;
      const cut = log.slice(truncateFrom, log.lastIndex);
      if (truncateFrom <= log.lastIndex) log.truncate(truncateFrom);
      for (const entry of cut) {
        // What a new base covers is not lost: its snapshot holds it.
        if (base === undefined || entry.index > base.index) this.#onTruncate(entry, term);
      }
    }
    if (base !== undefined) {
      if (base.index > log.lastIndex) log.reset(base);
      else log.compact(base.index);
      assert(log.base.term === base.term, "R23: the durable log begins where it says");
    }
    if (snapshot !== undefined) this.#snapshot = snapshot;
    log.append(entries);
    if (hardState === undefined) return;
    assert(hardState.term >= this.#hardState.term, "R4: a durable term never decreases");
    this.#hardState = hardState;
  }
}
