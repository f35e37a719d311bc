import { expect, test, vi } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { type Bytes, bytesToHex } from "../../src/base/bytes.ts";
import type { DurableStep } from "../../src/replica/ports.ts";
import { acknowledgedOf } from "../../src/storage/acknowledged.ts";
import { createAcknowledged, readAcknowledged } from "../../src/storage/acknowledged-file.ts";
import type { StorageError } from "../../src/storage/errors.ts";
import { LevelLogStore } from "../../src/storage/group-commit.ts";
import { emptyHardStateRecord, GroupLog } from "../../src/storage/group-log.ts";
import {
  ADMISSION_KEY,
  entryKey,
  hardStateKey,
  peerKey,
  snapshotPointerKey,
  STORE_HEAD_KEY,
} from "../../src/storage/keys.ts";
import {
  decodeHardState,
  decodeSnapshotPointer,
  decodeStoreHead,
} from "../../src/storage/records.ts";
import type { RecoveredGroup } from "../../src/storage/recovery.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import {
  entryOf,
  groupOf,
  hardStateOf,
  indexOf,
  positionOf,
  replicaOf,
  stepOf,
} from "../conformance/log-steps.ts";
import { type FakeBatch, FakeDb, turn } from "./fake-db.ts";
import { FakeFiles } from "./fake-files.ts";
import { IDENTITY } from "./level-harness.ts";

interface Context {
  readonly db: FakeDb;
  readonly files: FakeFiles;
  readonly clock: VirtualClock;
  readonly store: LevelLogStore;
  readonly fatal: StorageError[];
  readonly told: string[];
  readonly submit: (name: string, parts: Partial<DurableStep>) => void;
}

/** A new store of three groups, that is the second of its file's writes ahead. */
async function setUp(): Promise<Context> {
  const db = new FakeDb();
  const files = new FakeFiles();
  const clock = new VirtualClock();
  const fatal: StorageError[] = [];
  const told: string[] = [];
  const groups = [0, 1, 2].map((group): RecoveredGroup => {
    const bounds = emptyHardStateRecord(groupOf(group), 1);
    const log = new GroupLog(bounds);
    return { configuration: replicaOf(group), bounds, log, entries: [], remains: undefined };
  });
  const acknowledged = groups.map(({ log }) => acknowledgedOf(log));
  const { storeUuid } = IDENTITY;
  await createAcknowledged(files, { storeUuid, groups: acknowledged });
  const content = (await readAcknowledged(files, "/data")) ?? expect.fail("no record");
  const store = new LevelLogStore({
    db,
    dir: "/data/raft",
    recovered: {
      identity: IDENTITY,
      isAdmitted: false,
      peers: new Map(),
      head: { writeSequence: 1, sequenceSum: 3, groupCount: 3 },
      groups,
    },
    acknowledged: { files, timers: clock, content, groups: acknowledged },
    onFatal: (error) => void fatal.push(error),
  });
  const submit = (name: string, parts: Partial<DurableStep>): void =>
    store.submit(stepOf({ ...parts, onDurable: () => told.push(name) }));
  return { db, files, clock, store, fatal, told, submit };
}

async function acknowledgedIn(files: FakeFiles): Promise<string[]> {
  const content = await readAcknowledged(files, "/data");
  return (content?.slot.groups ?? []).map(
    ({ term, votedFor, index }) => `${term}/${votedFor ?? "-"}/${index}`,
  );
}

const entryHex = (group: number, index: number): string =>
  bytesToHex(entryKey(groupOf(group), indexOf(index)));
const headHex = bytesToHex(STORE_HEAD_KEY);
const hardStateHex = (group: number): string => bytesToHex(hardStateKey(groupOf(group)));

test("an idle store starts to write in the same turn, with all that the turn submits", async () => {
  const { db, submit, told } = await setUp();
  submit("a", { hardState: hardStateOf(1) });
  submit("b", { group: groupOf(1), hardState: hardStateOf(1) });
  await Promise.resolve();
  expect(db.writes.length).toBe(1);
  expect(told).toEqual([]);
  db.last.succeed();
  await turn();
  expect(told).toEqual(["a", "b"]);
  expect(db.writes.length).toBe(1);
});

test("one write is in flight; what comes meanwhile shares the next", async () => {
  const { db, submit, told } = await setUp();
  submit("a", { hardState: hardStateOf(1) });
  await turn();
  submit("b", { hardState: hardStateOf(2) });
  await turn();
  submit("c", { group: groupOf(1), hardState: hardStateOf(2) });
  await turn();
  expect(db.writes.length).toBe(1);
  db.last.succeed();
  await turn();
  expect(db.writes.length).toBe(2);
  expect(told).toEqual(["a"]);
  db.last.succeed();
  await turn();
  expect(told).toEqual(["a", "b", "c"]);
});

test("the next write has started when a step is told", async () => {
  const { db, store, submit } = await setUp();
  const started: number[] = [];
  const onDurable = (): void => void started.push(db.writes.length);
  store.submit(stepOf({ hardState: hardStateOf(1), onDurable }));
  await turn();
  submit("b", { hardState: hardStateOf(2) });
  db.last.succeed();
  await turn();
  expect(started).toEqual([2]);
});

test("a vote rewrites the hard state and the store head, and nothing else", async () => {
  const { db, submit } = await setUp();
  submit("a", { hardState: hardStateOf(1), entries: [entryOf(1, 1)] });
  await turn();
  submit("b", { hardState: hardStateOf(2, 3) });
  db.last.succeed();
  await turn();
  expect(db.last.changes).toEqual([`put ${hardStateHex(0)}`, `put ${headHex}`]);
});

test("an overwritten suffix is deleted in the batch that overwrites it", async () => {
  const { db, submit } = await setUp();
  submit("a", { hardState: hardStateOf(1), entries: [1, 2, 3, 4].map((at) => entryOf(at, 1)) });
  await turn();
  const entries = [entryOf(2, 2)];
  submit("b", { hardState: hardStateOf(2), truncateFrom: indexOf(2), entries });
  db.last.succeed();
  await turn();
  expect(db.last.changes).toEqual([
    `delete ${entryHex(0, 3)}`,
    `delete ${entryHex(0, 4)}`,
    `put ${entryHex(0, 2)}`,
    `put ${hardStateHex(0)}`,
    `put ${headHex}`,
  ]);
});

test("a checkpoint is one batch, and only behind it is the log's beginning deleted", async () => {
  const { db, submit } = await setUp();
  submit("a", { hardState: hardStateOf(1), entries: [1, 2, 3, 4].map((at) => entryOf(at, 1)) });
  await turn();
  const hardState = hardStateOf(1, undefined, 3);
  submit("b", { hardState, snapshot: positionOf(3, 1), base: positionOf(2, 1) });
  db.last.succeed();
  await turn();
  const pointerHex = bytesToHex(snapshotPointerKey(groupOf(0)));
  expect(db.last.changes).toEqual([
    `put ${pointerHex}`,
    `put ${hardStateHex(0)}`,
    `put ${headHex}`,
  ]);
  expect(decodeSnapshotPointer(valueOf(db.last, pointerHex))).toMatchObject({
    value: { group: 0, position: positionOf(3, 1) },
  });
  expect(decodeHardState(valueOf(db.last, hardStateHex(0)))).toMatchObject({
    value: { base: positionOf(2, 1), snapshotIndex: 3, lastIndex: 4 },
  });
  expect(db.deletions).toEqual([]);
  db.last.succeed();
  await turn();
  expect(db.deletions.map(({ keys }) => keys)).toEqual([[entryHex(0, 1), entryHex(0, 2)]]);
});

test("a log that moves on twice in one batch is deleted up to its last beginning", async () => {
  const { db, submit } = await setUp();
  const entries = [1, 2, 3, 4, 5].map((at) => entryOf(at, 1));
  submit("a", { hardState: hardStateOf(1, undefined, 5), entries });
  submit("b", { snapshot: positionOf(2, 1), base: positionOf(2, 1) });
  submit("c", { snapshot: positionOf(4, 1), base: positionOf(3, 1) });
  await turn();
  db.last.succeed();
  await turn();
  db.deletions[0]?.succeed();
  await turn();
  const deleted = db.deletions.flatMap(({ keys = [] }) => keys);
  expect(deleted).toEqual([1, 2, 3].map((index) => entryHex(0, index)));
});

test("an installed snapshot deletes in its batch what lies above it, and no more", async () => {
  const { db, submit } = await setUp();
  submit("a", {
    hardState: hardStateOf(1, undefined, 2),
    entries: [1, 2, 3, 4, 5, 6].map((at) => entryOf(at, 1)),
  });
  await turn();
  const position = positionOf(4, 2);
  submit("b", {
    hardState: hardStateOf(2, undefined, 4),
    truncateFrom: indexOf(3),
    snapshot: position,
    base: position,
    entries: [entryOf(5, 2)],
  });
  db.last.succeed();
  await turn();
  const logged = db.last.changes.filter((change) => change.includes(" 4c"));
  expect(logged).toEqual([`delete ${entryHex(0, 6)}`, `put ${entryHex(0, 5)}`]);
  db.last.succeed();
  await turn();
  const remains = [1, 2, 3, 4].map((index) => entryHex(0, index));
  expect(db.deletions.map(({ keys }) => keys)).toEqual([remains]);
});

test.each([
  ["succeeds", (write: FakeBatch) => write.succeed()],
  ["fails", (write: FakeBatch) => write.fail(new Error("gone"))],
])("a rejected deletion ends the store, also if the write under way %s", async (_, finish) => {
  const { db, submit, told, fatal } = await setUp();
  submit("a", { hardState: hardStateOf(1, 1, 1), entries: [entryOf(1, 1), entryOf(2, 1)] });
  submit("b", { snapshot: positionOf(1, 1), base: positionOf(1, 1) });
  await turn();
  db.last.succeed();
  await turn();
  submit("c", { hardState: hardStateOf(2, 1, 1) });
  await turn();
  db.deletions[0]?.fail(Object.assign(new Error("IO error"), { code: "LEVEL_IO_ERROR" }));
  await turn();
  finish(db.last);
  submit("d", { hardState: hardStateOf(3, 1, 1) });
  await turn();
  expect(told).toEqual(["a", "b"]);
  expect(db.writes.length).toBe(2);
  expect(fatal.map(({ code }) => code)).toEqual(["ioError"]);
});

test("a changed term or vote is told when the second record has it, too (law 30)", async () => {
  const { db, files, submit, told } = await setUp();
  files.held = [];
  submit("a", { hardState: hardStateOf(1, 2) });
  await turn();
  expect(files.held.length).toBe(0);
  submit("b", { group: groupOf(1), hardState: hardStateOf(4) });
  db.last.succeed();
  await turn();
  expect(files.held.length).toBe(1);
  expect([told, db.writes.length]).toEqual([[], 1]);
  files.held[0]?.succeed();
  await turn();
  expect(await acknowledgedIn(files)).toEqual(["1/2/0", "0/-/0", "0/-/0"]);
  expect([told, db.writes.length]).toEqual([["a"], 2]);
});

test("entries are told without the second record, which follows within a second", async () => {
  const { db, files, clock, submit, told } = await setUp();
  submit("a", { hardState: hardStateOf(1), entries: [entryOf(1, 1)] });
  await turn();
  db.last.succeed();
  await turn();
  files.held = [];
  submit("b", { entries: [entryOf(2, 1), entryOf(3, 1)] });
  await turn();
  db.last.succeed();
  await turn();
  expect(told).toEqual(["a", "b"]);
  await clock.advance(1_000);
  expect(files.held.length).toBe(1);
  expect(await acknowledgedIn(files)).toEqual(["1/-/1", "0/-/0", "0/-/0"]);
  files.held[0]?.succeed();
  await turn();
  expect(await acknowledgedIn(files)).toEqual(["1/-/3", "0/-/0", "0/-/0"]);
});

test("the second record counts entries of the present term only: others may be truncated", async () => {
  const { db, files, store, submit } = await setUp();
  submit("a", { hardState: hardStateOf(1), entries: [entryOf(1, 1), entryOf(2, 1)] });
  submit("b", { hardState: hardStateOf(2, 3) });
  await turn();
  db.last.succeed();
  await turn();
  expect(await acknowledgedIn(files)).toEqual(["2/3/0", "0/-/0", "0/-/0"]);
  submit("c", { truncateFrom: indexOf(2), entries: [entryOf(2, 2)] });
  const closed = store.close();
  await turn();
  db.last.succeed();
  await closed;
  expect(await acknowledgedIn(files)).toEqual(["2/3/2", "0/-/0", "0/-/0"]);
});

test.each([
  ["at once", async () => {}],
  ["late", async (clock: VirtualClock) => clock.advance(1_000)],
])("a second record that is not written %s ends the store", async (when, wait) => {
  const { db, files, clock, submit, told, fatal } = await setUp();
  if (when === "at once") files.held = [];
  submit("a", { hardState: hardStateOf(1), entries: [entryOf(1, 1)] });
  await turn();
  db.last.succeed();
  await turn();
  files.held ??= [];
  await wait(clock);
  files.held[0]?.fail(Object.assign(new Error("no space"), { code: "ENOSPC" }));
  await turn();
  submit("b", { hardState: hardStateOf(2) });
  await turn();
  expect(told).toEqual(when === "at once" ? [] : ["a"]);
  expect(fatal.map(({ code }) => code)).toEqual(["diskFull"]);
  await clock.advance(10_000);
  expect([db.writes.length, files.held.length]).toEqual([1, 1]);
});

test("a peer's store and the admission are records that the store head counts", async () => {
  const { db, store } = await setUp();
  const events: string[] = [];
  const peer = 2 as ServerId;
  void store.remember(peer, "uuid-2").then(() => events.push("remembered"));
  void store.remember(peer, "another").then(() => events.push("remembered"));
  expect([store.storeOf(peer), store.isRemembered(peer)]).toEqual(["uuid-2", false]);
  void store.admit().then(() => events.push("admitted"));
  void store.admit().then(() => events.push("admitted"));
  await turn();
  expect(db.last.changes).toEqual([
    `put ${bytesToHex(peerKey(2 as ServerId))}`,
    `put ${bytesToHex(ADMISSION_KEY)}`,
    `put ${headHex}`,
  ]);
  expect(decodeStoreHead(valueOf(db.last, headHex))).toMatchObject({
    value: { writeSequence: 2, sequenceSum: 7 },
  });
  expect(events).toEqual([]);
  db.last.succeed();
  await turn();
  const counted = ["remembered", "admitted"].map(
    (event) => events.filter((one) => one === event).length,
  );
  expect(counted).toEqual([2, 2]);
  expect([store.storeOf(peer), store.isRemembered(peer)]).toEqual(["uuid-2", true]);
  await store.remember(peer, "another");
  expect(store.storeOf(peer)).toBe("uuid-2");
});

test("a batch holds one hard state per group, of its last step, and counts itself", async () => {
  const { db, submit } = await setUp();
  submit("a", { hardState: hardStateOf(1), entries: [entryOf(1, 1)] });
  submit("b", { hardState: hardStateOf(2, 1) });
  submit("c", { group: groupOf(2), hardState: hardStateOf(5) });
  submit("d", { entries: [entryOf(2, 2)] });
  await turn();
  expect(db.last.changes.filter((change) => change === `put ${hardStateHex(0)}`).length).toBe(1);
  const bounds = decodeHardState(valueOf(db.last, hardStateHex(0)));
  expect(bounds).toMatchObject({
    value: { hardState: hardStateOf(2, 1), lastIndex: 2, lastTerm: 2, writeSequence: 2 },
  });
  const head = decodeStoreHead(valueOf(db.last, headHex));
  expect(head).toMatchObject({ value: { writeSequence: 2, sequenceSum: 5, groupCount: 3 } });
});

test("after a rejected write nothing is told or written, and the end is told once", async () => {
  const { db, files, clock, submit, told, fatal } = await setUp();
  submit("a", { hardState: hardStateOf(1) });
  await turn();
  db.last.succeed();
  await turn();
  submit("b", { hardState: hardStateOf(2) });
  await turn();
  submit("c", { hardState: hardStateOf(3) });
  db.last.fail(Object.assign(new Error("IO error"), { code: "LEVEL_IO_ERROR" }));
  await turn();
  submit("d", { hardState: hardStateOf(4) });
  await turn();
  expect(db.writes.length).toBe(2);
  expect(told).toEqual(["a"]);
  expect(fatal.map(({ code }) => code)).toEqual(["ioError"]);
  files.held = [];
  await clock.advance(5_000);
  expect(files.held.length).toBe(0);
});

test("close waits for the writes under way, then closes the database", async () => {
  const { db, store, submit, told } = await setUp();
  submit("a", { hardState: hardStateOf(1) });
  await turn();
  submit("b", { hardState: hardStateOf(2) });
  const closed = store.close();
  await turn();
  expect(db.isClosed).toBe(false);
  db.last.succeed();
  await turn();
  db.last.succeed();
  await closed;
  expect(told).toEqual(["a", "b"]);
  expect(db.isClosed).toBe(true);
  expect(store.close()).toBe(closed);
});

test("a store whose write failed can be closed", async () => {
  const { db, store, submit, fatal } = await setUp();
  submit("a", { hardState: hardStateOf(1) });
  await turn();
  submit("b", { hardState: hardStateOf(2) });
  const closed = store.close();
  db.last.fail(new Error("gone"));
  await closed;
  expect(db.isClosed).toBe(true);
  expect(fatal.length).toBe(1);
});

test("a database that fails to close is a storage error", async () => {
  const { db, store } = await setUp();
  vi.spyOn(db, "close").mockRejectedValue(new Error("stuck"));
  await expect(store.close()).rejects.toMatchObject({ name: "StorageError", code: "ioError" });
});

function valueOf(batch: FakeBatch, keyHex: string): Bytes {
  return batch.values.get(keyHex) ?? expect.fail(`no value of ${keyHex}`);
}
