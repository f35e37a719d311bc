/** Operations of a snapshot store that wait for the test. */

import type { MemorySnapshotStore, SnapshotOperation } from "../../src/testing/memory-snapshots.ts";

/** Holds operations of one kind until they are let go, and counts them. */
export class Gate {
  count = 0;
  readonly #operation: SnapshotOperation | undefined;
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  constructor(store: MemorySnapshotStore, operation: SnapshotOperation | undefined) {
    this.#operation = operation;
    const inner = store.before;
    store.before = (kind, group) => this.#before(kind) ?? inner(kind, group);
  }

  /** Lets one go. */
  next(): void {
    this.#waiting.shift()?.();
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#waiting.splice(0)) go();
  }

  #before(kind: SnapshotOperation): Promise<void> | undefined {
    if (kind !== this.#operation) return undefined;
    this.count++;
    if (this.#isOpen) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
