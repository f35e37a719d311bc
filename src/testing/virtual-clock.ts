/**
 * Time for tests and simulations: a clock that only moves when it is told to, and the timers that
 * hang on it. It implements Clock and Timers of replica/ports and of client/ports.
 *
 * Deterministic: timers run in order of their due time, then of their making; between two of them a
 * macrotask is crossed, so that promises settle exactly as far as they can without more time.
 */

import { assert } from "../base/assert.ts";
import type { MonotonicMs } from "../base/brands.ts";
import type { Clock, Timers } from "../replica/ports.ts";

interface PendingTimer {
  readonly atMs: number;
  readonly made: number;
  readonly run: () => void;
}

export class VirtualClock implements Clock, Timers {
  #nowMs: number;
  #made = 0;
  readonly #pending = new Set<PendingTimer>();
  #soon: (() => void)[] = [];
  #afterReading: (() => void)[] = [];

  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  nowMs(): MonotonicMs {
    return this.#nowMs as MonotonicMs;
  }

  /** Timers that were set and have neither run nor been cancelled. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  after(delayMs: number, run: () => void): () => void {
    assert(delayMs >= 0, "a timer is never set in the past");
    const timer = { atMs: this.#nowMs + delayMs, made: this.#made++, run };
    this.#pending.add(timer);
    return () => void this.#pending.delete(timer);
  }

  afterReading(run: () => void): void {
    this.#afterReading.push(run);
  }

  soon(run: () => void): void {
    this.#soon.push(run);
  }

  /** Lets everything happen that needs no more time. */
  async settle(): Promise<void> {
    for (;;) {
      await nextMacrotask();
      if (this.#soon.length > 0) this.#runAll(this.#soon.splice(0));
      else if (this.#afterReading.length > 0) this.#runAll(this.#afterReading.splice(0));
      else return;
    }
  }

  /** Moves time on, running what falls due on the way at its own moment. */
  async advance(ms: number): Promise<void> {
    assert(ms >= 0, "time never goes back");
    const endMs = this.#nowMs + ms;
    await this.settle();
    for (;;) {
      const next = this.#earliest();
      if (next === undefined || next.atMs > endMs) break;
      this.#pending.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
      await this.settle();
    }
    this.#nowMs = endMs;
  }

  /** Moves time on without running anything: a process that stood still. */
  freeze(ms: number): void {
    assert(ms >= 0, "time never goes back");
    this.#nowMs += ms;
  }

  #earliest(): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.#pending) {
      if (first === undefined || timer.atMs < first.atMs) first = timer;
      else if (timer.atMs === first.atMs && timer.made < first.made) first = timer;
    }
    return first;
  }

  #runAll(callbacks: readonly (() => void)[]): void {
    for (const run of callbacks) run();
  }
}

/** What promises have left to do runs before it. */
function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
