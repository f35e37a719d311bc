// The simulated disk under the real log store: what kills and power cuts take, and what not.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { Prng } from "../../src/base/prng.ts";
import type { KeyValueStore } from "../../src/storage/level-db.ts";
import {
  attachLogStore,
  type OpenedLogStore,
  writeFirstRecords,
} from "../../src/storage/log-store.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { VirtualFiles } from "../../src/testing/virtual-files.ts";
import { type DiskQuality, VirtualDisk } from "../../src/testing/virtual-disk.ts";
import { describeLogStore } from "../conformance/log-store.ts";
import { EXPECTED, IDENTITY } from "../storage/level-harness.ts";
import { onVirtualTime } from "./virtual-time.ts";

const QUICK: DiskQuality = { syncMsMax: 1, segmentBatchesMax: 3, flushMsMax: 5 };

let harnesses = 0;

describeLogStore("the log store on a simulated disk", async (replicas) => {
  const clock = new VirtualClock();
  const prng = Prng.fromSeed(++harnesses);
  const disk = new VirtualDisk({ world: clock, prng, quality: QUICK });
  const files = new VirtualFiles({ world: clock, prng: prng.clone(), syncMsMax: 1 });
  let isOver = false;
  const open = async (isNew: boolean): Promise<OpenedLogStore> => {
    const process = new ProcessClock(clock);
    const [db, beside] = [disk.open(process), files.open(process)];
    if (isNew) await writeFirstRecords(db, beside, { identity: IDENTITY, replicas });
    const onFatal = (error: Error): never => expect.fail(error.message);
    const options = { dir: "virtual", expect: EXPECTED, timers: process, onFatal };
    return await attachLogStore(db, beside, options);
  };
  // The suite waits for promises and knows nothing of virtual time.
  void (async () => {
    while (!isOver) await clock.advance(1);
  })();
  let { store } = await open(true);
  const next = async (): Promise<OpenedLogStore["replicas"]> => {
    const opened = await open(false);
    ({ store } = opened);
    return opened.replicas;
  };
  return {
    get store() {
      return store;
    },
    settle: () => undefined,
    reopen: async () => {
      await store.close();
      files.release();
      return await next();
    },
    crash: async () => {
      disk.cutPower();
      files.cutPower();
      return await next();
    },
    dispose: async () => {
      await store.close();
      isOver = true;
    },
  };
});

// ---- What the research says of LevelDB, on the bare disk

interface Bench {
  readonly clock: VirtualClock;
  readonly disk: VirtualDisk;
  open(): KeyValueStore;
  write(db: KeyValueStore, ...keys: string[]): Promise<void>;
  keys(db: KeyValueStore): Promise<string[]>;
}

function benchWith(seed: number, quality: Partial<DiskQuality> = {}): Bench {
  const clock = new VirtualClock();
  const prng = Prng.fromSeed(seed);
  const disk = new VirtualDisk({ world: clock, prng, quality: { ...QUICK, ...quality } });
  return {
    clock,
    disk,
    open: () => disk.open(new ProcessClock(clock)),
    write: async (db, ...keys) => {
      const batch = db.openBatch();
      for (const key of keys) batch.put(utf8ToBytes(key), utf8ToBytes("value"));
      await onVirtualTime(clock, batch.write());
    },
    keys: async (db) => {
      const found: string[] = [];
      const read = async (): Promise<void> => {
        for await (const portion of db.scan()) {
          found.push(...portion.map(({ key }) => String.fromCharCode(...key)));
        }
      };
      await onVirtualTime(clock, read());
      return found;
    },
  };
}

test("a batch is there as a whole or not at all, and what was synced always", async () => {
  const outcomes = new Set<string>();
  for (let seed = 1; seed <= 60; seed++) {
    const bench = benchWith(seed);
    const db = bench.open();
    await bench.write(db, "a");
    const batch = db.openBatch();
    batch.put(utf8ToBytes("b"), utf8ToBytes("1"));
    batch.put(utf8ToBytes("c"), utf8ToBytes("2"));
    void batch.write();
    await bench.clock.advance(0.3);
    bench.disk.cutPower();
    outcomes.add((await bench.keys(bench.open())).join(""));
  }
  expect([...outcomes].sort((a, b) => a.length - b.length)).toEqual(["a", "abc"]);
});

test("a killed process loses nothing that was appended, synced or not", async () => {
  const bench = benchWith(1, { syncMsMax: 1_000 });
  const db = bench.open();
  await bench.write(db, "a", "b");
  await onVirtualTime(bench.clock, db.deleteUnsynced([utf8ToBytes("a")]));
  bench.disk.release();
  expect(await bench.keys(bench.open())).toEqual(["b"]);
});

test("an unsynced batch of an earlier segment can vanish while a later batch survives (fact 2)", async () => {
  let holes = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const bench = benchWith(seed, { segmentBatchesMax: 2, flushMsMax: 1_000_000 });
    const db = bench.open();
    await bench.write(db, "a", "b");
    await onVirtualTime(bench.clock, db.deleteUnsynced([utf8ToBytes("a")]));
    await bench.write(db, "c");
    const { hasHole } = bench.disk.cutPower();
    const keys = await bench.keys(bench.open());
    expect(keys).toContain("c");
    expect(keys.includes("a")).toBe(hasHole);
    if (hasHole) holes++;
  }
  expect(holes).toBeGreaterThan(5);
});

test("once a segment was made a table, all of it is durable", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const bench = benchWith(seed, { segmentBatchesMax: 2, flushMsMax: 1 });
    const db = bench.open();
    await bench.write(db, "a", "b");
    await onVirtualTime(bench.clock, db.deleteUnsynced([utf8ToBytes("a")]));
    await bench.write(db, "c");
    await bench.clock.advance(2);
    bench.disk.cutPower();
    expect(await bench.keys(bench.open())).toEqual(["b", "c"]);
  }
});

test("a failed append may or may not be found, and what is written after it may be dropped (fact 3)", async () => {
  const outcomes = new Set<string>();
  for (let seed = 1; seed <= 80; seed++) {
    const bench = benchWith(seed, { segmentBatchesMax: 100 });
    const db = bench.open();
    await bench.write(db, "a");
    bench.disk.failNextWrite("appendError");
    await expect(bench.write(db, "b")).rejects.toThrow("IO error");
    await bench.write(db, "c");
    bench.disk.release();
    outcomes.add((await bench.keys(bench.open())).join(""));
  }
  expect(outcomes).toContain("ac");
  expect(outcomes).toContain("abc");
  expect(outcomes).toContain("a");
});

test("after a failed sync every later write fails, until the next open", async () => {
  const bench = benchWith(1);
  const db = bench.open();
  bench.disk.failNextWrite("syncError");
  await expect(bench.write(db, "a")).rejects.toThrow("fdatasync");
  await expect(bench.write(db, "b")).rejects.toThrow("earlier write");
  bench.disk.release();
  const again = bench.open();
  await bench.write(again, "c");
  expect(await bench.keys(again)).toContain("c");
});

test("a sync that hangs never returns, and no later write does", async () => {
  const bench = benchWith(1);
  const db = bench.open();
  bench.disk.failNextWrite("hang");
  await expect(bench.write(db, "a")).rejects.toThrow("nothing more happens");
  expect(bench.disk.isHung).toBe(true);
  bench.disk.release();
  await bench.write(bench.open(), "b");
});

test("a disk that is rolled back is as it was when the image was taken", async () => {
  const bench = benchWith(1);
  await bench.write(bench.open(), "a");
  const image = bench.disk.image();
  bench.disk.release();
  await bench.write(bench.open(), "b");
  bench.disk.release();
  bench.disk.rollBack(image);
  expect(await bench.keys(bench.open())).toEqual(["a"]);
});
