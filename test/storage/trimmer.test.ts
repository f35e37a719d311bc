import { expect, test } from "vitest";
import { bytesToHex } from "../../src/base/bytes.ts";
import { entryKey } from "../../src/storage/keys.ts";
import { type DeadEntries, Trimmer } from "../../src/storage/trimmer.ts";
import { groupOf, indexOf } from "../conformance/log-steps.ts";
import { FakeDb, turn } from "./fake-db.ts";

const COMPACTED_BYTES_MIN = 1_000;

interface Context {
  readonly db: FakeDb;
  readonly trimmer: Trimmer;
  readonly rejected: unknown[];
  isWriting: boolean;
}

function setUp(): Context {
  const db = new FakeDb();
  const rejected: unknown[] = [];
  const trimmer = new Trimmer({
    db,
    isWriting: () => context.isWriting,
    onRejected: (error) => void rejected.push(error),
    compactedBytesMin: COMPACTED_BYTES_MIN,
  });
  const context: Context = { db, rejected, trimmer, isWriting: false };
  return context;
}

function dead(group: number, first: number, last: number, storedBytes = 0): DeadEntries {
  return {
    group: groupOf(group),
    firstIndex: indexOf(first),
    lastIndex: indexOf(last),
    storedBytes,
  };
}

const hexOf = (group: number, index: number): string =>
  bytesToHex(entryKey(groupOf(group), indexOf(index)));

/** Lets every deletion succeed until none follows; answers what was deleted. */
async function finishDeletions(db: FakeDb): Promise<string[]> {
  for (let at = 0; at < db.deletions.length; at++) {
    db.deletions[at]?.succeed();
    await turn();
  }
  return db.deletions.flatMap(({ keys = [] }) => keys);
}

test("dead entries are deleted in small portions, one under way at a time", async () => {
  const { db, trimmer } = setUp();
  trimmer.add(dead(0, 11, 610));
  trimmer.add(dead(1, 1, 2));
  await turn();
  expect(db.deletions.length).toBe(1);
  const deleted = await finishDeletions(db);
  expect(Math.max(...db.deletions.map(({ keys = [] }) => keys.length))).toBeLessThanOrEqual(256);
  const expected = Array.from({ length: 600 }, (_, at) => hexOf(0, 11 + at));
  expect(deleted).toEqual([...expected, hexOf(1, 1), hexOf(1, 2)]);
});

test.each([1, 255, 256, 257, 512, 513])("of %i dead entries none is left", async (count) => {
  const { db, trimmer } = setUp();
  trimmer.add(dead(0, 11, 10 + count));
  const expected = Array.from({ length: count }, (_, at) => hexOf(0, 11 + at));
  expect(await finishDeletions(db)).toEqual(expected);
});

test("space is asked back once enough was deleted, one range at a time", async () => {
  const { db, trimmer } = setUp();
  trimmer.add(dead(0, 1, 10, COMPACTED_BYTES_MIN - 1));
  await finishDeletions(db);
  trimmer.onIdle();
  expect(db.compactions).toEqual([]);
  trimmer.add(dead(0, 11, 12, 1));
  trimmer.add(dead(1, 1, 3, COMPACTED_BYTES_MIN));
  await finishDeletions(db);
  expect(db.compactions.map(({ range }) => range)).toEqual([`${hexOf(0, 1)} to ${hexOf(0, 12)}`]);
  db.compactions[0]?.succeed();
  await turn();
  expect(db.compactions[1]?.range).toBe(`${hexOf(1, 1)} to ${hexOf(1, 3)}`);
  db.compactions[1]?.succeed();
  await turn();
  trimmer.onIdle();
  expect(db.compactions.length).toBe(2);
});

test("a busy store is compacted in its next idle moment, or at twice the amount", async () => {
  const context = setUp();
  const { db, trimmer } = context;
  context.isWriting = true;
  trimmer.add(dead(0, 1, 10, COMPACTED_BYTES_MIN));
  await finishDeletions(db);
  expect(db.compactions.length).toBe(0);
  context.isWriting = false;
  trimmer.onIdle();
  expect(db.compactions.length).toBe(1);
  db.compactions[0]?.succeed();
  await turn();
  context.isWriting = true;
  trimmer.add(dead(0, 11, 20, 2 * COMPACTED_BYTES_MIN - 1));
  await finishDeletions(db);
  expect(db.compactions.length).toBe(1);
  trimmer.add(dead(0, 21, 30, 1));
  await finishDeletions(db);
  expect(db.compactions.length).toBe(2);
});

test("a rejected deletion is told, and nothing follows it", async () => {
  const { db, trimmer, rejected } = setUp();
  trimmer.add(dead(0, 1, 1_000, COMPACTED_BYTES_MIN));
  const failure = new Error("gone");
  db.deletions[0]?.fail(failure);
  await turn();
  trimmer.add(dead(0, 1_001, 1_002, COMPACTED_BYTES_MIN));
  trimmer.onIdle();
  await turn();
  expect(rejected).toEqual([failure]);
  expect(db.deletions.length).toBe(1);
  expect(db.compactions.length).toBe(0);
  await trimmer.stop();
});

test("a stop waits for what is under way and begins nothing", async () => {
  const { db, trimmer } = setUp();
  trimmer.add(dead(0, 1, 1_000, 10 * COMPACTED_BYTES_MIN));
  db.deletions[0]?.succeed();
  await turn();
  expect(db.compactions.length).toBe(1);
  let isStopped = false;
  const stopped = trimmer.stop().then(() => (isStopped = true));
  db.deletions[1]?.succeed();
  await turn();
  expect(isStopped).toBe(false);
  db.compactions[0]?.fail(new Error("LevelDB is closing"));
  await stopped;
  expect([db.deletions.length, db.compactions.length]).toEqual([2, 1]);
});

test("a stop waits for a compaction that is alone under way", async () => {
  const { db, trimmer } = setUp();
  trimmer.add(dead(0, 1, 10, COMPACTED_BYTES_MIN));
  await finishDeletions(db);
  let isStopped = false;
  const stopped = trimmer.stop().then(() => (isStopped = true));
  await turn();
  expect([isStopped, db.compactions.length]).toEqual([false, 1]);
  db.compactions[0]?.succeed();
  await stopped;
});
