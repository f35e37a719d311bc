/**
 * When something may be due: a binary heap of reminders, earliest first.
 *
 * Reminders are hints. The truth is in the sessions and ranges; a reminder whose subject has moved
 * on is stale and dropped. So the heap is no part of the replicated state: it can be rebuilt from
 * it, and its inner order decides nothing (what is due together is sorted by whoever ends it).
 */

import type { Epoch, Incarnation } from "../../base/brands.ts";

export type Reminder =
  /** An extension of a standing, or the standing itself, reaches its deadline. */
  | {
      readonly kind: "standing";
      readonly deadlineMs: number;
      readonly nodeId: string;
      readonly incarnation: Incarnation;
      readonly keyspaceId: number;
    }
  /** A range's own deadline, one that no renewal has moved. */
  | {
      readonly kind: "range";
      readonly deadlineMs: number;
      readonly rangeId: string;
      readonly epoch: Epoch;
    }
  | { readonly kind: "import"; readonly deadlineMs: number; readonly importId: string };

export class DueQueue {
  readonly #heap: Reminder[] = [];

  get size(): number {
    return this.#heap.length;
  }

  add(reminder: Reminder): void {
    const heap = this.#heap;
    heap.push(reminder);
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#deadlineAt(parent) <= reminder.deadlineMs) break;
      heap[at] = heap[parent] as Reminder;
      at = parent;
    }
    heap[at] = reminder;
  }

  /** The earliest reminder that is not stale; stale ones before it are dropped. */
  peek(isStale: (reminder: Reminder) => boolean): Reminder | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined || !isStale(top)) return top;
      this.#removeTop();
    }
  }

  /** Removes and returns the earliest reminder at or before a time. */
  takeUpTo(timeMs: number): Reminder | undefined {
    const top = this.#heap[0];
    if (top === undefined || top.deadlineMs > timeMs) return undefined;
    this.#removeTop();
    return top;
  }

  #removeTop(): void {
    const heap = this.#heap;
    const moved = heap.pop() as Reminder;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#deadlineAt(child + 1) < this.#deadlineAt(child)) child++;
      if (this.#deadlineAt(child) >= moved.deadlineMs) break;
      heap[at] = heap[child] as Reminder;
      at = child;
    }
    heap[at] = moved;
  }

  #deadlineAt(at: number): number {
    return (this.#heap[at] as Reminder).deadlineMs;
  }
}
