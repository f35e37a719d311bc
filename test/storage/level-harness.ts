/**
 * Real log stores in temporary folders, for tests: made, opened, killed, damaged, and removed.
 */

import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import type { Bytes } from "../../src/base/bytes.ts";
import { crc32c } from "../../src/base/crc32c.ts";
import type { LogStore, Timers } from "../../src/replica/ports.ts";
import { codeOf, StorageError, type StorageErrorCode } from "../../src/storage/errors.ts";
import { type KeyValue, openLevelDb } from "../../src/storage/level-db.ts";
import { createLogStore, openLogStore, type OpenedLogStore } from "../../src/storage/log-store.ts";
import type { StoreIdentity } from "../../src/storage/records.ts";
import {
  entryOf,
  hardStateOf,
  replicaOf,
  stepOf,
  type TestReplica,
} from "../conformance/log-steps.ts";
import type { LogStoreHarness } from "../conformance/log-store.ts";

export const IDENTITY: StoreIdentity = {
  clusterId: "cluster-a",
  serverId: 1 as ServerId,
  storeUuid: "5a7e11f0-0000-4000-8000-000000000001",
};

export const EXPECTED = { clusterId: "cluster-a", serverId: 1 as ServerId };

/** Nothing happens later than its cause. */
export const NO_TIMERS: Pick<Timers, "after"> = { after: () => () => {} };

/** A folder that is removed when the run ends. */
export async function withTempDir<T>(run: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "cadastre-storage-"));
  try {
    return await run(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function createStore(
  dir: string,
  replicas: readonly TestReplica[],
  identity: Partial<StoreIdentity> = {},
): Promise<void> {
  await createLogStore({ dir, identity: { ...IDENTITY, ...identity }, replicas });
}

export function openStore(
  dir: string,
  expected: Partial<typeof EXPECTED> = {},
): Promise<OpenedLogStore> {
  return openLogStore({
    dir,
    expect: { ...EXPECTED, ...expected },
    timers: NO_TIMERS,
    onFatal: failTest,
  });
}

/** A changed record with a right checksum. */
export function resealed(value: Bytes): Bytes {
  const sealed = value.slice();
  const body = sealed.subarray(0, -4);
  new DataView(sealed.buffer).setUint32(body.length, crc32c(body));
  return sealed;
}

/** The records of a closed store, as LevelDB has them. */
export async function readRecords(raftDir: string): Promise<KeyValue[]> {
  const db = await openLevelDb(raftDir, "openExisting");
  const records: KeyValue[] = [];
  for await (const portion of db.scan()) records.push(...portion);
  await db.close();
  return records;
}

/** Changes records of a closed store behind the log store's back. */
export async function writeRecords(
  raftDir: string,
  changes: readonly { readonly key: Uint8Array; readonly value?: Uint8Array }[],
): Promise<void> {
  const db = await openLevelDb(raftDir, "openExisting");
  const batch = db.openBatch();
  for (const { key, value } of changes) {
    if (value === undefined) batch.delete(key);
    else batch.put(key, value);
  }
  await batch.write();
  await db.close();
}

/** The storage error that a promise rejects with, which has this code. */
export async function storageErrorOf(
  promise: Promise<unknown>,
  code: StorageErrorCode,
): Promise<StorageError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StorageError)) expect.fail(`no storage error but ${String(error)}`);
  expect(`${error.code}: ${error.message}`).toMatch(new RegExp(`^${code}: [^\\n]+$`));
  return error;
}

/** A step of group 0 as its first: term 1, two entries. */
export const FIRST_STEP = stepOf({
  hardState: hardStateOf(1, 1),
  entries: [entryOf(1, 1), entryOf(2, 1)],
});

/** A closed store with FIRST_STEP, in a folder of its own. */
export function withUsedStore<T>(run: (dir: string) => Promise<T>): Promise<T> {
  return withTempDir(async (dir) => {
    await createStore(dir, [replicaOf(0)]);
    const { store } = await openStore(dir);
    await submitAndWait(store, FIRST_STEP);
    await store.close();
    return await run(dir);
  });
}

/** Resolves when a step was told to be durable. */
export function submitAndWait(
  store: LogStore,
  step: Omit<Parameters<LogStore["submit"]>[0], "onDurable">,
): Promise<void> {
  return new Promise((resolve) => {
    store.submit({ ...step, onDurable: resolve });
  });
}

/** Runs without root's right to pass over file modes. */
export async function asOrdinaryUser<T>(run: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return run();
  process.seteuid?.(65_534);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}

/** A harness for the conformance suite. A crash is a copy of the files at that moment. */
export async function makeLevelHarness(replicas: readonly TestReplica[]): Promise<LogStoreHarness> {
  const base = mkdtempSync(join(tmpdir(), "cadastre-storage-"));
  const dead: LogStore[] = [];
  let lives = 0;
  let dir = join(base, "life-0");
  await createStore(dir, replicas);
  let { store } = await openStore(dir);
  return {
    get store() {
      return store;
    },
    settle: () => undefined,
    reopen: async () => {
      await store.close();
      const opened = await openStore(dir);
      ({ store } = opened);
      return opened.replicas;
    },
    crash: async () => {
      const next = join(base, `life-${++lives}`);
      copyAtOnce(dir, next);
      dead.push(store);
      dir = next;
      const opened = await openStore(dir);
      ({ store } = opened);
      return opened.replicas;
    },
    dispose: async () => {
      await Promise.all([...dead, store].map((one) => one.close()));
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/**
 * Copies the directory of a store that is in use, as it is at one moment: LevelDB's own thread may
 * merge and delete tables meanwhile, and then the copy is made again.
 */
export function copyAtOnce(from: string, to: string): void {
  for (;;) {
    const before = tablesOf(from);
    try {
      // Opening and closing the lock file, as a copy does, would give up the lock.
      cpSync(from, to, { recursive: true, filter: (path) => basename(path) !== "LOCK" });
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
    if (tablesOf(from) === before) return;
    rmSync(to, { recursive: true, force: true });
  }
}

/** The names of tables, and the manifest that lists them with its size. */
function tablesOf(dir: string): string {
  const raftDir = join(dir, "raft");
  const names = readdirSync(raftDir).filter((name) => /ldb$|^MANIFEST/.test(name));
  return names
    .map((name) => {
      const size = statSync(join(raftDir, name), { throwIfNoEntry: false })?.size;
      return `${name} ${name.startsWith("MANIFEST") ? size : ""}`;
    })
    .join();
}

function failTest(error: StorageError): void {
  expect.fail(`the store failed: ${error.message}`);
}
