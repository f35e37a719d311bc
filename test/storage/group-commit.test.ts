import { expect, test, vi } from "vitest";
import { type Bytes, bytesToHex } from "../../src/base/bytes.ts";
import type { DurableStep } from "../../src/replica/ports.ts";
import type { StorageError } from "../../src/storage/errors.ts";
import { LevelLogStore } from "../../src/storage/group-commit.ts";
import { emptyHardStateRecord, GroupLog } from "../../src/storage/group-log.ts";
import {
  entryKey,
  hardStateKey,
  snapshotPointerKey,
  STORE_HEAD_KEY,
} from "../../src/storage/keys.ts";
import {
  decodeHardState,
  decodeSnapshotPointer,
  decodeStoreHead,
} from "../../src/storage/records.ts";
import {
  entryOf,
  groupOf,
  hardStateOf,
  indexOf,
  positionOf,
  stepOf,
} from "../conformance/log-steps.ts";
import { type FakeBatch, FakeDb, turn } from "./fake-db.ts";

function setUp(): {
  db: FakeDb;
  store: LevelLogStore;
  fatal: StorageError[];
  told: string[];
  submit: (name: string, parts: Partial<DurableStep>) => void;
} {
  const db = new FakeDb();
  const fatal: StorageError[] = [];
  const told: string[] = [];
  const logs = new Map(
    [0, 1, 2].map((group) => {
      const log = new GroupLog(emptyHardStateRecord(groupOf(group), 1));
      return [log.group, log];
    }),
  );
  const head = { writeSequence: 1, sequenceSum: 3, groupCount: 3 };
  const onFatal = (error: StorageError): void => void fatal.push(error);
  const store = new LevelLogStore({ db, dir: "/data/raft", logs, head, onFatal });
  const submit = (name: string, parts: Partial<DurableStep>): void =>
    store.submit(stepOf({ ...parts, onDurable: () => told.push(name) }));
  return { db, store, fatal, told, submit };
}

const entryHex = (group: number, index: number): string =>
  bytesToHex(entryKey(groupOf(group), indexOf(index)));
const headHex = bytesToHex(STORE_HEAD_KEY);
const hardStateHex = (group: number): string => bytesToHex(hardStateKey(groupOf(group)));

test("an idle store starts to write in the same turn, with all that the turn submits", async () => {
  const { db, submit, told } = setUp();
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
  const { db, submit, told } = setUp();
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
  const { db, store, submit } = setUp();
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
  const { db, submit } = setUp();
  submit("a", { hardState: hardStateOf(1), entries: [entryOf(1, 1)] });
  await turn();
  submit("b", { hardState: hardStateOf(2, 3) });
  db.last.succeed();
  await turn();
  expect(db.last.changes).toEqual([`put ${hardStateHex(0)}`, `put ${headHex}`]);
});

test("an overwritten suffix is deleted in the batch that overwrites it", async () => {
  const { db, submit } = setUp();
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
  const { db, submit } = setUp();
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

test("an installed snapshot deletes in its batch what lies above it, and no more", async () => {
  const { db, submit } = setUp();
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
  const { db, submit, told, fatal } = setUp();
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

test("a batch holds one hard state per group, of its last step, and counts itself", async () => {
  const { db, submit } = setUp();
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

test("after a rejected write nothing is told, and the end is told once", async () => {
  const { db, submit, told, fatal } = setUp();
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
});

test("close waits for the writes under way, then closes the database", async () => {
  const { db, store, submit, told } = setUp();
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
  const { db, store, submit, fatal } = setUp();
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
  const { db, store } = setUp();
  vi.spyOn(db, "close").mockRejectedValue(new Error("stuck"));
  await expect(store.close()).rejects.toMatchObject({ name: "StorageError", code: "ioError" });
});

function valueOf(batch: FakeBatch, keyHex: string): Bytes {
  return batch.values.get(keyHex) ?? expect.fail(`no value of ${keyHex}`);
}
