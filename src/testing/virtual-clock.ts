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

interface PendingTimer {
  readonly atMs: number;
  readonly made: number;
  readonly run: () => void;
  isCancelled: boolean;
}

export class VirtualClock implements Clock, Timers {
  #nowMs: number;
  #made = 0;
  #eventCount = 0;
  #pendingCount = 0;
  /** A heap: earliest first, ties in the order of making. Cancelled timers leave it when due. */
  readonly #heap: PendingTimer[] = [];
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
    const timer = { atMs: this.#nowMs + delayMs, made: this.#made++, run, isCancelled: false };
    this.#push(timer);
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
      const next = this.#heap[0];
      if (next === undefined || next.atMs > endMs) return false;
      this.#pop();
      if (next.isCancelled) continue;
      next.isCancelled = true;
      this.#pendingCount--;
      this.#eventCount++;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
      return true;
    }
  }

  #push(timer: PendingTimer): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(timer, heap[parent] as PendingTimer)) break;
      heap[at] = heap[parent] as PendingTimer;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as PendingTimer;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as PendingTimer)) child++;
      if (!isBefore(heap[child] as PendingTimer, last)) break;
      heap[at] = heap[child] as PendingTimer;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: PendingTimer, b: PendingTimer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.made < b.made);
}

/** What promises have left to do runs before it. */
function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
