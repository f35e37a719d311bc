/**
 * What the watch by node id has shown of one group: the ranges of this incarnation, exact as of a
 * revision, and where ranges went that it had before.
 */

import type { Revision } from "../base/brands.ts";
import { spanContains } from "../base/span.ts";
import type { Owner, RangeChange, RangeRecord, WatchFrame } from "../wire/api.ts";

/** Enough to send clients on; the directory knows all of them. */
const DEPARTED_MAX = 1_024;

/** A range that is ours as of a frame, or (undefined) no longer is. */
export interface ViewChange {
  readonly rangeId: string;
  readonly record: RangeRecord | undefined;
  /** The revision as of which it is so. */
  readonly asOf: Revision;
  /** Why it is no longer ours. */
  readonly cause: "released" | "expired" | "successor";
}

export class WatchView {
  readonly #owner: Owner;
  #ours: Map<string, RangeRecord> = new Map();
  readonly #departed = new Map<string, RangeRecord>();
  #asOf: Revision | undefined;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  /** undefined: no snapshot yet. */
  get asOf(): Revision | undefined {
    return this.#asOf;
  }

  get(rangeId: string): RangeRecord | undefined {
    return this.#ours.get(rangeId);
  }

  copy(): ReadonlyMap<string, RangeRecord> {
    return new Map(this.#ours);
  }

  findDeparted(keyspace: string, key: Uint8Array): RangeRecord | undefined {
    for (const record of this.#departed.values()) {
      const { descriptor } = record;
      if (descriptor.keyspace === keyspace && spanContains(descriptor.span, key)) return record;
    }
    return undefined;
  }

  /** Applies a whole frame; one that is older than the view changes nothing. */
  apply(frame: WatchFrame): readonly ViewChange[] {
    const asOf = this.#asOf ?? 0;
    switch (frame.kind) {
      case "progress":
        if (this.#asOf !== undefined && frame.header.revision > asOf) {
          this.#asOf = frame.header.revision;
        }
        return [];
      case "snapshot":
        return frame.header.revision < asOf
          ? []
          : this.#replace(frame.ranges, frame.header.revision);
      case "changes": {
        if (this.#asOf === undefined) return [];
        const changes: ViewChange[] = [];
        for (const { revision, changes: ofRevision } of frame.revisions) {
          if (revision <= asOf) continue;
          this.#asOf = revision;
          for (const [rangeId, change] of outcomes(ofRevision)) {
            changes.push(...this.#change(rangeId, change, revision));
          }
        }
        return changes;
      }
    }
  }

  #replace(ranges: readonly RangeRecord[], revision: Revision): readonly ViewChange[] {
    const before = this.#ours;
    this.#ours = new Map();
    this.#asOf = revision;
    const changes: ViewChange[] = [];
    for (const record of ranges) {
      const { rangeId } = record.descriptor;
      if (!this.#isOurs(record)) continue;
      this.#ours.set(rangeId, record);
      changes.push({ rangeId, record, asOf: revision, cause: "expired" });
    }
    for (const rangeId of before.keys()) {
      if (this.#ours.has(rangeId)) continue;
      changes.push({ rangeId, record: undefined, asOf: revision, cause: "expired" });
    }
    return changes;
  }

  #change(rangeId: string, change: RangeChange, asOf: Revision): readonly ViewChange[] {
    const { before, after } = change;
    if (after !== undefined && this.#isOurs(after)) {
      this.#ours.set(rangeId, after);
      this.#departed.delete(rangeId);
      return [{ rangeId, record: after, asOf, cause: "expired" }];
    }
    const wasOurs = this.#ours.delete(rangeId);
    if (after !== undefined && (wasOurs || this.#departed.has(rangeId))) this.#depart(after);
    if (!wasOurs) return [];
    const isTaken = before?.successor !== undefined || after?.descriptor.owner !== undefined;
    const taken = isTaken ? "successor" : "expired";
    const cause = change.cause === "released" ? "released" : taken;
    return [{ rangeId, record: undefined, asOf, cause }];
  }

  #depart(record: RangeRecord): void {
    const { rangeId } = record.descriptor;
    this.#departed.delete(rangeId);
    this.#departed.set(rangeId, record);
    if (this.#departed.size <= DEPARTED_MAX) return;
    const [oldest] = this.#departed.keys();
    if (oldest !== undefined) this.#departed.delete(oldest);
  }

  #isOurs({ descriptor: { owner } }: RangeRecord): boolean {
    return owner?.nodeId === this.#owner.nodeId && owner.incarnation === this.#owner.incarnation;
  }
}

/** What a revision makes of each range: an end and the grant that follows it are one step. */
function outcomes(changes: readonly RangeChange[]): ReadonlyMap<string, RangeChange> {
  const byRange = new Map<string, RangeChange>();
  for (const change of changes) {
    const rangeId = (change.after ?? change.before)?.descriptor.rangeId;
    if (rangeId === undefined) continue;
    const first = byRange.get(rangeId);
    byRange.set(rangeId, first === undefined ? change : { ...first, after: change.after });
  }
  return byRange;
}
