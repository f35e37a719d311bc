import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bytesEqual } from "../../src/base/bytes.ts";
import { entryKey, hardStateKey } from "../../src/storage/keys.ts";
import type { KeyValue } from "../../src/storage/level-db.ts";
import { entryOf, groupOf, indexOf, replicaOf, stepOf } from "../conformance/log-steps.ts";
import {
  createStore,
  openStore,
  readRecords,
  storageErrorOf,
  submitAndWait,
  withTempDir,
  withUsedStore,
  writeRecords,
} from "./level-harness.ts";

const WAL_BLOCK_BYTES = 32 * 1024;
const ENTRY_1 = entryKey(groupOf(0), indexOf(1));
const ENTRY_2 = entryKey(groupOf(0), indexOf(2));
const ENTRY_3 = entryKey(groupOf(0), indexOf(3));

test.each<[string, (dir: string) => void]>([
  ["without CURRENT", (dir) => rmSync(join(dir, "raft", "CURRENT"))],
  ["with an empty CURRENT", (dir) => truncateSync(join(dir, "raft", "CURRENT"))],
  ["without its manifest", (dir) => rmSync(fileOf(dir, /^MANIFEST/))],
  ["with a cut manifest", (dir) => truncateSync(fileOf(dir, /^MANIFEST/), 10)],
  ["without its table", (dir) => rmSync(fileOf(dir, /\.ldb$/))],
  ["with a changed marker", (dir) => writeFileSync(join(dir, "raft.initialised"), "cadastre")],
  ["without its marker", (dir) => rmSync(join(dir, "raft.initialised"))],
])("a used store %s is damaged, and no new one takes its place", async (_, damage) => {
  await withUsedStore(async (dir) => {
    damage(dir);
    const error = await storageErrorOf(openStore(dir), "damaged");
    expect(error.message).toContain(dir);
    const remaining = readdirSync(dir);
    await expect(createStore(dir, [replicaOf(0)])).rejects.toThrow(/./);
    expect(readdirSync(dir)).toEqual(remaining);
  });
});

test("a server whose log store is gone is missing, and no new one takes its place", async () => {
  await withUsedStore(async (dir) => {
    rmSync(join(dir, "raft"), { recursive: true });
    await storageErrorOf(openStore(dir), "missing");
    await storageErrorOf(createStore(dir, [replicaOf(0)]), "alreadyInitialised");
    rmSync(join(dir, "raft.initialised"));
    await storageErrorOf(openStore(dir), "missing");
    await storageErrorOf(createStore(dir, [replicaOf(0)]), "missing");
    expect(readdirSync(dir)).toEqual(["acknowledged"]);
  });
});

test("a marker of a later format asks for a later program", async () => {
  await withUsedStore(async (dir) => {
    writeFileSync(join(dir, "raft.initialised"), "cadastre log store 3\nanything\n");
    await storageErrorOf(openStore(dir), "formatUnknown");
  });
});

test("the store folder of another data directory is refused", async () => {
  await withUsedStore(async (dir) => {
    await withTempDir(async (other) => {
      await createStore(other, [replicaOf(0)], { storeUuid: "another" });
      rmSync(join(dir, "raft"), { recursive: true });
      renameSync(join(other, "raft"), join(dir, "raft"));
      const ofRecord = await storageErrorOf(openStore(dir), "foreign");
      expect(ofRecord.message).toMatch(/holds the log store another and the record of 5a7e11f0/);
      renameSync(join(other, "acknowledged"), join(dir, "acknowledged"));
      const ofMarker = await storageErrorOf(openStore(dir), "foreign");
      expect(ofMarker.message).toMatch(/holds the log store another, not its 5a7e11f0/);
    });
  });
});

test("a rotten write-ahead file is found before LevelDB rewrites it, at every start", async () => {
  await withUsedStore(async (dir) => {
    flipByte(fileOf(dir, /\.log$/), 60);
    const before = readdirSync(join(dir, "raft"));
    for (let start = 0; start < 3; start++) {
      const error = await storageErrorOf(openStore(dir), "damaged");
      expect(error.message).toMatch(/wrong checksum at byte 0 of \d+\.log/);
    }
    expect(readdirSync(join(dir, "raft"))).toEqual(before);
  });
});

test("data that LevelDB dropped at an earlier open stay damage at every start", async () => {
  await withUsedStore(async (dir) => {
    flipByte(fileOf(dir, /\.log$/), 60);
    await readRecords(join(dir, "raft"));
    for (let start = 0; start < 3; start++) {
      const error = await storageErrorOf(openStore(dir), "damaged");
      expect(error.message).toMatch(/LevelDB dropped data, says LOG: .*dropping \d+ bytes/);
    }
  });
});

test("a write that lost its first part is noted by LevelDB alone, and found at every start", async () => {
  await withUsedStore(async (dir) => {
    const { store } = await openStore(dir);
    const entry = { ...entryOf(3, 1), payload: new Uint8Array(3 * WAL_BLOCK_BYTES) };
    await submitAndWait(store, stepOf({ entries: [entry] }));
    await store.close();
    const wal = fileOf(dir, /\.log$/);
    writeFileSync(wal, readFileSync(wal).subarray(WAL_BLOCK_BYTES));
    for (let start = 0; start < 3; start++) {
      const error = await storageErrorOf(openStore(dir), "damaged");
      expect(error.message).toMatch(/LevelDB dropped data, says LOG: .*missing start/);
    }
  });
});

test("a note of dropped data is found in LOG.old, too", async () => {
  await withUsedStore(async (dir) => {
    flipByte(fileOf(dir, /\.log$/), 60);
    await readRecords(join(dir, "raft"));
    await readRecords(join(dir, "raft"));
    const error = await storageErrorOf(openStore(dir), "damaged");
    expect(error.message).toMatch(/says LOG\.old/);
  });
});

test("rot in a table, which LevelDB does not look for, is found", async () => {
  await withUsedStore(async (dir) => {
    await (await openStore(dir)).store.close();
    const needle = Buffer.from("entry 2 of 1");
    const tables = filesOf(dir, /\.ldb$/);
    const table = tables.find((path) => readFileSync(path).includes(needle)) ?? "none";
    flipByte(table, readFileSync(table).indexOf(needle));
    const error = await storageErrorOf(openStore(dir), "damaged");
    expect(error.place).toEqual({ group: 0, index: 2 });
  });
});

type Change = (records: readonly KeyValue[]) => Parameters<typeof writeRecords>[1][number];

test.each<[string, Change]>([
  ["a lost entry", () => ({ key: ENTRY_1 })],
  ["a lost last entry", () => ({ key: ENTRY_2 })],
  ["a lost hard state", () => ({ key: hardStateKey(groupOf(0)) })],
  ["a foreign key", () => ({ key: Uint8Array.of(1), value: Uint8Array.of(2) })],
  ["an entry too many", (records) => ({ key: ENTRY_3, value: valueOf(records, ENTRY_2) })],
  ["an entry twice", (records) => ({ key: ENTRY_1, value: valueOf(records, ENTRY_2) })],
])("%s in LevelDB is found at every start", async (_, change) => {
  await withUsedStore(async (dir) => {
    const raftDir = join(dir, "raft");
    await writeRecords(raftDir, [change(await readRecords(raftDir))]);
    await storageErrorOf(openStore(dir), "damaged");
    await storageErrorOf(openStore(dir), "damaged");
  });
});

function valueOf(records: readonly KeyValue[], key: Uint8Array): Uint8Array {
  const record = records.find((one) => bytesEqual(one.key, key));
  return record?.value ?? expect.fail("no such record");
}

function filesOf(dir: string, name: RegExp): string[] {
  const raftDir = join(dir, "raft");
  return readdirSync(raftDir)
    .filter((file) => name.test(file))
    .map((file) => join(raftDir, file));
}

function fileOf(dir: string, name: RegExp): string {
  return filesOf(dir, name)[0] ?? expect.fail(`no file ${name.source}`);
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  writeFileSync(path, bytes);
}
