/**
 * Every version of every range, by revision, from the events of the committed entries: what any
 * answer about the map must agree with.
 */

import type { Revision } from "../../src/base/brands.ts";
import { type Bytes, compareBytes } from "../../src/base/bytes.ts";
import { spanContains } from "../../src/base/span.ts";
import type { EventCause, ShardEvent } from "../../src/machine/shard/events.ts";
import type { RangeRecord } from "../../src/machine/shard/types.ts";

export interface RangeChangeSeen {
  readonly cause: EventCause;
  readonly keyspaceId: number;
  readonly before: RangeRecord | undefined;
  readonly after: RangeRecord | undefined;
}

/** All changes of one entry that changed something. */
export interface RevisionSeen {
  readonly revision: Revision;
  readonly changes: readonly RangeChangeSeen[];
}

interface Version {
  readonly revision: Revision;
  /** undefined: retired. */
  readonly record: RangeRecord | undefined;
}

export class RangeVersions {
  /** Ascending by revision. */
  readonly revisions: RevisionSeen[] = [];
  readonly #versions = new Map<string, Version[]>();
  /** Range ids that a keyspace has ever had. */
  readonly #rangeIds = new Map<number, string[]>();

  add(revision: Revision, events: readonly ShardEvent[]): RevisionSeen | undefined {
    if (events.length === 0) return undefined;
    const changes = events.flatMap(({ cause, keyspaceId, changes: records }) =>
      records.map(({ before, after }) => ({ cause, keyspaceId, before, after })),
    );
    const seen = { revision, changes };
    this.revisions.push(seen);
    for (const { before, after, keyspaceId } of changes) {
      const rangeId = (after ?? before)?.rangeId ?? "";
      let versions = this.#versions.get(rangeId);
      if (versions === undefined) {
        versions = [];
        this.#versions.set(rangeId, versions);
        const ids = this.#rangeIds.get(keyspaceId) ?? [];
        ids.push(rangeId);
        this.#rangeIds.set(keyspaceId, ids);
      }
      versions.push({ revision, record: after });
    }
    return seen;
  }

  /** A range as it stood after the entry at a revision. */
  at(rangeId: string, revision: number): RangeRecord | undefined {
    const versions = this.#versions.get(rangeId);
    if (versions === undefined) return undefined;
    for (let at = versions.length - 1; at >= 0; at--) {
      const version = versions[at] as Version;
      if (version.revision <= revision) return version.record;
    }
    return undefined;
  }

  /** The ranges of a keyspace at a revision, in key order. */
  mapAt(keyspaceId: number, revision: number): RangeRecord[] {
    const ids = this.#rangeIds.get(keyspaceId) ?? [];
    return ids
      .flatMap((rangeId) => this.at(rangeId, revision) ?? [])
      .toSorted((a, b) => compareBytes(a.startKey, b.startKey));
  }

  /** The range of a key at a revision. */
  find(keyspaceId: number, key: Bytes, revision: number): RangeRecord | undefined {
    for (const rangeId of this.#rangeIds.get(keyspaceId) ?? []) {
      const record = this.at(rangeId, revision);
      if (record !== undefined && spanContains(record, key)) return record;
    }
    return undefined;
  }

  /** Position in `revisions` of the first that is later. */
  firstAfter(revision: number): number {
    let low = 0;
    let high = this.revisions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.revisions[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
