/**
 * Committed entries that wait to be applied, in log order, each exactly once. The core hands them
 * out in whole arrays (after a restart the whole log is one); they are kept as they come.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex } from "../base/brands.ts";
import type { Entry } from "../raft/types.ts";

export class ApplyQueue {
  #portions: (readonly Entry[])[] = [];
  /** Taken already of the first portion. */
  #taken = 0;

  get isEmpty(): boolean {
    return this.#portions.length === 0;
  }

  push(entries: readonly Entry[]): void {
    if (entries.length > 0) this.#portions.push(entries);
  }

  /** Forgets all, which a snapshot covers up to this index. */
  dropThrough(index: LogIndex): void {
    const last = this.#portions.at(-1)?.at(-1);
    assert(last === undefined || last.index <= index, "what waits is covered by the snapshot");
    this.#portions = [];
    this.#taken = 0;
  }

  /** The oldest entry, removed; undefined when nothing waits. */
  take(): Entry | undefined {
    const portion = this.#portions[0];
    const entry = portion?.[this.#taken];
    if (portion === undefined) return undefined;
    this.#taken++;
    if (this.#taken === portion.length) {
      this.#portions.shift();
      this.#taken = 0;
    }
    return entry;
  }
}
