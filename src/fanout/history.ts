/**
 * The recent changes of one shard, by revision: what watches read from and what lists at an earlier
 * revision are worked out with. Every replica fills its own from the entries that it applies, so a
 * watch can resume on any server.
 *
 * Bounded in changes; the oldest revisions go first, whole. Everything above `floor` is kept.
 */

import { assert } from "../base/assert.ts";
import type { Revision } from "../base/brands.ts";
import type { ShardEvent } from "../machine/shard/events.ts";

/** The events of one entry; entries without any are not listed. */
export interface RevisionEvents {
  readonly revision: Revision;
  readonly events: readonly ShardEvent[];
  readonly changeCount: number;
}

export class EventHistory {
  readonly #changesMax: number;
  readonly #revisionsMax: number;
  #entries: RevisionEvents[] = [];
  /** Entries before this position in the array are dropped; compacted now and then. */
  #start = 0;
  #changeCount = 0;
  #floor: Revision;
  #revision: Revision;

  /** `start` is the machine's revision when nothing has been applied yet. */
  constructor(options: {
    readonly start: Revision;
    readonly changesMax: number;
    readonly revisionsMax: number;
  }) {
    this.#changesMax = options.changesMax;
    this.#revisionsMax = options.revisionsMax;
    this.#floor = options.start;
    this.#revision = options.start;
  }

  /** Changes at or below it are no longer kept: resuming needs a revision at or above it. */
  get floor(): Revision {
    return this.#floor;
  }

  /** Of the last entry that was added, with or without events. */
  get revision(): Revision {
    return this.#revision;
  }

  add(revision: Revision, events: readonly ShardEvent[]): void {
    assert(revision > this.#revision, "revisions are added in order");
    this.#revision = revision;
    if (events.length === 0) return;
    let changeCount = 0;
    for (const event of events) changeCount += event.changes.length;
    // A copy: without the room that the entry's own array has for more.
    this.#entries.push({ revision, events: events.slice(), changeCount });
    this.#changeCount += changeCount;
    this.#trim();
  }

  /**
   * The machine's state was replaced by a later one, and the changes between are not known: they
   * count as not kept, so that a watch from before gets a marked fresh snapshot (law 21).
   */
  reset(revision: Revision): void {
    assert(revision > this.#revision, "a state is replaced by a later one");
    this.#entries = [];
    this.#start = 0;
    this.#changeCount = 0;
    this.#floor = revision;
    this.#revision = revision;
  }

  /** Entries with events above a revision, oldest first. The revision must not be below floor. */
  *after(revision: Revision): Generator<RevisionEvents> {
    assert(revision >= this.#floor, "only kept revisions are read");
    for (let at = this.#firstAfter(revision); at < this.#entries.length; at++) {
      yield this.#entries[at] as RevisionEvents;
    }
  }

  #firstAfter(revision: Revision): number {
    let low = this.#start;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as RevisionEvents).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(): void {
    while (
      this.#entries.length - this.#start > 1 &&
      (this.#changeCount > this.#changesMax ||
        this.#entries.length - this.#start > this.#revisionsMax)
    ) {
      const oldest = this.#entries[this.#start] as RevisionEvents;
      this.#start++;
      this.#changeCount -= oldest.changeCount;
      this.#floor = oldest.revision;
    }
    if (this.#start > 1_000 && this.#start * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#start);
      this.#start = 0;
    }
  }
}
