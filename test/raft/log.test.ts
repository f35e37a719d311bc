import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import { RaftLog } from "../../src/raft/log.ts";
import { type Entry, ENTRY_OVERHEAD_BYTES, LOG_START } from "../../src/raft/types.ts";
import { entry } from "./checked-core.ts";

function logOf(terms: readonly number[]): RaftLog {
  return new RaftLog(
    LOG_START,
    terms.map((term, at) => entry(term, at + 1)),
  );
}

function at(index: number): LogIndex {
  return index as LogIndex;
}

test("an empty log ends at 0, in term 0", () => {
  const log = new RaftLog(LOG_START, []);
  expect([log.lastIndex, log.lastTerm, log.lastTimeMs]).toEqual([0, 0, 0]);
  expect(log.termAt(at(0))).toBe(0);
  expect(log.termAt(at(1))).toBeUndefined();
});

test("gaps, falling terms and falling log times are bugs (R2)", () => {
  expect(() => logOf([1]).append([entry(1, 3)])).toThrow("no gap");
  expect(() => logOf([1]).append([entry(1, 1)])).toThrow("no gap");
  expect(() => logOf([2]).append([entry(1, 2)])).toThrow("terms never decrease");
  const log = new RaftLog(LOG_START, [entry(1, 1, 50)]);
  expect(() => log.append([entry(1, 2, 49)])).toThrow("log time never decreases");
  log.append([entry(1, 2, 50)]);
  expect(log.lastTimeMs).toBe(50);
});

test("truncation removes the entry and all that follow it", () => {
  const log = logOf([1, 1, 2, 2]);
  log.truncate(at(3));
  expect([log.lastIndex, log.lastTerm]).toEqual([2, 1]);
  expect(log.entryAt(at(3))).toBeUndefined();
  expect(() => log.truncate(at(3))).toThrow("exists");
});

test("a slice by bytes holds what fits, contiguous, and at least one entry", () => {
  const sized = [8, 8, 500, 0, 0, 0].map((bytes, position) => ({
    ...entry(1, position + 1),
    payload: new Uint8Array(bytes),
  }));
  const log = new RaftLog(LOG_START, sized);
  const two = 2 * (8 + ENTRY_OVERHEAD_BYTES);
  const indexes = (entries: readonly Entry[]): number[] => entries.map(({ index }) => index);
  expect(indexes(log.sliceByBytes(at(1), two))).toEqual([1, 2]);
  expect(indexes(log.sliceByBytes(at(1), two - 1))).toEqual([1]);
  expect(indexes(log.sliceByBytes(at(3), two))).toEqual([3]);
  expect(indexes(log.sliceByBytes(at(4), 2 * ENTRY_OVERHEAD_BYTES))).toEqual([4, 5]);
  expect(indexes(log.sliceByBytes(at(4), 1))).toEqual([4]);
  expect(indexes(log.sliceByBytes(at(7), 1_000))).toEqual([]);
});

test("the bytes after an index count payload and overhead", () => {
  const log = new RaftLog(LOG_START, [
    { ...entry(1, 1), payload: new Uint8Array(10) },
    entry(1, 2),
  ]);
  expect(log.bytesAfter(at(0))).toBe(10 + 2 * ENTRY_OVERHEAD_BYTES);
  expect(log.bytesAfter(at(1))).toBe(ENTRY_OVERHEAD_BYTES);
  expect(log.bytesAfter(at(2))).toBe(0);
});

test("the last index with a term at most this one agrees with a scan", () => {
  const terms = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 12 });
  fc.assert(
    fc.property(terms, fc.nat(7), fc.nat(15), (unordered, term, upToIndex) => {
      const ordered = unordered.toSorted((a, b) => a - b);
      let expected = Math.min(upToIndex, ordered.length);
      while (expected > 0 && (ordered[expected - 1] ?? 0) > term) expected--;
      expect(logOf(ordered).lastIndexWithTermAtMost(term as Term, at(upToIndex))).toBe(expected);
    }),
  );
});

test("a clone goes its own way", () => {
  const log = logOf([1, 1]);
  const copy = log.clone();
  copy.truncate(at(2));
  log.append([entry(2, 3)]);
  expect([log.lastIndex, copy.lastIndex]).toEqual([3, 1]);
});
