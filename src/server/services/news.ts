/**
 * What a watch stream that waits is woken by: changes, the end of the caller, and of the server.
 * Listeners are put up once and not for every wait: thousands of watches wait for the same entries,
 * and share one drain signal.
 */

import type { Timers } from "../../replica/ports.ts";
import type { ShardGroup } from "./cluster-groups.ts";

/** The server's end, told to any number of streams; an AbortSignal searches all at each change. */
export class Drain {
  readonly #signal: AbortSignal;
  readonly #listeners = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => {
      for (const run of this.#listeners) run();
    });
  }

  get hasBegun(): boolean {
    return this.#signal.aborted;
  }

  /** Calls back when it begins; the answer stops it. */
  onBegin(run: () => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }
}

export class News {
  readonly #timers: Timers;
  readonly #drain: Drain;
  readonly #signal: AbortSignal | undefined;
  readonly #wake = (): void => this.#onNews();
  #stops: readonly (() => void)[] = [];
  #onNews: () => void = () => {};
  #isClosed = false;

  constructor(timers: Timers, drain: Drain, signal: AbortSignal | undefined) {
    this.#timers = timers;
    this.#drain = drain;
    this.#signal = signal;
  }

  /** Whether nobody takes frames any more. */
  get isClosed(): boolean {
    return this.#isClosed || this.#signal?.aborted === true;
  }

  listen(shard: ShardGroup): void {
    this.#stops = [shard.onApplied(this.#wake), this.#drain.onBegin(this.#wake)];
    this.#signal?.addEventListener("abort", this.#wake);
  }

  /** Resolves at the next news, or after a while. The caller has looked just before. */
  wait(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#onNews = () => {};
        cancelTimer();
        resolve();
      };
      const cancelTimer = this.#timers.after(timeoutMs, end);
      this.#onNews = end;
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#signal?.removeEventListener("abort", this.#wake);
    this.#onNews();
  }
}
