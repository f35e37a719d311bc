/** The order of everything that happens in a simulation. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { EventHeap } from "../../src/testing/event-heap.ts";

test("events come by their time, and those of one time in the order of adding", () => {
  const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 });
  fc.assert(
    fc.property(times, (added) => {
      const heap = new EventHeap<{ atMs: number; made: number }>();
      for (const [made, atMs] of added.entries()) heap.add(atMs, { atMs, made });
      const taken = added.map(() => heap.take());
      const expected = added.map((atMs, made) => ({ atMs, made }));
      expect(taken).toEqual(expected.toSorted((a, b) => a.atMs - b.atMs || a.made - b.made));
      expect(heap.nextMs).toBeUndefined();
    }),
  );
});

test("what is added between two events keeps its place among the rest", () => {
  const heap = new EventHeap<string>();
  heap.add(5, "second");
  heap.add(1, "first");
  expect(heap.nextMs).toBe(1);
  expect(heap.take()).toBe("first");
  heap.add(5, "third");
  heap.add(9, "fourth");
  expect(["second", "third", "fourth"].map(() => heap.take())).toEqual([
    "second",
    "third",
    "fourth",
  ]);
});
