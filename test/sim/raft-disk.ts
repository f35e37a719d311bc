/**
 * The disk of one simulated replica: steps become durable in order, each whole or not at all.
 *
 * Steps that are submitted while a write is under way share the next one. A crash keeps a prefix
 * of what was not yet reported, of any length: a step can be on disk without anyone knowing.
 */

import { assert } from "../../src/base/assert.ts";
import type { Outbound, Persist } from "../../src/raft/output.ts";
import {
  type Entry,
  type HardState,
  INITIAL_HARD_STATE,
  LOG_START,
  type RestoredState,
} from "../../src/raft/types.ts";

export interface DiskStep {
  readonly persist: Persist;
  /** Messages that leave once this step is durable. */
  readonly held: Outbound[];
}

export class SimDisk {
  #hardState: HardState = INITIAL_HARD_STATE;
  readonly #entries: Entry[] = [];
  readonly #pending: DiskStep[] = [];
  /** Steps of the write under way. */
  #writing = 0;
  readonly #onTruncate: (entry: Entry) => void;

  constructor(onTruncate: (entry: Entry) => void) {
    this.#onTruncate = onTruncate;
  }

  /** A test starts with this on disk. */
  preset(restored: RestoredState): void {
    this.#hardState = restored.hardState;
    this.#entries.push(...restored.entries);
  }

  get hardState(): HardState {
    return this.#hardState;
  }

  get lastIndex(): number {
    return this.#entries.length;
  }

  entryAt(index: number): Entry | undefined {
    return this.#entries[index - 1];
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
    return {
      hardState: this.#hardState,
      snapshot: LOG_START,
      base: LOG_START,
      entries: [...this.#entries],
    };
  }

  #apply(persist: Persist): void {
    const { truncateFrom, entries, hardState } = persist;
    if (truncateFrom !== undefined) {
      for (const entry of this.#entries.slice(truncateFrom - 1)) this.#onTruncate(entry);
      this.#entries.length = truncateFrom - 1;
    }
    for (const entry of entries) {
      assert(entry.index === this.#entries.length + 1, "a durable log has no gaps");
      this.#entries.push(entry);
    }
    if (hardState === undefined) return;
    assert(hardState.term >= this.#hardState.term, "R4: a durable term never decreases");
    this.#hardState = hardState;
  }
}
