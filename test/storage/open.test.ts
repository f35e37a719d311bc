import { chmodSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { bytesEqual } from "../../src/base/bytes.ts";
import type { StorageError } from "../../src/storage/errors.ts";
import { entryKey } from "../../src/storage/keys.ts";
import { openLogStore } from "../../src/storage/log-store.ts";
import {
  entryOf,
  groupOf,
  hardStateOf,
  indexOf,
  positionOf,
  replicaOf,
  START,
  stepOf,
} from "../conformance/log-steps.ts";
import {
  asOrdinaryUser,
  createStore,
  EXPECTED,
  FIRST_STEP,
  IDENTITY,
  NO_TIMERS,
  openStore,
  readRecords,
  storageErrorOf,
  submitAndWait,
  withTempDir,
  withUsedStore,
  writeRecords,
} from "./level-harness.ts";

const WRITE_BUFFER_BYTES = 32 * 2 ** 20;

test("an opened store says whose it is and what it holds", async () => {
  await withUsedStore(async (dir) => {
    const { store, identity, replicas } = await openStore(dir);
    const { hardState, entries } = FIRST_STEP;
    expect(identity).toEqual(IDENTITY);
    expect(replicas).toEqual([{ ...replicaOf(0), ...START, hardState, entries }]);
    await store.close();
  });
});

test("a store is for one cluster and one server, and is free again after a refusal", async () => {
  await withUsedStore(async (dir) => {
    const ofCluster = openStore(dir, { clusterId: "cluster-b" });
    expect((await storageErrorOf(ofCluster, "clusterMismatch")).message).toContain(dir);
    const ofServer = openStore(dir, { serverId: 2 as ServerId });
    expect((await storageErrorOf(ofServer, "serverMismatch")).message).toContain(dir);
    await (await openStore(dir)).store.close();
  });
});

test("remains that a crash brought back are left out, and deleted after the open", async () => {
  await withUsedStore(async (dir) => {
    const { store } = await openStore(dir);
    const moved = { snapshot: positionOf(1, 1), base: positionOf(1, 1) };
    await submitAndWait(store, stepOf({ hardState: hardStateOf(1, 1, 1), ...moved }));
    await store.close();
    const raftDir = join(dir, "raft");
    const remains = entryKey(groupOf(0), indexOf(1));
    expect(await hasKey(raftDir, remains)).toBe(false);
    await writeRecords(raftDir, [{ key: remains, value: Uint8Array.of(1) }]);
    const again = await openStore(dir);
    expect(again.replicas).toMatchObject([{ ...moved, entries: [entryOf(2, 1)] }]);
    await again.store.close();
    expect(await hasKey(raftDir, remains)).toBe(false);
  });
});

test("a store is opened once at a time, and its first user is not disturbed", async () => {
  await withUsedStore(async (dir) => {
    const { store } = await openStore(dir);
    const error = await storageErrorOf(openStore(dir), "dataDirInUse");
    expect(error.message).toContain(dir);
    await submitAndWait(store, stepOf({ hardState: hardStateOf(2) }));
    await store.close();
    const again = await openStore(dir);
    expect(again.replicas[0]?.hardState).toEqual(hardStateOf(2));
    await again.store.close();
  });
});

test("a file in place of the data directory, or above it, is named", async () => {
  await withTempDir(async (dir) => {
    const file = join(dir, "file");
    writeFileSync(file, "");
    for (const path of [file, join(file, "below")]) {
      expect((await storageErrorOf(openStore(path), "notADirectory")).message).toContain(path);
      await storageErrorOf(createStore(path, [replicaOf(0)]), "notADirectory");
    }
  });
});

test("a data directory or store folder that the server's user may not read is named", async () => {
  await withUsedStore(async (dir) => {
    const raftDir = join(dir, "raft");
    chmodSync(dir, 0o777);
    chmodSync(raftDir, 0o000);
    const ofFolder = await asOrdinaryUser(() => storageErrorOf(openStore(dir), "permissionDenied"));
    expect(ofFolder.message).toContain(raftDir);
    chmodSync(dir, 0o000);
    const ofDirectory = await asOrdinaryUser(() =>
      storageErrorOf(openStore(dir), "permissionDenied"),
    );
    expect(ofDirectory.message).toMatch(/let the server's user read and write/);
    for (const path of [dir, raftDir]) chmodSync(path, 0o700);
  });
});

test("a write that the system refuses is not told, and what was told before is kept", async () => {
  await withUsedStore(async (dir) => {
    let onFatal: (error: StorageError) => void = () => undefined;
    const failure = new Promise<StorageError>((resolve) => {
      onFatal = resolve;
    });
    const { store } = await openLogStore({ dir, expect: EXPECTED, timers: NO_TIMERS, onFatal });
    // LevelDB goes on in its next write-ahead file once the write buffer is full; that file is
    // a device here on which every write fails as on a full disk.
    const links = nextWalPaths(dir);
    for (const link of links) symlinkSync("/dev/full", link);
    const large = { ...entryOf(3, 1), payload: new Uint8Array(WRITE_BUFFER_BYTES + 1) };
    await submitAndWait(store, stepOf({ entries: [large] }));
    store.submit(stepOf({ entries: [entryOf(4, 1)], onDurable: () => expect.unreachable() }));
    expect((await failure).code).toBe("ioError");
    store.submit(stepOf({ entries: [entryOf(5, 1)], onDurable: () => expect.unreachable() }));
    await store.close();
    for (const link of links) rmSync(link, { force: true });
    const again = await openStore(dir);
    expect(again.replicas[0]?.entries.length).toBe(3);
    await again.store.close();
  });
});

async function hasKey(raftDir: string, key: Uint8Array): Promise<boolean> {
  return (await readRecords(raftDir)).some((record) => bytesEqual(record.key, key));
}

function nextWalPaths(dir: string): string[] {
  const raftDir = join(dir, "raft");
  const numbers = readdirSync(raftDir).map((name) => /^(\d+)\.log$/.exec(name)?.[1] ?? "0");
  const last = Math.max(...numbers.map(Number));
  return [1, 2, 3, 4].map((step) => join(raftDir, `${String(last + step).padStart(6, "0")}.log`));
}
