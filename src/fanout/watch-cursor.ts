/**
 * One watch: a position in the history, and what to send next. Holds no queue of its own, so a slow
 * watcher costs a cursor; when the history has gone past it, it gets a marked fresh snapshot or its
 * end, as it asked (law 21).
 */

import { assert } from "../base/assert.ts";
import type { Revision } from "../base/brands.ts";
import type { EventCause, RecordChange } from "../machine/shard/events.ts";
import type { RangeRecord } from "../machine/shard/types.ts";
import { matchesChange, type WatchFilter } from "./filter.ts";
import type { EventHistory } from "./history.ts";

export interface CausedChange extends RecordChange {
  readonly cause: EventCause;
}

export interface ChangedRevision {
  readonly revision: Revision;
  readonly changes: readonly CausedChange[];
}

export type CursorFrame =
  | {
      readonly kind: "snapshot";
      readonly revision: Revision;
      readonly records: readonly RangeRecord[];
      readonly first: boolean;
      readonly last: boolean;
      readonly afterCompaction: boolean;
    }
  | {
      readonly kind: "changes";
      /** The last revision in it. */
      readonly revision: Revision;
      readonly revisions: readonly ChangedRevision[];
      /** The last revision goes on in the next frame. */
      readonly continues: boolean;
    }
  | { readonly kind: "progress"; readonly revision: Revision }
  | { readonly kind: "compacted"; readonly oldest: Revision };

export interface WatchCursorOptions {
  readonly filter: WatchFilter;
  readonly history: EventHistory;
  /** Matching records now, at the history's revision, in key order. */
  readonly snapshot: () => readonly RangeRecord[];
  /** A frame is closed before its records weigh more; a single record always fits. */
  readonly frameBytesMax: number;
  /** Delivered up to here already; undefined starts with a snapshot. */
  readonly resumeAfter: Revision | undefined;
  readonly failIfCompacted: boolean;
}

export class WatchCursor {
  readonly #options: WatchCursorOptions;
  /** Everything up to here is delivered, once nothing below is pending. */
  #position: Revision | undefined;
  #snapshot: PendingSnapshot | undefined;
  #cut: { readonly revision: Revision; readonly rest: readonly CausedChange[] } | undefined;

  constructor(options: WatchCursorOptions) {
    this.#options = options;
    this.#position = options.resumeAfter;
    if (this.#position === undefined) this.#startSnapshot(false);
  }

  /** Whether next() has something other than progress to say. */
  get isBehind(): boolean {
    if (this.#snapshot !== undefined || this.#cut !== undefined) return true;
    const position = this.#position;
    return position !== undefined && position < this.#options.history.revision;
  }

  /**
   * The next frame with content, or undefined when nothing matching has happened. Scans history up
   * to its end, so undefined means that the cursor is level with it.
   */
  next(): CursorFrame | undefined {
    if (this.#snapshot !== undefined) return this.#nextOfSnapshot(this.#snapshot);
    if (this.#cut !== undefined) return this.#nextOfCut(this.#cut.revision, this.#cut.rest);
    const position = this.#position;
    assert(position !== undefined, "a cursor without a snapshot has a position");
    const { history, failIfCompacted } = this.#options;
    if (position < history.floor) {
      if (failIfCompacted) return { kind: "compacted", oldest: history.floor };
      return this.#nextOfSnapshot(this.#startSnapshot(true));
    }
    return this.#nextChanges(position);
  }

  /** Says how far the watch is; only when next() has just answered undefined. */
  progress(): Extract<CursorFrame, { readonly kind: "progress" }> {
    assert(!this.isBehind, "progress is told when everything before it was sent");
    return { kind: "progress", revision: this.#position ?? this.#options.history.revision };
  }

  #startSnapshot(afterCompaction: boolean): PendingSnapshot {
    const { history, snapshot } = this.#options;
    const pending = { revision: history.revision, records: snapshot(), at: 0, afterCompaction };
    this.#snapshot = pending;
    return pending;
  }

  #nextOfSnapshot(pending: PendingSnapshot): CursorFrame {
    const { revision, records, at, afterCompaction } = pending;
    const part = records.slice(at, at + this.#countThatFits(records, at, recordBytes));
    const last = at + part.length >= records.length;
    pending.at += part.length;
    if (last) {
      this.#snapshot = undefined;
      this.#position = revision;
    }
    return { kind: "snapshot", revision, records: part, first: at === 0, last, afterCompaction };
  }

  #nextChanges(position: Revision): CursorFrame | undefined {
    const { history, filter, frameBytesMax } = this.#options;
    const revisions: ChangedRevision[] = [];
    let room = frameBytesMax;
    for (const { revision, events } of history.after(position)) {
      const changes: CausedChange[] = [];
      for (const { cause, changes: all } of events) {
        for (const change of all) {
          if (matchesChange(filter, change)) changes.push({ ...change, cause });
        }
      }
      if (changes.length === 0) continue;
      const bytes = changes.reduce((sum, change) => sum + changeBytes(change), 0);
      if (bytes > room) {
        // A revision that does not fit goes in a frame of its own, cut if it must be.
        if (revisions.length === 0) return this.#nextOfCut(revision, changes);
        break;
      }
      revisions.push({ revision, changes });
      room -= bytes;
    }
    const last = revisions.at(-1);
    if (last === undefined) {
      // A token of the future stays where it is until the history has come there.
      this.#position = Math.max(position, history.revision) as Revision;
      return undefined;
    }
    this.#position = last.revision;
    return { kind: "changes", revision: last.revision, revisions, continues: false };
  }

  #nextOfCut(revision: Revision, rest: readonly CausedChange[]): CursorFrame {
    const changes = rest.slice(0, this.#countThatFits(rest, 0, changeBytes));
    const left = rest.slice(changes.length);
    const continues = left.length > 0;
    this.#cut = continues ? { revision, rest: left } : undefined;
    if (!continues) this.#position = revision;
    return { kind: "changes", revision, revisions: [{ revision, changes }], continues };
  }

  #countThatFits<T>(items: readonly T[], from: number, bytesOf: (item: T) => number): number {
    let room = this.#options.frameBytesMax;
    let count = 0;
    for (let at = from; at < items.length; at++) {
      room -= bytesOf(items[at] as T);
      if (room < 0 && count > 0) break;
      count++;
    }
    return count;
  }
}

/** What a record takes on the wire beside its keys, about. */
const RECORD_OVERHEAD_BYTES = 160;

function recordBytes({ startKey, endKey }: RangeRecord): number {
  return RECORD_OVERHEAD_BYTES + startKey.length + (endKey?.length ?? 0);
}

function changeBytes({ before, after }: RecordChange): number {
  return (before ? recordBytes(before) : 0) + (after ? recordBytes(after) : 0);
}

interface PendingSnapshot {
  readonly revision: Revision;
  readonly records: readonly RangeRecord[];
  at: number;
  readonly afterCompaction: boolean;
}
