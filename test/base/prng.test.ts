/** Seeded randomness: the same everywhere and for ever, since found seeds are kept as tests. */

import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.ts";

test("a seed gives the sequence that it has always given", () => {
  const first = (seed: number): number[] => {
    const prng = Prng.fromSeed(seed);
    return [prng.nextUint32(), prng.nextUint32(), prng.nextUint32()];
  };
  expect(first(1)).toEqual(GOLDEN_ONE);
  expect(first(2 ** 40 + 1)).toEqual(GOLDEN_LARGE);
});

const GOLDEN_ONE = [2_308_299_391, 1_950_625_580, 354_034_397];
const GOLDEN_LARGE = [1_195_542_500, 2_120_688_680, 3_144_692_002];

test("a copy goes on alike and independently, from its state or from a clone", () => {
  const prng = Prng.fromSeed(9);
  prng.nextUint32();
  const copies = [prng.clone(), new Prng(prng.state)];
  const next = [prng.nextUint32(), prng.nextUint32()];
  for (const copy of copies) expect([copy.nextUint32(), copy.nextUint32()]).toEqual(next);
});

test("integers, fractions, chances and picks stay in bounds and reach all of them", () => {
  const prng = Prng.fromSeed(4);
  const seen = new Set<number>();
  let hits = 0;
  for (let times = 0; times < 2_000; times++) {
    const value = prng.nextInteger(-2, 3);
    seen.add(value);
    const fraction = prng.nextFraction();
    expect(fraction >= 0 && fraction < 1).toBe(true);
    if (prng.chance(0.25)) hits++;
    expect(["a", "b"]).toContain(prng.pick(["a", "b"]));
  }
  expect([...seen].toSorted((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
  expect(hits).toBeGreaterThan(400);
  expect(hits).toBeLessThan(600);
  expect([prng.chance(0), prng.chance(1)]).toEqual([false, true]);
});
