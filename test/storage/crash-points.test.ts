import { expect, test } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { type Bytes, utf8ToBytes } from "../../src/base/bytes.ts";
import type { DurableStep, SnapshotName } from "../../src/replica/ports.ts";
import { inspectDataDir } from "../../src/storage/data-dir.ts";
import { createLogStore, type OpenedLogStore, openLogStore } from "../../src/storage/log-store.ts";
import { NodeFileStore } from "../../src/storage/node-files.ts";
import { checkSnapshots, SnapshotFiles } from "../../src/storage/snapshot-files.ts";
import {
  describeReplicas,
  entryOf,
  groupOf,
  hardStateOf,
  indexOf,
  positionOf,
  replicaOf,
  stepOf,
  StoreModel,
} from "../conformance/log-steps.ts";
import { type CrashAt, CRASHES, CrashingDisk } from "./crashing-disk.ts";
import {
  createStore,
  EXPECTED,
  IDENTITY,
  NO_TIMERS,
  openStore,
  submitAndWait,
  withTempDir,
} from "./level-harness.ts";

const REPLICAS = [replicaOf(0), replicaOf(1)];
const PEER = 2 as ServerId;
/** Points beyond which something must be missing: the life below was cut short by a mistake. */
const POINTS_MIN = 40;
/** Most of the time goes into waiting for the disk. */
const LANES = 4;

/** What was told to a process before it ended. */
class Told {
  readonly model = new StoreModel(REPLICAS);
  steps = 0;
  isCreated = false;
  isPeerRemembered = false;
  isAdmitted = false;
}

/** The life of a server's store: first start, appends, truncation, checkpoint, install, close. */
async function live(dir: string, disk: CrashingDisk, told: Told): Promise<void> {
  await createLogStore({ dir, identity: IDENTITY, replicas: REPLICAS }, disk);
  told.isCreated = true;
  const opened = await openLogStore(
    { dir, expect: EXPECTED, timers: NO_TIMERS, onFatal: failed, compactedBytesMin: 1 },
    disk,
  );
  const snapshots = new SnapshotFiles({ files: disk.files, dir, clusterId: IDENTITY.clusterId });
  await opened.memory.remember(PEER, "uuid-2");
  told.isPeerRemembered = true;
  await opened.memory.admit();
  told.isAdmitted = true;
  const submit = submitter(opened, told);
  await submit({ hardState: hardStateOf(1, 1), entries: entries(1, 6, 1) });
  await submit({ group: groupOf(1), hardState: hardStateOf(1, 3), entries: entries(1, 2, 1) });
  await submit({ hardState: hardStateOf(2, undefined, 4) });
  await submit({ truncateFrom: indexOf(5), entries: entries(5, 7, 2) });
  await takeCheckpoint(snapshots, submit);
  await install(snapshots, submit, await sentFile());
  await submit({ hardState: hardStateOf(4, 2, 20), entries: entries(21, 22, 3) });
  await opened.store.close();
}

type Submit = (parts: Partial<DurableStep>) => Promise<void>;

function submitter({ store }: OpenedLogStore, told: Told): Submit {
  return async (parts) => {
    const step = stepOf(parts);
    told.model.take(step);
    await submitAndWait(store, step);
    told.steps++;
  };
}

async function takeCheckpoint(snapshots: SnapshotFiles, submit: Submit): Promise<void> {
  const position = positionOf(6, 2);
  const writer = snapshots.create({ group: groupOf(0), position });
  await writer.append(new Uint8Array(200_000));
  await writer.publish();
  await submit({
    hardState: hardStateOf(2, undefined, 7),
    snapshot: position,
    base: positionOf(4, 1),
  });
  await snapshots.retain(groupOf(0), [position]);
}

const INSTALLED: SnapshotName = { group: groupOf(0), position: positionOf(20, 3) };

async function install(snapshots: SnapshotFiles, submit: Submit, file: Bytes): Promise<void> {
  const receiver = await snapshots.receive(INSTALLED, file.length);
  await receiver.append(file.subarray(0, 100));
  await receiver.append(file.subarray(100));
  await receiver.publish();
  await submit({ hardState: hardStateOf(3, undefined, 7), entries: entries(8, 9, 3) });
  const { position } = INSTALLED;
  const hardState = hardStateOf(3, undefined, 20);
  await submit({ hardState, truncateFrom: indexOf(8), snapshot: position, base: position });
  await snapshots.retain(groupOf(0), [position]);
}

/** The snapshot that a leader sends. */
async function sentFile(): Promise<Bytes> {
  return withTempDir(async (dir) => {
    const { clusterId } = IDENTITY;
    const sender = new SnapshotFiles({ files: new NodeFileStore(dir), dir, clusterId });
    const writer = sender.create(INSTALLED);
    await writer.append(utf8ToBytes("a state".repeat(100)));
    await writer.publish();
    const file = (await sender.openFile(INSTALLED)) ?? expect.fail("no file");
    const bytes = await file.read(0, file.fileBytes);
    await file.close();
    return bytes;
  });
}

function entries(from: number, to: number, term: number): DurableStep["entries"] {
  return Array.from({ length: to + 1 - from }, (_, at) => entryOf(from + at, term));
}

/** The next process finds all that was told, and at most what was under way beside it. */
async function checkReopened(dir: string, told: Told): Promise<void> {
  if ((await inspectDataDir(dir)) !== "initialised") {
    expect(told.isCreated).toBe(false);
    await createStore(dir, REPLICAS);
  }
  const opened = await openStore(dir);
  const { clusterId } = IDENTITY;
  const snapshots = new SnapshotFiles({ files: new NodeFileStore(dir), dir, clusterId });
  expect(told.model.statesSince(told.steps)).toContainEqual(describeReplicas(opened.replicas));
  await checkSnapshots(snapshots, opened.replicas);
  if (told.isPeerRemembered) expect(opened.memory.storeOf(PEER)).toBe("uuid-2");
  if (told.isAdmitted) expect(opened.isAdmitted).toBe(true);
  await checkGoesOn(dir, opened, snapshots);
}

/** It can be used, too: what a crash left behind is in the way of nothing. */
async function checkGoesOn(
  dir: string,
  opened: OpenedLogStore,
  snapshots: SnapshotFiles,
): Promise<void> {
  const model = new StoreModel(REPLICAS);
  model.reset(opened.replicas);
  const { lastIndex, term, commitIndex } = endOf(opened);
  const next = stepOf({
    hardState: hardStateOf(term + 1, 1, commitIndex),
    entries: [entryOf(lastIndex + 1, term + 1)],
  });
  model.take(next);
  await submitAndWait(opened.store, next);
  for (const { group, snapshot } of opened.replicas) await snapshots.retain(group, [snapshot]);
  await opened.store.close();
  const again = await openStore(dir);
  expect(describeReplicas(again.replicas)).toEqual(model.describe());
  await again.store.close();
}

function endOf({ replicas }: OpenedLogStore): Record<"lastIndex" | "term" | "commitIndex", number> {
  const { hardState, base, entries: held } = replicas[0] ?? expect.fail("no group");
  const { term, commitIndex } = hardState;
  return { lastIndex: held.at(-1)?.index ?? base.index, term, commitIndex };
}

function failed(error: Error): never {
  return expect.fail(`the store failed: ${error.message}`);
}

async function crash(at: CrashAt): Promise<void> {
  await withTempDir(async (dir) => {
    const told = new Told();
    const disk = new CrashingDisk(dir, at);
    await Promise.race([live(dir, disk, told).then(() => expect.unreachable()), disk.ended]);
    await disk.release();
    await checkReopened(dir, told);
  });
}

test("a crash at any persist point, with or without power, leaves all that was told (law 29)", async () => {
  const points = await withTempDir(async (dir) => {
    const disk = new CrashingDisk(dir);
    await live(dir, disk, new Told());
    return disk.points;
  });
  expect(points.length).toBeGreaterThan(POINTS_MIN);
  const crashes = points.flatMap(({ name, hasPart }, point) => {
    const ways = CRASHES.filter((way) => way !== "part" || hasPart);
    return ways.map((way) => ({ point, name, crash: way }));
  });
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let at = lane; at < crashes.length; at += LANES) {
      await crashNamed(crashes[at] ?? expect.fail("no such crash"));
    }
  });
  await Promise.all(lanes);
  const lines = points.map(({ name }, point) => {
    const ways = crashes.filter((one) => one.point === point).map((one) => one.crash);
    return `  ${point} ${name}: ${ways.join(", ")}\n`;
  });
  const count = `${points.length} persist points, ${crashes.length} crashes, all reopened whole:\n`;
  process.stdout.write(count + lines.join(""));
}, 120_000);

async function crashNamed(at: CrashAt & { readonly name: string }): Promise<void> {
  await crash(at).catch((error: unknown) => {
    throw new Error(`crash ${at.crash} at point ${at.point}, ${at.name}`, { cause: error });
  });
}
