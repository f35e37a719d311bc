import { expect, test, vi } from "vitest";
import { type Bytes, bytesToHex } from "../../src/base/bytes.ts";
import type { DurableStep } from "../../src/replica/ports.ts";
import type { StorageError } from "../../src/storage/errors.ts";
import { LevelLogStore } from "../../src/storage/group-commit.ts";
import { emptyHardStateRecord, GroupLog } from "../../src/storage/group-log.ts";
import { entryKey, hardStateKey, STORE_HEAD_KEY } from "../../src/storage/keys.ts";
import type { KeyValueStore, SyncedBatch } from "../../src/storage/level-db.ts";
import { decodeHardState, decodeStoreHead } from "../../src/storage/records.ts";
import { entryOf, groupOf, hardStateOf, indexOf, stepOf } from "../conformance/log-steps.ts";

/** A database that keeps nothing and finishes its writes when the test says so. */
class FakeDb implements KeyValueStore {
  readonly writes: FakeBatch[] = [];
  isClosed = false;

  openBatch(): SyncedBatch {
    return new FakeBatch(this.writes);
  }

  async deleteUnsynced(): Promise<void> {}

  async compact(): Promise<void> {}

  async *scan(): AsyncGenerator<never[]> {}

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** The write that was started last. */
  get last(): FakeBatch {
    return this.writes.at(-1) ?? expect.fail("no write was started");
  }
}

class FakeBatch implements SyncedBatch {
  readonly changes: string[] = [];
  readonly values = new Map<string, Bytes>();
  readonly #started: FakeBatch[];
  succeed: () => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;

  constructor(started: FakeBatch[]) {
    this.#started = started;
  }

  put(key: Bytes, value: Bytes): void {
    this.changes.push(`put ${bytesToHex(key)}`);
    this.values.set(bytesToHex(key), value);
  }

  delete(key: Bytes): void {
    this.changes.push(`delete ${bytesToHex(key)}`);
  }

  write(): Promise<void> {
    this.#started.push(this);
    return new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
  }
}

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

/** Lets promises settle. */
async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
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
