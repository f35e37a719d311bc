/** A random life of a real shard machine with its history, and full copies of every past state. */

import { bytesToHex } from "../../src/base/bytes.ts";
import type { Revision } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import { matchesRecord, type WatchFilter } from "../../src/fanout/filter.ts";
import { EventHistory } from "../../src/fanout/history.ts";
import type { RangeRecord } from "../../src/machine/shard/types.ts";
import { ShardHarness } from "../machine/shard/harness.ts";
import { randomCommand } from "../machine/shard/random-commands.ts";

export class ShardRun {
  readonly prng: Prng;
  readonly shard = new ShardHarness();
  readonly history: EventHistory;
  /** All records by keyspace and key, after each revision; the first is before any entry. */
  readonly #past = new Map<number, readonly RangeRecord[]>();
  /** Revisions with changes, and how many. */
  readonly changeCounts = new Map<number, number>();

  constructor(
    seed: number,
    bounds: { readonly changesMax: number; readonly revisionsMax: number },
  ) {
    this.prng = Prng.fromSeed(seed);
    this.history = new EventHistory({ start: this.shard.revision, ...bounds });
    this.#past.set(this.shard.revision, []);
  }

  step(): void {
    const { revision, events } = this.#apply();
    this.history.add(revision, events);
    const count = events.reduce((sum, { changes }) => sum + changes.length, 0);
    if (count > 0) this.changeCounts.set(revision, count);
  }

  /** The state of some entries later arrives as an installed snapshot. */
  install(entries: number): void {
    for (let entry = 0; entry < entries; entry++) this.#apply();
    this.history.reset(this.revision);
  }

  #apply(): ReturnType<ShardHarness["apply"]> {
    const { prng, shard } = this;
    shard.timeMs += prng.chance(0.6) ? 0 : prng.nextInteger(0, 900);
    const applied = shard.apply(randomCommand(prng, shard));
    this.#past.set(applied.revision, this.present());
    return applied;
  }

  present(): RangeRecord[] {
    const records: RangeRecord[] = [];
    for (const keyspaceId of this.shard.machine.state.keyspaces.keys()) {
      records.push(...this.shard.ranges(keyspaceId));
    }
    return records;
  }

  at(revision: number): readonly RangeRecord[] {
    const records = this.#past.get(revision);
    if (records === undefined) throw new Error(`no revision ${revision}`);
    return records;
  }

  matching(filter: WatchFilter, revision: number = this.shard.revision): RangeRecord[] {
    return this.at(revision).filter((record) => matchesRecord(filter, record));
  }

  get revision(): Revision {
    return this.shard.revision;
  }
}

/** Records in short, so that a difference can be read. */
export function inShort(records: Iterable<RangeRecord>): string[] {
  return [...records]
    .map(({ keyspaceId, startKey, rangeId, epoch, owner, successor, acceptedEpoch, ...rest }) =>
      [
        `${keyspaceId}/${bytesToHex(startKey)}`,
        rangeId,
        epoch,
        owner?.nodeId,
        successor?.nodeId,
        rest.intendedNodeId,
        acceptedEpoch,
        rest.descriptorRevision,
      ].join(" "),
    )
    .toSorted((a, b) => (a < b ? -1 : 1));
}
