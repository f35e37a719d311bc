import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inspectDataDir } from "../../src/storage/data-dir.ts";
import { openLevelDb } from "../../src/storage/level-db.ts";
import { hardStateOf, replicaOf, stepOf } from "../conformance/log-steps.ts";
import {
  createStore,
  openStore,
  storageErrorOf,
  submitAndWait,
  withTempDir,
} from "./level-harness.ts";

test("a directory is absent until a creation begins in it, whatever else it holds", async () => {
  await withTempDir(async (dir) => {
    expect(await inspectDataDir(join(dir, "missing"))).toBe("absent");
    writeFileSync(join(dir, "server.yaml"), "");
    expect(await inspectDataDir(dir)).toBe("absent");
    await storageErrorOf(openStore(dir), "notInitialised");
  });
});

test("a creation makes the directories that it needs, and is not repeated", async () => {
  await withTempDir(async (base) => {
    const dir = join(base, "a", "b");
    await createStore(dir, [replicaOf(0)]);
    expect(await inspectDataDir(dir)).toBe("initialised");
    await storageErrorOf(createStore(dir, [replicaOf(0)]), "alreadyInitialised");
    await (await openStore(dir)).store.close();
    expect(readdirSync(dir).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "acknowledged",
      "raft",
      "raft.initialised",
    ]);
  });
});

test.each<[string, (dir: string) => Promise<void> | void]>([
  ["before LevelDB", (dir) => mkdirSync(join(dir, "raft"))],
  [
    "inside LevelDB's own creation",
    async (dir) => {
      await createWithoutMarker(dir);
      rmSync(join(dir, "raft", "CURRENT"));
    },
  ],
  [
    "with a manifest that is not durable",
    async (dir) => {
      await createWithoutMarker(dir);
      truncateSync(manifestPath(dir), 0);
    },
  ],
  [
    "before the first write",
    async (dir) => (await openLevelDb(join(dir, "raft"), "createNew")).close(),
  ],
  [
    "before the second record",
    async (dir) => {
      await createWithoutMarker(dir);
      rmSync(join(dir, "acknowledged"));
    },
  ],
  ["before the marker", createWithoutMarker],
  [
    "with a draft of the marker",
    async (dir) => {
      await createWithoutMarker(dir);
      writeFileSync(join(dir, "raft.initialised.draft"), "cadas");
    },
  ],
])("a creation that ended %s never was, and can be repeated", async (_, interrupt) => {
  await withTempDir(async (dir) => {
    await interrupt(dir);
    expect(await inspectDataDir(dir)).toBe("neverInitialised");
    await storageErrorOf(openStore(dir), "notInitialised");
    await createStore(dir, [replicaOf(0)]);
    expect(await inspectDataDir(dir)).toBe("initialised");
    await (await openStore(dir)).store.close();
    expect(readdirSync(dir).some((name) => name.startsWith("raft.unfinished-"))).toBe(true);
  });
});

test("a used store whose marker was lost is damage, not a creation to repeat", async () => {
  await withTempDir(async (dir) => {
    await createStore(dir, [replicaOf(0)]);
    const { store } = await openStore(dir);
    await submitAndWait(store, stepOf({ hardState: hardStateOf(1) }));
    await store.close();
    rmSync(join(dir, "raft.initialised"));
    await storageErrorOf(inspectDataDir(dir), "damaged");
    await storageErrorOf(createStore(dir, [replicaOf(0)]), "damaged");
    rmSync(join(dir, "acknowledged"));
    await storageErrorOf(inspectDataDir(dir), "damaged");
    expect(existsSync(join(dir, "raft", "CURRENT"))).toBe(true);
  });
});

test("a new store beside the record of one that was used is damage", async () => {
  await withTempDir(async (dir) => {
    await createStore(dir, [replicaOf(0)]);
    const { store } = await openStore(dir);
    await submitAndWait(store, stepOf({ hardState: hardStateOf(1) }));
    await store.close();
    const record = readFileSync(join(dir, "acknowledged"));
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true });
    await createWithoutMarker(dir);
    writeFileSync(join(dir, "acknowledged"), record);
    await storageErrorOf(inspectDataDir(dir), "damaged");
  });
});

test("a creation that is under way is not disturbed by another", async () => {
  await withTempDir(async (dir) => {
    const db = await openLevelDb(join(dir, "raft"), "createNew");
    await storageErrorOf(createStore(dir, [replicaOf(0)]), "dataDirInUse");
    await db.close();
  });
});

async function createWithoutMarker(dir: string): Promise<void> {
  await createStore(dir, [replicaOf(0)], { storeUuid: "interrupted" });
  rmSync(join(dir, "raft.initialised"));
}

function manifestPath(dir: string): string {
  const raftDir = join(dir, "raft");
  const name = readdirSync(raftDir).find((file) => file.startsWith("MANIFEST"));
  return join(raftDir, name ?? expect.fail("no manifest"));
}
