import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogIndex } from "../../src/base/brands.ts";
import { quorumIndex, quorumSize } from "../../src/raft/quorum.ts";

test("a quorum is more than half of the voters", () => {
  const sizes = [1, 2, 3, 4, 5, 6, 7].map((voters) => quorumSize(voters));
  expect(sizes).toEqual([1, 2, 2, 3, 3, 4, 4]);
  expect(() => quorumSize(0)).toThrow("a quorum needs voters");
});

test("the quorum index is the highest that a majority holds", () => {
  const cases: readonly (readonly [number[], number])[] = [
    [[7], 7],
    [[7, 3], 3],
    [[7, 3, 5], 5],
    [[0, 0, 9], 0],
    [[4, 4, 9, 2], 4],
    [[1, 2, 3, 4, 5], 3],
    [[5, 5, 5, 0, 0], 5],
  ];
  for (const [matchIndexes, expected] of cases) {
    expect(quorumIndex(matchIndexes as LogIndex[]), matchIndexes.join(" ")).toBe(expected);
  }
});

test("the quorum index agrees with sorting, and leaves its argument alone", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 9 }), (indexes) => {
      const before = [...indexes];
      const descending = indexes.toSorted((a, b) => b - a);
      const expected = descending[Math.floor(indexes.length / 2)];
      expect(quorumIndex(indexes as LogIndex[])).toBe(expected);
      expect(indexes).toEqual(before);
    }),
  );
});
