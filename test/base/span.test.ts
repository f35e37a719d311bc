/** Key spans against the set of keys that they hold. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { compareBytes } from "../../src/base/bytes.ts";
import {
  compareEndKeys,
  isValidSpan,
  type Span,
  spanContains,
  spanCovers,
  spansEqual,
  spansOverlap,
  WHOLE_SPAN,
} from "../../src/base/span.ts";

/** Keys of up to two bytes from a small alphabet: its members tell every span of them apart. */
const ALPHABET = [0, 1, 2, 255];
const KEYS: readonly Uint8Array[] = [
  new Uint8Array(0),
  ...ALPHABET.map((a) => new Uint8Array([a])),
  ...ALPHABET.flatMap((a) => ALPHABET.map((b) => new Uint8Array([a, b]))),
];

const anyKey = fc.constantFrom(...KEYS);
const anySpan: fc.Arbitrary<Span> = fc
  .record({ startKey: anyKey, endKey: fc.option(anyKey, { nil: undefined }) })
  .filter(isValidSpan);

function members(span: Span): Uint8Array[] {
  return KEYS.filter((key) => spanContains(span, key));
}

test("overlap, cover and equality are those of the keys", () => {
  fc.assert(
    fc.property(anySpan, anySpan, (a, b) => {
      const ofA = members(a);
      const ofB = members(b);
      const common = ofA.filter((key) => ofB.includes(key));
      expect(spansOverlap(a, b)).toBe(common.length > 0);
      expect(spansOverlap(a, b)).toBe(spansOverlap(b, a));
      const isSubset = common.length === ofB.length && compareEndKeys(b.endKey, a.endKey) <= 0;
      expect(spanCovers(a, b)).toBe(isSubset);
      expect(spansEqual(a, b)).toBe(spanCovers(a, b) && spanCovers(b, a));
    }),
    { numRuns: 1_000, seed: 1 },
  );
});

test("a span holds its start and not its end; neighbours do not overlap", () => {
  fc.assert(
    fc.property(anyKey, anyKey, anyKey, (a, b, c) => {
      const [low, middle, high] = [a, b, c].toSorted(compareBytes);
      if (low === undefined || middle === undefined) return;
      const left = { startKey: low, endKey: middle };
      if (!isValidSpan(left)) return;
      expect([spanContains(left, low), spanContains(left, middle)]).toEqual([true, false]);
      const right = { startKey: middle, endKey: high };
      if (isValidSpan(right)) expect(spansOverlap(left, right)).toBe(false);
    }),
    { seed: 2 },
  );
});

test("the whole span covers everything, and +inf is the last end", () => {
  for (const key of KEYS) {
    expect(spanContains(WHOLE_SPAN, key)).toBe(true);
    expect(compareEndKeys(key, undefined)).toBeLessThan(0);
    expect(compareEndKeys(undefined, key)).toBeGreaterThan(0);
  }
  expect(compareEndKeys(undefined, undefined)).toBe(0);
  expect(isValidSpan({ startKey: new Uint8Array([1]), endKey: new Uint8Array([1]) })).toBe(false);
});
