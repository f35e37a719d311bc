// Epochs by span: a later one forgets only what it covers wholly.
import fc from "fast-check";
import { expect, test } from "vitest";
import { EpochMap, spanKey } from "../../src/fence/epoch-map.ts";
import type { RememberedEpoch } from "../../src/fence/epochs.ts";
import { span } from "../client/support.ts";
import { epoch } from "./support.ts";

const KEYSPACES = ["k", "other"];
const remembered: fc.Arbitrary<RememberedEpoch> = fc
  .record({
    keyspace: fc.constantFrom(...KEYSPACES),
    start: fc.integer({ min: 0, max: 7 }),
    length: fc.integer({ min: 1, max: 9 }),
    value: fc.integer({ min: 1, max: 20 }),
  })
  .map(({ keyspace, start, length, value }) => {
    const end = start + length;
    return {
      keyspace,
      span: span(start === 0 ? "" : String(start), end > 9 ? "" : String(end)),
      epoch: epoch(value),
    };
  });

function keySpanOf(digit: number): RememberedEpoch["span"] {
  return span(`${digit}x`, `${digit}y`);
}

test("a key's fence is the largest epoch of any span that ever held it (law 17)", () => {
  fc.assert(
    fc.property(fc.array(fc.array(remembered, { minLength: 1, maxLength: 3 })), (batches) => {
      const map = new EpochMap();
      const stored = new Map<string, RememberedEpoch>();
      for (const batch of batches) {
        const change = map.changeFor(batch);
        map.apply(change);
        for (const old of change.drop) stored.delete(spanKey(old));
        for (const next of change.put) stored.set(spanKey(next), next);
      }
      // What was stored makes the same map again.
      const reloaded = new EpochMap();
      for (const one of stored.values()) reloaded.apply({ put: [one], drop: [] });
      for (const keyspace of KEYSPACES) {
        for (let digit = 0; digit < 10; digit++) {
          const key = keySpanOf(digit);
          const expected = batches
            .flat()
            .filter((one) => one.keyspace === keyspace && covers(one, digit))
            .reduce((highest, one) => Math.max(highest, one.epoch), 0);
          expect(map.highWater(keyspace, key)).toBe(expected);
          expect(reloaded.highWater(keyspace, key)).toBe(expected);
        }
      }
    }),
    { numRuns: 400 },
  );
});

/** Spans end at single digits, so each covers all keys of a digit or none. */
function covers({ span: { startKey, endKey } }: RememberedEpoch, digit: number): boolean {
  const start = startKey.length === 0 ? 0 : Number(String.fromCharCode(...startKey));
  const end = endKey === undefined ? 10 : Number(String.fromCharCode(...endKey));
  return start <= digit && digit < end;
}

test("a span that is covered by a later epoch is forgotten, one that is covered in part stays", () => {
  const map = new EpochMap();
  const narrow = { keyspace: "k", span: span("c", "e"), epoch: epoch(1) };
  const across = { keyspace: "k", span: span("d", "m"), epoch: epoch(2) };
  map.apply(map.changeFor([narrow, across]));
  const wide = { keyspace: "k", span: span("a", "f"), epoch: epoch(3) };
  const change = map.changeFor([wide]);
  expect(change).toEqual({ put: [wide], drop: [narrow] });
  map.apply(change);
  expect(map.highWater("k", span("g", "h"))).toBe(2);
  expect(map.changeFor([wide])).toEqual({ put: [], drop: [] });
});

test("remembering many ranges side by side costs no look at all the others", () => {
  const map = new EpochMap();
  const count = 30_000;
  const key = (at: number): Uint8Array => Uint8Array.of(at >> 16, (at >> 8) & 0xff, at & 0xff);
  const epochs = Array.from({ length: count }, (_, at) => ({
    keyspace: "k",
    span: { startKey: key(at), endKey: key(at + 1) },
    epoch: epoch(7),
  }));
  // Looking at all the others for each would take longer than a test may.
  map.apply(map.changeFor(epochs));
  expect(map.highWater("k", { startKey: key(5), endKey: key(9) })).toBe(7);
  expect(map.highWater("k", { startKey: key(count), endKey: undefined })).toBe(0);
});
