import { expect, test } from "vitest";
import { InvariantError } from "../../src/base/assert.ts";
import { Prng } from "../../src/base/prng.ts";
import { type EntryFacts, EntryRing } from "../../src/storage/entry-ring.ts";

const factsOf = (at: number): EntryFacts => ({
  term: 2 ** 40 + at,
  timeMs: 2 ** 41 + at,
  chain: 0xffff0000 + (at % 0xffff),
  storedBytes: 50 + (at % 7),
});

test("a ring is a list that grows at its end and is dropped from both ends", () => {
  const prng = Prng.fromSeed(7);
  const ring = new EntryRing();
  let model: EntryFacts[] = [];
  let pushed = 0;
  for (let turn = 0; turn < 2_000; turn++) {
    for (let count = prng.nextInteger(0, 60); count > 0; count--) {
      const facts = factsOf(pushed++);
      ring.push(facts);
      model.push(facts);
    }
    if (prng.chance(0.3)) {
      const length = prng.nextInteger(0, model.length);
      ring.cutTo(length);
      model.length = length;
    }
    if (prng.chance(0.3)) {
      const count = prng.nextInteger(0, model.length);
      const bytes = model.slice(0, count).reduce((sum, facts) => sum + facts.storedBytes, 0);
      expect(ring.drop(count)).toBe(bytes);
      model = model.slice(count);
    }
    expect(ring.length).toBe(model.length);
    for (const [at, facts] of model.entries()) expect(ring.at(at)).toEqual(facts);
  }
});

test("what a ring holds in memory follows what is in it, however long it is used", () => {
  const ring = new EntryRing();
  for (let at = 0; at < 100_000; at++) {
    ring.push(factsOf(at));
    if (ring.length > 1_000) ring.drop(1);
  }
  expect(ring.capacity).toBe(1_024);
  for (let at = 0; at < 100_000; at++) ring.push(factsOf(at));
  expect(ring.capacity).toBe(2 ** 17);
  ring.drop(ring.length - 10);
  expect(ring.capacity).toBeLessThanOrEqual(128);
  expect(ring.at(9)).toEqual(factsOf(99_999));
});

test("what is not in it cannot be asked for, dropped or cut", () => {
  const ring = new EntryRing();
  ring.push(factsOf(0));
  expect(() => ring.at(1)).toThrow(InvariantError);
  expect(() => ring.at(-1)).toThrow(InvariantError);
  expect(() => ring.drop(2)).toThrow(InvariantError);
  expect(() => ring.cutTo(2)).toThrow(InvariantError);
  expect(() => ring.cutTo(-1)).toThrow(InvariantError);
});
