/** The ordered map against a plain sorted list, in sizes that span several chunks. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesToHex, compareBytes, utf8ToBytes } from "../../src/base/bytes.ts";
import {
  bytesMap,
  compareStrings,
  type FrozenMap,
  numberMap,
  type OrderedMap,
  stringMap,
} from "../../src/base/ordered-map.ts";
import { Prng } from "../../src/base/prng.ts";

/** Keys in order, by plain searching. */
class Model {
  readonly values = new Map<number, number>();

  keys(): number[] {
    return [...this.values.keys()].toSorted((a, b) => a - b);
  }

  entries(from = Number.NEGATIVE_INFINITY): [number, number][] {
    return this.keys()
      .filter((key) => key >= from)
      .map((key) => [key, this.values.get(key) ?? Number.NaN]);
  }
}

function expectSame(map: OrderedMap<number, number>, model: Model): void {
  const entries = model.entries();
  expect(map.size).toBe(entries.length);
  expect([...map.entries()]).toEqual(entries);
  expect([...map.keys()]).toEqual(entries.map(([key]) => key));
  expect([...map.values()]).toEqual(entries.map(([, value]) => value));
  expect(map.first()).toEqual(entries[0]);
  expect(map.last()).toEqual(entries.at(-1));
}

function expectSameAround(map: OrderedMap<number, number>, model: Model, key: number): void {
  expect(map.get(key)).toBe(model.values.get(key));
  expect(map.has(key)).toBe(model.values.has(key));
  expect(map.floor(key)).toEqual(model.entries().findLast(([at]) => at <= key));
  const from = [...map.entriesFrom(key)].slice(0, 3);
  expect(from).toEqual(model.entries(key).slice(0, 3));
  const above = [...map.entriesFrom(key, "exclusive")].slice(0, 3);
  expect(above).toEqual(model.entries(key + 1).slice(0, 3));
}

test("any series of insertions and removals agrees with a sorted list", () => {
  const step = fc.record({ key: fc.integer({ min: -50, max: 50 }), isSet: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const map = numberMap<number, number>();
      const model = new Model();
      for (const [at, { key, isSet }] of steps.entries()) {
        if (isSet) {
          map.set(key, at);
          model.values.set(key, at);
        } else expect(map.delete(key)).toBe(model.values.delete(key));
      }
      expectSame(map, model);
      for (let key = -52; key <= 52; key += 4) expectSameAround(map, model, key);
    }),
    { numRuns: 60, seed: 3 },
  );
});

test("maps of thousands of entries, growing and shrinking over many chunks, stay in order", () => {
  for (const seed of [1, 2, 3]) {
    const prng = Prng.fromSeed(seed);
    const map = numberMap<number, number>();
    const model = new Model();
    for (const growing of [0.9, 0.2, 0.8, 0.05]) {
      for (let step = 0; step < 1_500; step++) {
        const key = prng.nextInteger(0, 4_000);
        if (prng.chance(growing)) {
          map.set(key, step);
          model.values.set(key, step);
        } else {
          const victim = map.floor(key)?.[0] ?? key;
          expect(map.delete(victim)).toBe(model.values.delete(victim));
        }
      }
      expectSame(map, model);
      for (let times = 0; times < 20; times++) {
        expectSameAround(map, model, prng.nextInteger(-1, 4_001));
      }
    }
    for (const key of model.keys()) map.delete(key);
    expect(map.size).toBe(0);
    expect(map.first()).toBeUndefined();
  }
});

test("ascending, descending and alternating loads give the same map", () => {
  const count = 1_200;
  const ascending = Array.from({ length: count }, (_, at) => at);
  const alternating = ascending.map((at) => (at % 2 === 0 ? at : count * 2 - at));
  for (const keys of [ascending, ascending.toReversed(), alternating]) {
    const map = numberMap<number, string>();
    for (const key of keys) map.set(key, String(key));
    const sorted = keys.toSorted((a, b) => a - b);
    expect([...map.keys()]).toEqual(sorted);
    for (const key of sorted) expect(map.get(key)).toBe(String(key));
  }
});

test("setting a key again replaces its value and keeps the size", () => {
  const map = bytesMap<number>();
  map.set(utf8ToBytes("k"), 1);
  map.set(utf8ToBytes("k"), 2);
  expect([map.size, map.get(utf8ToBytes("k"))]).toEqual([1, 2]);
  map.clear();
  expect([map.size, map.has(utf8ToBytes("k"))]).toEqual([0, false]);
});

test("an undefined value is a bug: it could not be told from a miss", () => {
  const map = stringMap<number | undefined>();
  expect(() => map.set("k", undefined)).toThrow("holds no undefined");
});

test("keys of bytes are in unsigned order with prefixes first, strings in that of code units", () => {
  const map = bytesMap<number>();
  const keys = ["ff", "", "00", "7f", "80", "0000", "00ff", "ff00"];
  for (const [at, hex] of keys.entries()) map.set(Uint8Array.from(Buffer.from(hex, "hex")), at);
  const hexes = [...map.keys()].map((key) => bytesToHex(key));
  expect(hexes).toEqual(["", "00", "0000", "00ff", "7f", "80", "ff", "ff00"]);
  const words = stringMap<number>();
  for (const word of ["é", "a", "B", "aa", "\u{1F600}", "\uFFFF"]) words.set(word, 0);
  expect([...words.keys()]).toEqual(["B", "a", "aa", "é", "\u{1F600}", "\uFFFF"]);
});

test("the comparisons are total orders", () => {
  const bytes = fc.uint8Array({ maxLength: 4 });
  fc.assert(
    fc.property(bytes, bytes, bytes, (a, b, c) => {
      expect(Math.sign(compareBytes(a, b))).toBe(0 - Math.sign(compareBytes(b, a)));
      if (compareBytes(a, b) <= 0 && compareBytes(b, c) <= 0) {
        expect(compareBytes(a, c)).toBeLessThanOrEqual(0);
      }
      expect(Math.sign(compareBytes(a, b))).toBe(Math.sign(Buffer.compare(a, b)));
    }),
    { numRuns: 300, seed: 5 },
  );
  expect([compareStrings("a", "b"), compareStrings("b", "a"), compareStrings("a", "a")]).toEqual([
    -1, 1, 0,
  ]);
});

test("a frozen view keeps its entries over many chunks while the map goes on", () => {
  for (const seed of [4, 5, 6]) {
    const prng = Prng.fromSeed(seed);
    const map = numberMap<number, number>();
    const views: { view: FrozenMap<number, number>; entries: [number, number][] }[] = [];
    for (let step = 0; step < 6_000; step++) {
      const key = prng.nextInteger(0, 1_500);
      if (prng.chance(step < 3_000 ? 0.8 : 0.2)) map.set(key, step);
      else map.delete(key);
      if (step === 5_500) map.clear();
      if (prng.chance(0.005)) {
        const view = map.freeze();
        const entries = [...map.entries()];
        expect(view.size).toBe(map.size);
        views.push({ view, entries });
      }
      if (views.length > 4) {
        const [{ view, entries }] = views.splice(prng.nextInteger(0, 4), 1) as [(typeof views)[0]];
        expect([...view.entries()]).toEqual(entries);
        view.close();
        view.close();
      }
    }
    for (const { view, entries } of views) expect([...view.entries()]).toEqual(entries);
  }
});

test("a frozen view may be read while the map is changed between two entries", () => {
  const map = numberMap<number, number>();
  for (let key = 0; key < 1_000; key++) map.set(key, key);
  const seen: number[] = [];
  for (const [key] of map.freeze().entries()) {
    seen.push(key);
    map.delete(key);
    map.delete(key + 1);
    map.set(key + 2_000, key);
  }
  expect(seen).toEqual(Array.from({ length: 1_000 }, (_, key) => key));
});
