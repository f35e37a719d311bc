/**
 * A keyspace's map on its way: ranges are made row by row while they are staged, so that switching
 * a large map in costs little in one entry. Nobody sees a draft; its records are still written to
 * and become immutable when it is published.
 */

import type { Bytes } from "../../base/bytes.ts";
import type { Epoch, GroupId, Revision } from "../../base/brands.ts";
import { bytesMap, type OrderedMap, stringMap } from "../../base/ordered-map.ts";
import type { ImportRow } from "./commands.ts";
import type { RangeRecord, RangeSlot } from "./types.ts";

type Draft<T> = { -readonly [Field in keyof T]: T[Field] };

/** What is not the same in all rows of a draft. */
export type DraftRow = Pick<RangeRecord, "rangeId" | "startKey" | "intendedNodeId">;

export class MapDraft {
  /** By start key; they tile from the first row's start to +inf. */
  readonly ranges: OrderedMap<Bytes, RangeSlot> = bytesMap();
  /** Rows that name a node, by node. */
  readonly intendedCounts: OrderedMap<string, number> = stringMap();
  readonly #keyspaceId: number;
  readonly #records: Draft<RangeRecord>[] = [];

  constructor(keyspaceId: number) {
    this.#keyspaceId = keyspaceId;
  }

  get rowCount(): number {
    return this.#records.length;
  }

  get lastStartKey(): Bytes | undefined {
    return this.#records.at(-1)?.startKey;
  }

  /**
   * Adds rows whose start keys ascend from the last one on; each range ends where the next begins.
   * Range ids are made of this entry's revision: it is the one that makes the ranges.
   */
  add(group: GroupId, revision: Revision, rows: readonly ImportRow[]): void {
    for (const [ordinal, { startKey, intendedNodeId }] of rows.entries()) {
      this.append({ rangeId: `${group}.${revision}.${ordinal}`, startKey, intendedNodeId });
    }
  }

  /** Adds one row, whose start key is above the last one. */
  append({ rangeId, startKey, intendedNodeId }: DraftRow): void {
    const previous = this.#records.at(-1);
    if (previous !== undefined) previous.endKey = startKey;
    const record: Draft<RangeRecord> = {
      rangeId,
      keyspaceId: this.#keyspaceId,
      startKey,
      endKey: undefined,
      epoch: 0 as Epoch,
      owner: undefined,
      successor: undefined,
      intendedNodeId,
      handOverRevision: 0 as Revision,
      acceptedEpoch: 0 as Epoch,
      replicas: NO_REPLICAS,
      descriptorRevision: 0 as Revision,
    };
    this.#records.push(record);
    this.ranges.set(startKey, { record, ownDeadlineMs: 0, ownCapMs: 0, detachedOrder: 0 });
    if (intendedNodeId === undefined) return;
    this.intendedCounts.set(intendedNodeId, (this.intendedCounts.get(intendedNodeId) ?? 0) + 1);
  }

  /** The rows so far, also after more were added or the draft was published. */
  *rowsUpTo(rowCount: number): Generator<DraftRow> {
    for (let at = 0; at < rowCount; at++) {
      // Of a row's record only the end key and the descriptor revision ever change.
      const { rangeId, startKey, intendedNodeId } = this.#records[at] as RangeRecord;
      yield { rangeId, startKey, intendedNodeId };
    }
  }

  /** Dates all records; from here on they are values like any other. */
  finish(revision: Revision): readonly RangeRecord[] {
    for (const record of this.#records) record.descriptorRevision = revision;
    return this.#records;
  }
}

export const NO_REPLICAS: RangeRecord["replicas"] = [];
