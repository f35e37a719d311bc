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
