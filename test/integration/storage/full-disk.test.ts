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
import { withSmallDisk } from "./small-disk.ts";

const MIB = 2 ** 20;

test("a disk that runs full ends the store, and after it was freed all that was told is there (B12)", async () => {
  await withSmallDisk(async ({ dir, failure, grow }) => {
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
  await withSmallDisk(async ({ dir, failure }) => {
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
