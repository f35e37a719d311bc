/**
 * A table of ranges kept up to date from the frames of one watch, with a check that it tiles what
 * the watch covers. For the CLI, tests and small caches: look-ups by key sort on demand.
 */

import { bytesEqual, bytesToHex, compareBytes } from "../base/bytes.ts";
import { compareEndKeys, type Span, spanContains, spansOverlap, WHOLE_SPAN } from "../base/span.ts";
import type { RangeRecord, WatchFrame } from "../wire/api.ts";
import type { WatchInput } from "./requests.ts";

/** Holds what matches the watch's filter, as of the last frame applied. */
export class RangeTable {
  readonly #filter: WatchInput;
  readonly #ranges = new Map<string, RangeRecord>();
  #isComplete = false;

  /** The filter must be that of the watch whose frames are applied. */
  constructor(filter: WatchInput = {}) {
    this.#filter = filter;
  }

  /** Whether a snapshot was applied: before that, the table says nothing. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get size(): number {
    return this.#ranges.size;
  }

  get(rangeId: string): RangeRecord | undefined {
    return this.#ranges.get(rangeId);
  }

  /** In order of keyspace and key. */
  ranges(): readonly RangeRecord[] {
    return [...this.#ranges.values()].toSorted(compareRecords);
  }

  /** The range that holds the key, if it is in the table. */
  find(keyspace: string, key: Uint8Array): RangeRecord | undefined {
    for (const record of this.#ranges.values()) {
      const { descriptor } = record;
      if (descriptor.keyspace === keyspace && spanContains(descriptor.span, key)) return record;
    }
    return undefined;
  }

  /** Applies a whole frame, as {@link Client.watch} gives them. */
  apply(frame: WatchFrame): void {
    switch (frame.kind) {
      case "snapshot":
        for (const [rangeId, { descriptor }] of this.#ranges) {
          if (descriptor.group === frame.header.group) this.#ranges.delete(rangeId);
        }
        for (const record of frame.ranges) this.#put(record);
        this.#isComplete = true;
        return;
      case "changes":
        for (const { changes } of frame.revisions) {
          for (const { before, after } of changes) {
            if (before !== undefined) this.#ranges.delete(before.descriptor.rangeId);
            if (after !== undefined && this.#matches(after)) this.#put(after);
          }
        }
        return;
      case "progress":
        return;
    }
  }

  /**
   * What is wrong with the tiling, each on one line; empty: every key of the filter's span lies in
   * exactly one range. A watch by node or one without a snapshot can't be judged and has no
   * findings.
   */
  tilingFindings(): readonly string[] {
    if (!this.#isComplete || this.#filter.nodeId !== undefined) return [];
    const byKeyspace = new Map<string, RangeRecord[]>();
    if (this.#filter.keyspace !== undefined) byKeyspace.set(this.#filter.keyspace, []);
    for (const record of this.ranges()) {
      const { keyspace } = record.descriptor;
      const records = byKeyspace.get(keyspace);
      if (records === undefined) byKeyspace.set(keyspace, [record]);
      else records.push(record);
    }
    const span = this.#filter.span ?? WHOLE_SPAN;
    return [...byKeyspace].flatMap(([keyspace, records]) => findingsOf(keyspace, records, span));
  }

  #put(record: RangeRecord): void {
    this.#ranges.set(record.descriptor.rangeId, record);
  }

  #matches({ descriptor, successor }: RangeRecord): boolean {
    const { keyspace, nodeId, span } = this.#filter;
    if (keyspace !== undefined && descriptor.keyspace !== keyspace) return false;
    if (span !== undefined && !spansOverlap(span, descriptor.span)) return false;
    if (nodeId === undefined) return true;
    return descriptor.owner?.nodeId === nodeId || successor?.nodeId === nodeId;
  }
}

function findingsOf(keyspace: string, records: readonly RangeRecord[], span: Span): string[] {
  const findings: string[] = [];
  const first = records[0]?.descriptor;
  if (first === undefined) return [`${keyspace}: no ranges`];
  if (compareBytes(first.span.startKey, span.startKey) > 0) {
    findings.push(`${keyspace}: nothing before ${bytesToHex(first.span.startKey)}`);
  }
  let previous = first;
  for (const { descriptor } of records.slice(1)) {
    const end = previous.span.endKey;
    if (end === undefined || compareBytes(descriptor.span.startKey, end) < 0) {
      findings.push(`${keyspace}: ${previous.rangeId} and ${descriptor.rangeId} overlap`);
    } else if (!bytesEqual(descriptor.span.startKey, end)) {
      findings.push(`${keyspace}: a gap after ${previous.rangeId}, at ${bytesToHex(end)}`);
    }
    previous = descriptor;
  }
  if (compareEndKeys(previous.span.endKey, span.endKey) < 0) {
    findings.push(`${keyspace}: nothing after ${previous.rangeId}`);
  }
  return findings;
}

function compareRecords(a: RangeRecord, b: RangeRecord): number {
  if (a.descriptor.keyspace !== b.descriptor.keyspace) {
    return a.descriptor.keyspace < b.descriptor.keyspace ? -1 : 1;
  }
  return compareBytes(a.descriptor.span.startKey, b.descriptor.span.startKey);
}
