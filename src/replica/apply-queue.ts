/**
 * Committed entries that wait to be applied, in log order, each exactly once. The core hands them
 * out in whole arrays (after a restart the whole log is one); they are kept as they come.
 */

import type { Entry } from "../raft/types.ts";

export class ApplyQueue {
  readonly #portions: (readonly Entry[])[] = [];
  /** Taken already of the first portion. */
  #taken = 0;

  get isEmpty(): boolean {
    return this.#portions.length === 0;
  }

  push(entries: readonly Entry[]): void {
    if (entries.length > 0) this.#portions.push(entries);
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
