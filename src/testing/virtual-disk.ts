/**
 * The disk of one simulated server as LevelDB 1.20 uses it, under the real log store (the seam
 * KeyValueStore of storage/level-db.ts). It outlives the processes that open it.
 * - A batch is one record of the present write-ahead segment: there as a whole or not at all.
 * - A sync makes the present segment durable and no other: what an earlier segment holds beyond its
 *   own last sync can vanish while a later one survives, until the segment was made a table.
 * - A killed process loses nothing that was appended. A power cut keeps of each segment a prefix,
 *   at least up to its last sync.
 * - A failed append may be found or not, and what follows it in its segment be dropped. After a
 *   failed sync every later write fails. An open makes what it finds durable, in a table.
 */

import { assert } from "../base/assert.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Prng } from "../base/prng.ts";
import type { KeyValue, KeyValueStore, SyncedBatch } from "../storage/level-db.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** How the disk behaves; may be changed at any time. */
export interface DiskQuality {
  /** A synced write takes up to so long. */
  readonly syncMsMax: number;
  /** Batches after which a new segment begins. */
  readonly segmentBatchesMax: number;
  /** A full segment is a table after up to so long. */
  readonly flushMsMax: number;
}

/** What the next write meets. "hang": it never completes. */
export type WriteFault = "appendError" | "syncError" | "hang";

/** What a power cut took: batches that were appended, and batches with a later one kept. */
export interface PowerLoss {
  readonly lostBatches: number;
  readonly hasHole: boolean;
}

interface Change {
  readonly name: string;
  readonly key: Bytes;
  /** undefined: deleted. */
  readonly value: Bytes | undefined;
}

type Batch = readonly Change[];

interface Segment {
  readonly batches: Batch[];
  /** So many of them are durable for certain. */
  synced: number;
  /** A failed append stands before this one; whether it survives is open. */
  poisonedAt: number | undefined;
}

type Table = Map<string, { readonly key: Bytes; readonly value: Bytes }>;

const SCAN_PORTION_ENTRIES = 1_000;

export class VirtualDisk {
  readonly #world: VirtualClock;
  readonly #prng: Prng;
  #quality: DiskQuality;
  /** Durable for certain. */
  #table: Table = new Map();
  /** Oldest first; the last one takes what is written. */
  #segments: Segment[] = [newSegment()];
  #opened: VirtualStore | undefined;
  #nextFault: WriteFault | undefined;
  #hasFailed = false;
  #isHung = false;

  constructor(options: {
    readonly world: VirtualClock;
    readonly prng: Prng;
    readonly quality: DiskQuality;
  }) {
    this.#world = options.world;
    this.#prng = options.prng;
    this.#quality = options.quality;
  }

  get quality(): DiskQuality {
    return this.#quality;
  }

  setQuality(quality: DiskQuality): void {
    this.#quality = quality;
  }

  /** A write was made to hang: none completes any more until the process has ended. */
  get isHung(): boolean {
    return this.#isHung;
  }

  /** The next synced write meets this; undefined: nothing any more. */
  failNextWrite(fault: WriteFault | undefined): void {
    this.#nextFault = fault;
  }

  /** LevelDB opened by a process. The one before has ended, or has closed it. */
  open(clock: ProcessClock): KeyValueStore {
    assert(this.#opened === undefined, "one process at a time has the disk open");
    this.#recover();
    this.#opened = new VirtualStore(this, clock);
    return this.#opened;
  }

  /** The process has ended, however it did. */
  release(): void {
    this.#opened = undefined;
    this.#nextFault = undefined;
    this.#isHung = false;
  }

  /** Power is lost, and with it what was not made durable. The process has ended as well. */
  cutPower(): PowerLoss {
    this.release();
    let lostBatches = 0;
    let hasHole = false;
    for (const segment of this.#segments) {
      const kept = this.#prng.nextInteger(segment.synced, segment.batches.length);
      if (lostBatches > 0 && kept > 0) hasHole = true;
      lostBatches += segment.batches.length - kept;
      segment.batches.length = kept;
    }
    return { lostBatches, hasHole };
  }

  /** A copy of all that an open would find now, to be put back by {@link rollBack}. */
  image(): ReadonlyMap<string, KeyValue> {
    const table = new Map(this.#table);
    for (const { batches } of this.#segments) for (const batch of batches) put(table, batch);
    return table;
  }

  /** The disk is as it was when the image was taken, or empty. No process has it open. */
  rollBack(image: ReadonlyMap<string, KeyValue>): void {
    assert(this.#opened === undefined, "nobody has the disk open");
    this.#table = new Map(image);
    this.#segments = [newSegment()];
  }

  /** Told to a store: appended, then synced if asked for; `done` once it is over. */
  write(
    from: VirtualStore,
    batch: Batch,
    isSynced: boolean,
    done: (error: Error | undefined) => void,
  ): void {
    const fault = isSynced ? this.#nextFault : undefined;
    if (fault !== undefined) this.#nextFault = undefined;
    const syncMs = this.#prng.nextFraction() * this.#quality.syncMsMax;
    const appendMs = 0.02 + (isSynced ? syncMs / 4 : 0);
    this.#world.after(appendMs, () => {
      if (this.#opened !== from || this.#isHung) return;
      if (this.#hasFailed) return done(new Error("IO error: an earlier write has failed"));
      const segment = this.#segmentForAppend();
      if (fault === "appendError") {
        segment.poisonedAt ??= segment.batches.length;
        // Whether the record reached the file is open until somebody reads it.
        if (this.#prng.chance(0.5)) segment.batches.push(batch);
        return done(new Error("IO error: no space left on device"));
      }
      segment.batches.push(batch);
      if (!isSynced) return done(undefined);
      const appended = segment.batches.length;
      if (fault === "hang") {
        this.#isHung = true;
        return;
      }
      this.#world.after(0.02 + syncMs, () => {
        if (this.#opened !== from) return;
        if (fault === "syncError") {
          this.#hasFailed = true;
          return done(new Error("IO error: fdatasync: input/output error"));
        }
        segment.synced = Math.max(segment.synced, appended);
        done(undefined);
      });
    });
  }

  /** In key order. */
  records(): KeyValue[] {
    const image = this.image();
    const names = [...image.keys()].toSorted(compareNames);
    return names.flatMap((name) => image.get(name) ?? []);
  }

  #segmentForAppend(): Segment {
    const last = this.#segments.at(-1);
    assert(last !== undefined, "a store has a segment");
    if (last.batches.length < this.#quality.segmentBatchesMax) return last;
    const next = newSegment();
    this.#segments.push(next);
    this.#flushLater(last);
    return next;
  }

  /** Tables are made in the order of their segments; only then is a segment removed. */
  #flushLater(segment: Segment): void {
    this.#world.after(this.#prng.nextFraction() * this.#quality.flushMsMax, () => {
      if (this.#segments[0] === segment) {
        for (const batch of segment.batches) put(this.#table, batch);
        this.#segments.shift();
      } else if (this.#segments.includes(segment)) {
        this.#flushLater(segment);
      }
    });
  }

  /** As an open does: what can be read is made a table, and a new segment begins. */
  #recover(): void {
    for (const { batches, poisonedAt } of this.#segments) {
      const kept = poisonedAt === undefined ? batches : this.#readPoisoned(batches, poisonedAt);
      for (const batch of kept) put(this.#table, batch);
    }
    this.#segments = [newSegment()];
    this.#hasFailed = false;
  }

  /** The rest of the block behind a failed append is dropped; what comes then may be read. */
  #readPoisoned(batches: readonly Batch[], poisonedAt: number): readonly Batch[] {
    if (poisonedAt >= batches.length) return batches;
    const resumesAt = this.#prng.nextInteger(poisonedAt, batches.length);
    return batches.filter((_, at) => at < poisonedAt || at >= resumesAt);
  }
}

class VirtualStore implements KeyValueStore {
  readonly #disk: VirtualDisk;
  readonly #clock: ProcessClock;

  constructor(disk: VirtualDisk, clock: ProcessClock) {
    this.#disk = disk;
    this.#clock = clock;
  }

  openBatch(): SyncedBatch {
    const batch: Change[] = [];
    return {
      put: (key, value) => {
        batch.push({ name: nameOf(key), key: key.slice(), value: value.slice() });
      },
      delete: (key) => {
        batch.push({ name: nameOf(key), key: key.slice(), value: undefined });
      },
      write: () => this.#write(batch, true),
    };
  }

  deleteUnsynced(keys: readonly Bytes[]): Promise<void> {
    const batch = keys.map((key) => ({ name: nameOf(key), key: key.slice(), value: undefined }));
    return this.#write(batch, false);
  }

  /** Gives back space, which this disk has enough of. */
  compact(_firstKey: Bytes, _lastKey: Bytes): Promise<void> {
    return this.#clock.passing(1);
  }

  async *scan(): AsyncGenerator<readonly KeyValue[]> {
    const records = this.#disk.records();
    for (let from = 0; from < records.length; from += SCAN_PORTION_ENTRIES) {
      await this.#clock.passing(1);
      yield records.slice(from, from + SCAN_PORTION_ENTRIES);
    }
  }

  close(): Promise<void> {
    this.#disk.release();
    return Promise.resolve();
  }

  #write(batch: Batch, isSynced: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#disk.write(this, batch, isSynced, (error) => {
        this.#clock.enter(() => (error === undefined ? resolve() : reject(error)));
      });
    });
  }
}

function newSegment(): Segment {
  return { batches: [], synced: 0, poisonedAt: undefined };
}

function put(table: Table, batch: Batch): void {
  for (const { name, key, value } of batch) {
    if (value === undefined) table.delete(name);
    else table.set(name, { key, value });
  }
}

/** One character per byte: names are in the order of the keys. */
function nameOf(key: Bytes): string {
  return String.fromCharCode(...key);
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
