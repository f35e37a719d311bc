/**
 * When something may be due: a binary heap of reminders, earliest first.
 *
 * Reminders are hints. The truth is in the sessions and ranges; a reminder whose subject is gone is
 * stale and dropped, and one that comes too early, because a lease was renewed or a new leader has
 * given grace, is put back when its turn comes (not when the grace is given: law 11). So the heap
 * is no part of the replicated state: it can be rebuilt from it, and its inner order decides
 * nothing (what is due together is sorted by whoever ends it).
 */

import type { Epoch, Incarnation } from "../../base/brands.ts";

/**
 * A standing or one of its extensions may be due. Each standing has one reminder at a time, which
 * moves on when its turn comes: renewals leave nothing behind, however long leases last.
 */
export interface StandingReminder {
  readonly kind: "standing";
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  readonly keyspaceId: number;
  /** When it is looked at; undefined: it is not in the queue. Only the queue changes it. */
  queuedMs: number | undefined;
}

/** `deadlineMs` is that of its subject without any grace, and names the subject with the rest. */
export type Reminder =
  | StandingReminder
  /** A range's own deadline, one that no renewal has moved. */
  | {
      readonly kind: "range";
      readonly deadlineMs: number;
      readonly rangeId: string;
      readonly epoch: Epoch;
    }
  | { readonly kind: "import"; readonly deadlineMs: number; readonly importId: string };

/** When the subject of a reminder is due as things stand; undefined: there is none any more. */
export type DueMsOf = (reminder: Reminder) => number | undefined;

export class DueQueue {
  readonly #heap: Reminder[] = [];
  /** When each reminder is to be looked at: never after its subject is due. */
  readonly #times: number[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** `timeMs`: not after its subject is due. */
  add(reminder: Reminder, timeMs: number): void {
    if (reminder.kind === "standing") reminder.queuedMs = timeMs;
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#timeAt(parent) <= timeMs) break;
      this.#put(at, heap[parent] as Reminder, this.#timeAt(parent));
      at = parent;
    }
    this.#put(at, reminder, timeMs);
  }

  /** When the first thing is due. Drops stale reminders before it, and puts early ones back. */
  nextMs(dueMsOf: DueMsOf): number | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined) return undefined;
      const dueMs = dueMsOf(top);
      const timeMs = this.#timeAt(0);
      if (dueMs !== undefined && dueMs <= timeMs) return timeMs;
      this.#removeTop();
      if (dueMs !== undefined) this.add(top, dueMs);
    }
  }

  /** Removes and returns the earliest reminder of something that is due at a time. */
  takeUpTo(timeMs: number, dueMsOf: DueMsOf): Reminder | undefined {
    const nextMs = this.nextMs(dueMsOf);
    if (nextMs === undefined || nextMs > timeMs) return undefined;
    const top = this.#heap[0];
    this.#removeTop();
    if (top?.kind === "standing") top.queuedMs = undefined;
    return top;
  }

  #removeTop(): void {
    const heap = this.#heap;
    const moved = heap.pop() as Reminder;
    const timeMs = this.#times.pop() as number;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#timeAt(child + 1) < this.#timeAt(child)) child++;
      if (this.#timeAt(child) >= timeMs) break;
      this.#put(at, heap[child] as Reminder, this.#timeAt(child));
      at = child;
    }
    this.#put(at, moved, timeMs);
  }

  #put(at: number, reminder: Reminder, timeMs: number): void {
    this.#heap[at] = reminder;
    this.#times[at] = timeMs;
  }

  #timeAt(at: number): number {
    return this.#times[at] as number;
  }
}
