/**
 * Virtual time without promises, for cores alone: things happen one after the other, as they are
 * due.
 */

import { EventHeap } from "../../src/testing/event-heap.ts";

export class EventQueue {
  readonly #events = new EventHeap<() => void>();
  #nowMs = 0;
  #happened = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Events that have run. */
  get happened(): number {
    return this.#happened;
  }

  after(delayMs: number, run: () => void): void {
    this.#events.add(this.#nowMs + Math.max(0, delayMs), run);
  }

  /** Runs everything up to endMs; stops early when isDone says so after an event. */
  runUntil(endMs: number, isDone: () => boolean = () => false): void {
    for (let ms = this.#events.nextMs; ms !== undefined; ms = this.#events.nextMs) {
      if (ms > endMs) break;
      this.#nowMs = ms;
      this.#happened++;
      this.#events.take()();
      if (isDone()) return;
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }
}
