import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Level } from "level";
import { afterEach, expect, test, vi } from "vitest";
import { type KeyValueStore, openLevelDb } from "../../src/storage/level-db.ts";
import { hardStateOf, replicaOf, stepOf } from "../conformance/log-steps.ts";
import { createStore, openStore, submitAndWait, withTempDir } from "./level-harness.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("every write of a store, from its creation on, asks for sync", async () => {
  await withTempDir(async (dir) => {
    const probe = new Level(join(dir, "probe"));
    await probe.open();
    const batches = Object.getPrototypeOf(probe.batch()) as { write(options: object): unknown };
    await probe.close();
    const write = vi.spyOn(batches, "write");
    await createStore(dir, [replicaOf(0)]);
    const { store } = await openStore(dir);
    await submitAndWait(store, stepOf({ hardState: hardStateOf(1) }));
    await submitAndWait(store, stepOf({ hardState: hardStateOf(2) }));
    await store.close();
    expect(write.mock.calls).toEqual([[{ sync: true }], [{ sync: true }], [{ sync: true }]]);
  });
});

test("a scan gives all records in key order, over many portions, as plain bytes", async () => {
  await withTempDir(async (dir) => {
    const db = await openLevelDb(join(dir, "db"), "createNew");
    const batch = db.openBatch();
    for (let at = 2_499; at >= 0; at--) batch.put(Uint8Array.of(at >> 8, at), Uint8Array.of(at));
    batch.delete(Uint8Array.of(0, 3));
    await batch.write();
    const found = await scanned(db);
    expect(found.length).toBe(2_499);
    expect(found.slice(0, 4)).toEqual(["0,0=0", "0,1=1", "0,2=2", "0,4=4"]);
    expect(found.at(-1)).toBe("9,195=195");
    await db.close();
  });
});

test("the space of deleted records is given back by a compaction of their keys", async () => {
  await withTempDir(async (dir) => {
    const folder = join(dir, "db");
    const db = await openLevelDb(folder, "createNew");
    const keys = Array.from({ length: 100 }, (_, at) => Uint8Array.of(1, at));
    for (const key of keys) {
      const batch = db.openBatch();
      batch.put(key, new Uint8Array(2 ** 17).fill(key[1] ?? 0));
      await batch.write();
    }
    const [first, last] = [Uint8Array.of(1, 0), Uint8Array.of(1, 98)];
    await db.compact(first, last);
    await db.deleteUnsynced(keys.slice(0, 99));
    expect(bytesIn(folder)).toBeGreaterThan(12 * 2 ** 20);
    await db.compact(first, last);
    await db.close();
    expect(bytesIn(folder)).toBeLessThan(2 ** 20);
    const again = await openLevelDb(folder, "openExisting");
    expect((await scanned(again)).map((record) => record.split("=")[0])).toEqual(["1,99"]);
    await again.close();
  });
});

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

async function scanned(db: KeyValueStore): Promise<string[]> {
  const found: string[] = [];
  for await (const portion of db.scan()) {
    for (const { key, value } of portion) {
      expect(Buffer.isBuffer(key) || Buffer.isBuffer(value)).toBe(false);
      found.push(`${key.join(",")}=${value.join(",")}`);
    }
  }
  return found;
}
