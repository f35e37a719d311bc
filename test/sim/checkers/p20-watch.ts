/**
 * Property 20: a watch tells of every change in its scope once, in order, none missed: a snapshot
 * is the map at its revision, and what follows is what the log did, up to each frame's revision.
 */

import { spansOverlap } from "../../../src/base/span.ts";
import type { WatchInput } from "../../../src/client/requests.ts";
import type { RangeRecord } from "../../../src/machine/shard/types.ts";
import type { RangeChange, RangeRecord as WireRange, WatchFrame } from "../../../src/wire/api.ts";
import { hashOf } from "../hash.ts";
import { must } from "../must.ts";
import type { ShardOracle } from "../oracle.ts";
import type { RangeChangeSeen } from "../range-versions.ts";
import { SHARD } from "../virtual-cluster.ts";
import { wireRecordOf } from "../wire-records.ts";

export class WatchChecker {
  readonly #oracle: ShardOracle;
  readonly #scope: WatchInput;
  /** Everything in scope up to here was told; undefined: nothing yet. */
  #toldTo: number | undefined;

  constructor(oracle: ShardOracle, scope: WatchInput) {
    this.#oracle = oracle;
    this.#scope = scope;
  }

  /** The next frame that the client hands out. */
  onFrame(frame: WatchFrame): void {
    const { revision } = frame.header;
    must(frame.header.group === SHARD, 20, "a frame is of the group that has the ranges");
    must(revision <= this.#oracle.revision, 20, `a frame shows ${revision}, not yet applied`);
    switch (frame.kind) {
      case "snapshot":
        this.#checkSnapshot(frame.ranges, revision, frame.afterCompaction);
        break;
      case "changes":
        for (const { revision: at, changes } of frame.revisions) this.#checkRevision(at, changes);
        this.#checkQuiet(revision);
        break;
      case "progress":
        this.#checkQuiet(revision);
        break;
    }
    this.#toldTo = Math.max(this.#toldTo ?? 0, revision);
  }

  #checkSnapshot(ranges: readonly WireRange[], revision: number, isMarked: boolean): void {
    const toldTo = this.#toldTo;
    must(toldTo === undefined || isMarked, 20, "a watch starts over, and does not say so");
    must(revision >= (toldTo ?? 0), 20, `a snapshot at ${revision} comes after ${toldTo}`);
    const told = new Map(ranges.map((range) => [range.descriptor.rangeId, range]));
    must(told.size === ranges.length, 20, "a snapshot shows each range once");
    let inScope = 0;
    for (const [keyspace, keyspaceId] of this.#oracle.keyspaceIds) {
      for (const record of this.#oracle.versions.mapAt(keyspaceId, revision)) {
        if (!this.#covers(keyspace, record)) continue;
        inScope++;
        const expected = wireRecordOf(record, keyspace, SHARD);
        const isSame = hashOf(expected) === hashOf(told.get(record.rangeId));
        must(isSame, 20, `a snapshot at ${revision} shows ${record.rangeId} as it was not`);
      }
    }
    must(inScope === told.size, 20, `a snapshot at ${revision} shows what is not in its scope`);
  }

  #checkRevision(revision: number, told: readonly RangeChange[]): void {
    const toldTo = this.#toldTo;
    must(toldTo !== undefined, 20, "a watch begins with a snapshot");
    must(revision > toldTo, 20, `${revision} is told after ${toldTo}`);
    this.#checkQuiet(revision - 1);
    const { revisions } = this.#oracle.versions;
    const seen = revisions[this.#oracle.versions.firstAfter(revision - 1)];
    const changes = seen?.revision === revision ? seen.changes : [];
    const expected = changes.flatMap((change) => this.#inScope(change));
    must(expected.length > 0, 20, `${revision} is told, and changed nothing in scope`);
    const isSame = hashOf(expected) === hashOf(told);
    must(isSame, 20, `what is told of ${revision} is not what it changed`);
    this.#toldTo = revision;
  }

  /** Nothing in scope has changed since, up to a revision. */
  #checkQuiet(revision: number): void {
    const { versions } = this.#oracle;
    const from = this.#toldTo ?? revision;
    for (let at = versions.firstAfter(from); ; at++) {
      const seen = versions.revisions[at];
      if (seen === undefined || seen.revision > revision) return;
      const isMissed = seen.changes.some((change) => this.#inScope(change).length > 0);
      must(!isMissed, 20, `the watch has missed what changed at ${seen.revision}`);
    }
  }

  #inScope({ cause, keyspaceId, before, after }: RangeChangeSeen): RangeChange[] {
    const keyspace = [...this.#oracle.keyspaceIds].find(([, id]) => id === keyspaceId)?.[0] ?? "";
    const isIn = [before, after].some((record) => record && this.#covers(keyspace, record));
    if (!isIn) return [];
    const toWire = (record: RangeRecord | undefined): WireRange | undefined =>
      record && wireRecordOf(record, keyspace, SHARD);
    return [{ before: toWire(before), after: toWire(after), cause }];
  }

  #covers(keyspace: string, record: RangeRecord): boolean {
    const { keyspace: wanted, span, nodeId } = this.#scope;
    if (wanted !== undefined && wanted !== keyspace) return false;
    if (span !== undefined && !spansOverlap(span, record)) return false;
    if (nodeId === undefined) return true;
    const { owner, successor, intendedNodeId } = record;
    return [owner?.nodeId, successor?.nodeId, intendedNodeId].includes(nodeId);
  }
}
