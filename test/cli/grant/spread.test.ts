// How ranges are divided among nodes.
import fc from "fast-check";
import { expect, test } from "vitest";
import { spreadEvenly } from "../../../src/cli/grant/spread.ts";

const nodes = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 12 });

test("every range is assigned once, in order, in blocks whose sizes differ by one at most", () => {
  fc.assert(
    fc.property(fc.nat(300), nodes, (count, nodeIds) => {
      const items = Array.from({ length: count }, (_, at) => at);
      const assigned = spreadEvenly(items, nodeIds);
      expect(assigned.map(({ item }) => item)).toEqual(items);
      const blocks = assigned.filter(({ nodeId }, at) => nodeId !== assigned[at - 1]?.nodeId);
      expect(new Set(blocks.map(({ nodeId }) => nodeId)).size).toBe(blocks.length);
      expect(blocks.length).toBe(Math.min(count, nodeIds.length));
      const sizes = nodeIds.map((id) => assigned.filter(({ nodeId }) => nodeId === id).length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test("blocks come in the order in which the nodes are given", () => {
  const assigned = spreadEvenly(["a", "b", "c", "d", "e"], ["n2", "n1"]);
  expect(assigned.map(({ nodeId }) => nodeId)).toEqual(["n2", "n2", "n2", "n1", "n1"]);
});
