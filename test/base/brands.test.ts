/** Revisions: generation and index in one safe integer (law 2). */

import { expect, test } from "vitest";
import {
  GENERATION_LIMIT,
  generationOf,
  type LogIndex,
  REVISION_INDEX_LIMIT,
  revisionOf,
  revisionToEpoch,
} from "../../src/base/brands.ts";

test("a revision is generation * 2^44 + index, and gives its generation back", () => {
  const cases: [number, number][] = [
    [0, 0],
    [0, 1],
    [1, 0],
    [3, 2 ** 44 - 1],
    [GENERATION_LIMIT - 1, REVISION_INDEX_LIMIT - 1],
  ];
  for (const [generation, index] of cases) {
    const revision = revisionOf(generation, index as LogIndex);
    expect(revision).toBe(generation * 2 ** 44 + index);
    expect(generationOf(revision)).toBe(generation);
    expect(revision % REVISION_INDEX_LIMIT).toBe(index);
    expect(revisionToEpoch(revision)).toBe(revision);
  }
  expect(revisionOf(511, (2 ** 44 - 1) as LogIndex)).toBe(Number.MAX_SAFE_INTEGER);
});

test("every revision of a later generation is above all of the earlier ones", () => {
  const last = revisionOf(4, (REVISION_INDEX_LIMIT - 1) as LogIndex);
  expect(revisionOf(5, 0 as LogIndex)).toBeGreaterThan(last);
});

test("what does not fit is a bug", () => {
  expect(() => revisionOf(GENERATION_LIMIT, 0 as LogIndex)).toThrow("a generation is in bounds");
  expect(() => revisionOf(-1, 0 as LogIndex)).toThrow("a generation is in bounds");
  expect(() => revisionOf(0, REVISION_INDEX_LIMIT as LogIndex)).toThrow("an index fits");
});
