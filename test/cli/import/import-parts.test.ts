// Parts of an import: bounded, complete, in order.
import fc from "fast-check";
import { expect, test } from "vitest";
import { importParts, PART_ROWS_MAX, rowBytesOf } from "../../../src/cli/import/import-parts.ts";
import type { ImportedRange } from "../../../src/importers/imported-map.ts";
import { BULK_BYTES_MAX } from "../../../src/wire/limits.ts";

function rangeOf(keyBytes: number, owner: string | undefined): ImportedRange {
  const span = { startKey: new Uint8Array(keyBytes), endKey: undefined };
  return { span, owner, source: { line: 1 } };
}

const ranges = fc.array(
  fc.tuple(fc.nat(4_096), fc.option(fc.string({ maxLength: 64 }), { nil: undefined })),
  { maxLength: 300 },
);

test("together the parts hold every row once, in order, and none is too large", () => {
  fc.assert(
    fc.property(ranges, (shapes) => {
      const map = shapes.map(([bytes, owner]) => rangeOf(bytes, owner));
      const parts = importParts(map);
      const rows = parts.flat();
      expect(rows.length).toBe(map.length);
      expect(rows.every(({ startKey }, at) => startKey === map[at]?.span.startKey)).toBe(true);
      expect(rows.map((row) => row.intendedNodeId)).toEqual(map.map((one) => one.owner));
      for (const part of parts) {
        expect(part.length).toBeGreaterThan(0);
        const bytes = part.reduce((sum, row) => sum + rowBytesOf(row), 0);
        expect(bytes).toBeLessThanOrEqual(BULK_BYTES_MAX);
      }
    }),
    { numRuns: 30 },
  );
});

test("many small rows are cut by their number", () => {
  const sizes = importParts(Array.from({ length: 25_000 }, () => rangeOf(1, undefined)));
  expect(sizes.map((part) => part.length)).toEqual([PART_ROWS_MAX, PART_ROWS_MAX, 5_000]);
});

test("a few large rows are cut by their bytes", () => {
  const sizes = importParts(Array.from({ length: 100 }, () => rangeOf(4_096, "n1")));
  expect(sizes.map((part) => part.length)).toEqual([63, 37]);
});
