import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogIndex, LogTimeMs, Term } from "../../src/base/brands.ts";
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

/** Begins after 4/40, of term 3; ends with 7/70, of term 5. */
function compactedLog(): RaftLog {
  const terms = [1, 2, 2, 3, 3, 5, 5];
  const entries = terms.map((term, position) => ({
    ...entry(term, position + 1, 10 * (position + 1)),
    payload: new Uint8Array(position),
  }));
  const log = new RaftLog(LOG_START, entries);
  log.compact(at(4));
  return log;
}

test("a compacted log knows its base, and nothing of what was before it (§7)", () => {
  const log = compactedLog();
  expect(log.base).toEqual({ index: 4, term: 3, timeMs: 40 });
  expect([log.entryAt(at(4)), log.termAt(at(4)), log.termAt(at(3))]).toEqual([
    undefined,
    3,
    undefined,
  ]);
  expect(log.slice(at(5), at(7)).map(({ index }) => index)).toEqual([5, 6, 7]);
  expect(() => log.slice(at(4), at(7))).toThrow("a slice lies within the log");
  expect(() => log.compact(at(3))).toThrow("exists");
  expect(log.bytes).toBe(log.bytesAfter(at(4)));
  log.truncate(at(5));
  expect([log.lastIndex, log.lastTerm, log.lastTimeMs, log.bytes]).toEqual([4, 3, 40, 0]);
  expect(() => log.append([entry(3, 5, 39)])).toThrow("log time never decreases");
});

test("a log that a snapshot takes the place of goes on from its position (§7, law 7)", () => {
  const log = compactedLog();
  log.reset({ index: at(9), term: 6 as Term, timeMs: 90 as LogTimeMs });
  expect([log.lastIndex, log.lastTerm, log.lastTimeMs, log.bytes]).toEqual([9, 6, 90, 0]);
  expect(() => log.append([entry(5, 10, 90)])).toThrow("terms never decrease");
  expect(() => log.append([entry(6, 10, 89)])).toThrow("log time never decreases");
  log.append([entry(6, 10, 90)]);
  expect([log.lastIndex, log.bytes]).toEqual([10, ENTRY_OVERHEAD_BYTES]);
});

test("a tail is as long as its bytes allow, and never reaches behind the base", () => {
  const log = compactedLog();
  // Entries 5 to 7 carry 4 to 6 bytes.
  const last = 6 + ENTRY_OVERHEAD_BYTES;
  const lastTwo = last + 5 + ENTRY_OVERHEAD_BYTES;
  const tails = [0, last - 1, last, lastTwo - 1, lastTwo, 10_000];
  expect(tails.map((bytes) => log.startOfTail(at(7), bytes))).toEqual([7, 7, 6, 6, 5, 4]);
  expect(log.startOfTail(at(6), lastTwo)).toBe(4);
});

test("where a term ends below the base is not known", () => {
  const log = compactedLog();
  const found = (term: number, upTo: number): number | undefined =>
    log.lastIndexWithTermAtMost(term as Term, at(upTo));
  expect([found(4, 9), found(3, 4), found(5, 6)]).toEqual([5, 4, 6]);
  expect([found(2, 9), found(3, 3)]).toEqual([undefined, undefined]);
});

test("a clone goes its own way", () => {
  const log = logOf([1, 1]);
  const copy = log.clone();
  copy.truncate(at(2));
  log.append([entry(2, 3)]);
  expect([log.lastIndex, copy.lastIndex]).toEqual([3, 1]);
});
