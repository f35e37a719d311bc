import { symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import type { DurableStep } from "../../../src/replica/ports.ts";
import type { StorageError } from "../../../src/storage/errors.ts";
import { openLogStore } from "../../../src/storage/log-store.ts";
import { NodeFileStore } from "../../../src/storage/node-files.ts";
import { SnapshotFiles } from "../../../src/storage/snapshot-files.ts";
import {
  entryOf,
  groupOf,
  hardStateOf,
  positionOf,
  replicaOf,
  stepOf,
} from "../../conformance/log-steps.ts";
import {
  createStore,
  EXPECTED,
  NO_TIMERS,
  openStore,
  storageErrorOf,
  submitAndWait,
} from "../../storage/level-harness.ts";
import { realClient } from "../support/clients.ts";
import { RealCluster, until } from "../support/real-cluster.ts";
import { type SmallDisk, withSmallDisk } from "./small-disk.ts";

const MIB = 2 ** 20;

test("a disk that runs full ends the store, and after it was freed all that was told is there (B12)", async () => {
  await withSmallDisk(true, async ({ dir, failure, grow }) => {
    await createStore(dir, [replicaOf(0)]);
    const fatal: StorageError[] = [];
    const onFatal = (error: StorageError): void => void fatal.push(error);
    const { store } = await openLogStore({ dir, expect: EXPECTED, timers: NO_TIMERS, onFatal });
    await submitAndWait(store, stepOf({ hardState: hardStateOf(1) }));
    let told = 0;
    let index = 0;
    const submit = (): Promise<void> =>
      submitAndWait(store, stepOf({ entries: [megabyte(++index)] })).then(() => {
        told = index;
      });
    while (fatal.length === 0) await Promise.race([submit(), someTurns()]);
    expect(fatal.map(({ code }) => code)).toEqual([failure]);
    expect(told).toBeGreaterThan(2);
    const toldBefore = told;
    grow();
    const vote: DurableStep = { ...stepOf({ hardState: hardStateOf(2, 3) }), onDurable: refuse };
    store.submit(vote);
    store.submit(stepOf({ entries: [megabyte(index + 1)], onDurable: refuse }));
    await store.close();
    expect([told, fatal.length]).toEqual([toldBefore, 1]);
    const opened = await openStore(dir);
    const [replica] = opened.replicas;
    expect(replica?.hardState).toEqual(hardStateOf(1));
    expect([told, told + 1]).toContain(replica?.entries.length);
    await submitAndWait(opened.store, stepOf({ hardState: hardStateOf(2, 3) }));
    await opened.store.close();
  });
});

test("a snapshot that fills the disk is given up, and the log store goes on (B12)", async () => {
  await withSmallDisk(true, async ({ dir, failure }) => {
    await createStore(dir, [replicaOf(0)]);
    const { store } = await openStore(dir);
    const snapshots = new SnapshotFiles({ files: new NodeFileStore(dir), dir, clusterId: "c" });
    await submitAndWait(store, stepOf({ hardState: hardStateOf(1), entries: [megabyte(1)] }));
    const name = { group: groupOf(0), position: positionOf(1, 1) };
    const writer = snapshots.create(name);
    const write = async (): Promise<void> => {
      for (let piece = 0; piece < 64; piece++) await writer.append(new Uint8Array(MIB));
      await writer.publish();
    };
    await storageErrorOf(write(), failure);
    await writer.abort();
    expect(await new NodeFileStore(dir).list("snapshots")).toEqual([]);
    await submitAndWait(store, stepOf({ entries: [megabyte(2)] }));
    await store.close();
    const opened = await openStore(dir);
    expect(opened.replicas[0]?.entries.length).toBe(2);
    await opened.store.close();
  });
});

test("a server whose disk is full ends and says why; the others go on, and it comes back (B12)", async () => {
  const cluster = await RealCluster.prepare(3);
  try {
    await withSmallDisk(false, async (disk) => {
      try {
        await fillOneOf(cluster, disk);
      } finally {
        // Nothing may use the disk when it is taken away.
        await cluster.kill(3);
      }
    });
  } finally {
    await cluster.stop();
  }
});

async function fillOneOf(cluster: RealCluster, disk: SmallDisk): Promise<void> {
  symlinkSync(disk.dir, cluster.dataDir(3));
  for (const id of [1, 2, 3]) await cluster.startServer(id);
  await cluster.waitReady();
  const client = realClient(cluster.endpoints, "full-disk");
  const change = (name: string): Promise<unknown> =>
    client.keyspaces.createKeyspace({ name, ...KEYSPACE });
  await change("before");
  disk.fill(cluster.pid(3));
  // LevelDB has the rest of its present block in hand: a few changes may still fit.
  for (let at = 0; cluster.isRunning(3) && at < 2_000; at++) await change(`meanwhile-${at}`);
  await until(() => !cluster.isRunning(3));
  const said =
    disk.failure === "diskFull" ? /no space is left for/ : /reading or writing .* failed/;
  expect(cluster.output.join("")).toMatch(said);
  await change("without-it");
  expect(await cluster.get(3, "/livez")).toBeUndefined();
  disk.grow();
  await cluster.startServer(3);
  await cluster.waitReady([3]);
  await change("with-it");
  await until(async () => {
    const applied = await Promise.all([1, 2, 3].map((id) => appliedAt(cluster, id)));
    return new Set(applied).size === 1;
  });
  client.close();
}

const KEYSPACE = {
  kind: "range",
  hashFunction: undefined,
  leaseMode: "exclusive",
  dataKind: "none",
  leaseDurationMs: 10_000,
  renewIntervalMs: 3_000,
} as const;

/** Which index each group is applied to on a server. */
async function appliedAt(cluster: RealCluster, id: number): Promise<string> {
  const response = await cluster.get(id, "/v1/status");
  const status = (await response?.json()) as { groups: { appliedIndex: string }[] } | undefined;
  return status?.groups.map(({ appliedIndex }) => appliedIndex).join() ?? "no answer";
}

function megabyte(index: number): DurableStep["entries"][number] {
  return { ...entryOf(index, 1), payload: new Uint8Array(MIB).fill(index) };
}

function refuse(): never {
  return expect.unreachable("told after a failure");
}

/** Lets a write that fails, and is never told, be noticed. */
async function someTurns(): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, 1_000);
  });
}
