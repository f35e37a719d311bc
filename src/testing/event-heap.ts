/**
 * What is to happen at given times: earliest first, ties in the order of adding. A heap, so that
 * the order in which a run of millions of events takes them costs little, and is always the same.
 */

import { defined } from "../base/assert.ts";

interface Scheduled<Event> {
  readonly atMs: number;
  readonly order: number;
  readonly event: Event;
}

export class EventHeap<Event> {
  readonly #heap: Scheduled<Event>[] = [];
  #added = 0;

  /** When the next event is due; undefined when there is none. */
  get nextMs(): number | undefined {
    return this.#heap[0]?.atMs;
  }

  add(atMs: number, event: Event): void {
    const heap = this.#heap;
    const scheduled = { atMs, order: this.#added++, event };
    let at = heap.length;
    heap.push(scheduled);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(scheduled, heap[parent] as Scheduled<Event>)) break;
      heap[at] = heap[parent] as Scheduled<Event>;
      at = parent;
    }
    heap[at] = scheduled;
  }

  /** Removes the next event, of which there must be one. */
  take(): Event {
    const heap = this.#heap;
    const next = defined(heap[0], "something is scheduled");
    const last = heap.pop() as Scheduled<Event>;
    if (heap.length === 0) return next.event;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Scheduled<Event>)) child++;
      if (!isBefore(heap[child] as Scheduled<Event>, last)) break;
      heap[at] = heap[child] as Scheduled<Event>;
      at = child;
    }
    heap[at] = last;
    return next.event;
  }
}

function isBefore(a: Scheduled<unknown>, b: Scheduled<unknown>): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
