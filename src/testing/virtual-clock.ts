/**
 * Time for tests and simulations: a clock that only moves when it is told to, and the timers that
 * hang on it. It implements Clock and Timers of replica/ports and of client/ports.
 *
 * Deterministic: timers run in order of their due time, then of their making; after each of them a
 * macrotask is crossed, so that promises settle exactly as far as they can without more time.
 */

import { assert } from "../base/assert.ts";
import type { MonotonicMs } from "../base/brands.ts";
import type { Clock, Timers } from "../replica/ports.ts";
import { EventHeap } from "./event-heap.ts";

interface PendingTimer {
  readonly run: () => void;
  isCancelled: boolean;
}

export class VirtualClock implements Clock, Timers {
  #nowMs: number;
  #eventCount = 0;
  #pendingCount = 0;
  /** Cancelled timers leave it when due. */
  readonly #timers = new EventHeap<PendingTimer>();
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
    return this.#pendingCount;
  }

  /** What has run so far: timers, and callbacks that were to run soon or after reading. */
  get eventCount(): number {
    return this.#eventCount;
  }

  after(delayMs: number, run: () => void): () => void {
    assert(delayMs >= 0, "a timer is never set in the past");
    const timer = { run, isCancelled: false };
    this.#timers.add(this.#nowMs + delayMs, timer);
    this.#pendingCount++;
    return () => {
      if (timer.isCancelled) return;
      timer.isCancelled = true;
      this.#pendingCount--;
    };
  }

  afterReading(run: () => void): void {
    this.#afterReading.push(run);
  }

  soon(run: () => void): void {
    this.#soon.push(run);
  }

  /** Lets everything happen that needs no more time. */
  async settle(): Promise<void> {
    await nextMacrotask();
    while (this.#runWaiting()) await nextMacrotask();
  }

  /** Moves time on, running what falls due on the way at its own moment. */
  async advance(ms: number): Promise<void> {
    assert(ms >= 0, "time never goes back");
    await this.runUntil(this.#nowMs + ms, () => false);
  }

  /**
   * Runs what is due up to endMs, one event after the other, and asks after each, once promises
   * have settled, whether that was enough. Answers whether it was; if not, time is at endMs.
   */
  async runUntil(endMs: number, isEnough: () => boolean): Promise<boolean> {
    await nextMacrotask();
    while (this.#runWaiting() || this.#runTimer(endMs)) {
      await nextMacrotask();
      if (isEnough()) return true;
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
    return false;
  }

  /** Moves time on without running anything: a process that stood still. */
  freeze(ms: number): void {
    assert(ms >= 0, "time never goes back");
    this.#nowMs += ms;
  }

  /** Runs what was to run soon, else what was to run after reading. */
  #runWaiting(): boolean {
    let waiting = this.#soon;
    if (waiting.length > 0) {
      this.#soon = [];
    } else {
      waiting = this.#afterReading;
      if (waiting.length === 0) return false;
      this.#afterReading = [];
    }
    this.#eventCount += waiting.length;
    for (const run of waiting) run();
    return true;
  }

  #runTimer(endMs: number): boolean {
    for (;;) {
      const dueMs = this.#timers.nextMs;
      if (dueMs === undefined || dueMs > endMs) return false;
      const next = this.#timers.take();
      if (next.isCancelled) continue;
      next.isCancelled = true;
      this.#pendingCount--;
      this.#eventCount++;
      this.#nowMs = Math.max(this.#nowMs, dueMs);
      next.run();
      return true;
    }
  }
}

/** What promises have left to do runs before it. */
function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
