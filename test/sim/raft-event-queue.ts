/**
 * Virtual time: a heap of things that happen, earliest first, ties in the order of scheduling.
 */

interface Scheduled {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class EventQueue {
  readonly #heap: Scheduled[] = [];
  #nowMs = 0;
  #scheduled = 0;
  #happened = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Events that have run. */
  get happened(): number {
    return this.#happened;
  }

  after(delayMs: number, run: () => void): void {
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#scheduled++, run };
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as Scheduled)) break;
      heap[at] = heap[parent] as Scheduled;
      at = parent;
    }
    heap[at] = event;
  }

  /** Runs everything up to endMs; stops early when isDone says so after an event. */
  runUntil(endMs: number, isDone: () => boolean = () => false): void {
    for (let next = this.#heap[0]; next !== undefined; next = this.#heap[0]) {
      if (next.atMs > endMs) break;
      this.#pop();
      this.#nowMs = next.atMs;
      this.#happened++;
      next.run();
      if (isDone()) return;
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Scheduled;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Scheduled)) child++;
      if (!isBefore(heap[child] as Scheduled, last)) break;
      heap[at] = heap[child] as Scheduled;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
