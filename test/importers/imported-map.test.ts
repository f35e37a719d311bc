import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { isValidSpan } from "../../src/base/span.ts";
import { importMap } from "../../src/importers/import-map.ts";
import { type ImportedRange, isImportable, tiles } from "../../src/importers/imported-map.ts";

function range(start: string, end: string | undefined): ImportedRange {
  const endKey = end === undefined ? undefined : utf8ToBytes(end);
  return { span: { startKey: utf8ToBytes(start), endKey }, owner: "a", source: { line: 1 } };
}

test("ranges tile when each starts where the one before ends, from -inf to +inf (law 24)", () => {
  expect(tiles([range("", undefined)])).toBe(true);
  expect(tiles([range("", "b"), range("b", "c"), range("c", undefined)])).toBe(true);
});

test.each([
  ["nothing", []],
  ["an open start", [range("a", undefined)]],
  ["an open end", [range("", "b")]],
  ["a gap", [range("", "b"), range("c", undefined)]],
  ["an overlap", [range("", "c"), range("b", undefined)]],
  ["a range after the end", [range("", undefined), range("b", undefined)]],
  ["an empty range", [range("", "b"), range("b", "b"), range("b", undefined)]],
])("%s does not tile (law 24)", (_, ranges) => {
  expect(tiles(ranges)).toBe(false);
});

test("a map without errors is importable only if its ranges tile (law 24)", () => {
  const map = importMap("jsonl", '{"end": "b"}\n{"start": "b"}\n');
  expect(map.ranges.every(({ span }) => isValidSpan(span))).toBe(true);
  expect(isImportable(map)).toBe(true);
  expect(isImportable({ ...map, ranges: map.ranges.slice(1) })).toBe(false);
});
