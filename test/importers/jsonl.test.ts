import fc from "fast-check";
import { expect, test } from "vitest";
import { compareBytes, EMPTY_BYTES, utf8ToBytes } from "../../src/base/bytes.ts";
import { importMap } from "../../src/importers/import-map.ts";
import { type ImportedRange, isImportable } from "../../src/importers/imported-map.ts";
import { mapToJsonl } from "../../src/importers/jsonl.ts";
import { generateMap, generateMapLines } from "../fixtures/generate-map.ts";
import { findingsOf, kindsOf, rangeTexts } from "./maps.ts";

function importLines(...lines: string[]): ReturnType<typeof importMap> {
  return importMap("jsonl", lines.map((line) => `${line}\n`).join(""));
}

/** The message of the only error of the only line. */
function refusalOf(line: string): string | undefined {
  const [first] = importLines(line).findings;
  return first?.kind === "malformedLine" ? first.message : undefined;
}

test("ranges are read in any order, with keys in any form, and sorted", () => {
  const map = importLines(
    "# who holds what, written by hand",
    String.raw`{"start": "m\\xff", "end": null, "owner": "node-2"}`,
    "",
    '  {"end": {"utf8": "b"}, "owner": "node-1"}',
    '{"start": "0x62", "end": {"hex": "6dff"}}',
  );
  expect(rangeTexts(map)).toEqual([
    "[-inf, b) node-1 @4",
    String.raw`[b, m\xff) - @5`,
    String.raw`[m\xff, +inf) node-2 @2`,
  ]);
  expect(isImportable(map)).toBe(true);
  expect(map).toMatchObject({ format: "jsonl", kind: "range", sourceRanges: 3 });
  expect(map.hashFunction).toBeUndefined();
  expect(map.owners).toEqual([
    { name: "node-1", ranges: 1 },
    { name: "node-2", ranges: 1 },
  ]);
  expect(kindsOf(map, "info")).toEqual(["missingOwner", "binaryBoundary", "ownerCount"]);
  expect(findingsOf(map, "missingOwner")[0]?.lines).toEqual([5]);
  expect(findingsOf(map, "binaryBoundary")[0]?.message).toBe(
    String.raw`1 boundary is not UTF-8 text; the first is m\xff (line 2)`,
  );
});

test("absent, null and empty bounds are open ends; empty ones are mentioned", () => {
  for (const open of ["{}", '{"start": null, "end": null}']) {
    expect(rangeTexts(importLines(open))).toEqual(["[-inf, +inf) - @1"]);
    expect(findingsOf(importLines(open), "emptyBoundary")).toEqual([]);
  }
  const map = importLines('{"start": "", "end": {"hex": ""}, "owner": "a"}');
  expect(rangeTexts(map)).toEqual(["[-inf, +inf) a @1"]);
  expect(findingsOf(map, "emptyBoundary")[0]?.lines).toEqual([1]);
});

test.each([
  ["[]", "line 1: not a JSON object"],
  ['{"start": "a" "end": "b"}', "line 1: not a JSON object"],
  ['{"start": "a", "ownr": "x"}', 'line 1: unknown field "ownr"'],
  ['{"__proto__": {"owner": "x"}}', 'line 1: unknown field "__proto__"'],
  ['{"owner": "a", "end": "b", "owner": "c"}', "line 1: a field occurs twice"],
  [String.raw`{"owner": "a", "own\u0065r": "c"}`, "line 1: a field occurs twice"],
  ['{"end": {"hex": "61", "hex": "62"}}', "line 1: a field occurs twice"],
  ['{"start": 5}', 'line 1: "start": a key is a string, {"utf8": ...} or {"hex": ...}'],
  ['{"end": "0xq"}', 'line 1: "end": after 0x an even number of hex digits must follow'],
  ['{"owner": 7}', 'line 1: "owner": must be a string'],
  ['{"owner": ""}', 'line 1: "owner": an owner\'s name is not empty'],
  ['{"owner": "a b"}', 'line 1: "owner": an owner\'s name has no spaces and no controls'],
  [
    `{"owner": "${"n".repeat(256)}"}`,
    'line 1: "owner": an owner\'s name has at most 255 characters',
  ],
])("the line %s is refused", (line, message) => {
  expect(refusalOf(line)).toBe(message);
});

test("a colon or a quote inside a key is not taken for a repeated field", () => {
  const map = importLines(
    String.raw`{"end": "a\":\":", "owner": "x:\""}`,
    String.raw`{"start": "a\":\":"}`,
  );
  expect(kindsOf(map, "error")).toEqual([]);
});

test("a gap, an overlap, a duplicate and inverted bounds are errors with keys and lines", () => {
  const map = importLines(
    '{"end": "c", "owner": "a"}',
    '{"start": "d", "end": "h", "owner": "b"}',
    '{"start": "d", "end": "h", "owner": "c"}',
    '{"start": "g", "end": "k"}',
    '{"start": "k", "end": "k"}',
    '{"start": "z", "end": "k"}',
    '{"start": "k"}',
  );
  expect(isImportable(map)).toBe(false);
  const errors = map.findings.filter((finding) => finding.severity === "error");
  expect(errors.map(({ kind, message, lines }) => ({ kind, message, lines }))).toEqual([
    {
      kind: "inverted",
      message: "line 5: [k, k) holds no key: its start equals its end",
      lines: [5],
    },
    {
      kind: "inverted",
      message: "line 6: [z, k) holds no key: its start is above its end",
      lines: [6],
    },
    { kind: "gap", message: "nothing covers [c, d), between lines 1 and 2", lines: [1, 2] },
    {
      kind: "duplicate",
      message: "[d, h) occurs twice, of b and of c (lines 2 and 3)",
      lines: [2, 3],
    },
    { kind: "overlap", message: "[d, h) and [g, k) overlap (lines 2 and 4)", lines: [2, 4] },
  ]);
});

test("a range inside another hides neither the next overlap nor the coverage", () => {
  const map = importLines(
    '{"end": "m"}',
    '{"start": "b", "end": "c"}',
    '{"start": "e", "end": "f"}',
    '{"start": "m"}',
  );
  expect(findingsOf(map, "overlap").map((finding) => finding.lines)).toEqual([
    [1, 2],
    [1, 3],
  ]);
  expect(kindsOf(map, "error")).toEqual(["overlap"]);
});

test("open outer ends are errors, unless they are to be extended", () => {
  const text = '{"start": "b", "end": "k", "owner": "a"}\n{"start": "k", "end": "p"}\n';
  const strict = importMap("jsonl", text);
  expect(kindsOf(strict, "error")).toEqual(["notCoveringStart", "notCoveringEnd"]);
  expect(isImportable(strict)).toBe(false);
  const extended = importMap("jsonl", text, { extendOuterBounds: true });
  expect(rangeTexts(extended)).toEqual(["[-inf, k) a @1", "[k, +inf) - @2"]);
  expect(isImportable(extended)).toBe(true);
  expect(findingsOf(extended, "notCoveringEnd")).toEqual([
    {
      kind: "notCoveringEnd",
      severity: "warning",
      message: "the last range (line 2) ends at p and is extended to +inf",
      lines: [2],
    },
  ]);
});

test("the range that ends last is the last one, wherever it starts", () => {
  const text = '{"end": "m", "owner": "a"}\n{"start": "b", "end": "c"}\n';
  const map = importMap("jsonl", text, { extendOuterBounds: true });
  expect(rangeTexts(map)).toEqual(["[-inf, +inf) a @1", "[b, c) - @2"]);
  expect(findingsOf(map, "notCoveringEnd")[0]?.message).toContain("(line 1) ends at m");
});

test("extending closes no hole between ranges", () => {
  const text = '{"start": "b", "end": "c"}\n{"start": "d", "end": "e"}\n';
  const map = importMap("jsonl", text, { extendOuterBounds: true });
  expect(kindsOf(map, "error")).toEqual(["gap"]);
  expect(isImportable(map)).toBe(false);
});

test("a last line that was cut is told from a wrong one", () => {
  const whole = '{"end": "b"}\n{"start": "b", "owner": "n"}';
  expect(isImportable(importMap("jsonl", whole))).toBe(true);
  const cut = importMap("jsonl", whole.slice(0, -4));
  expect(kindsOf(cut, "error")).toEqual(["truncated", "notCoveringEnd"]);
  expect(kindsOf(importMap("jsonl", `${whole.slice(0, -4)}\n`), "error")).toContain(
    "malformedLine",
  );
});

test.each(["", "\n", "# nothing\n"])("a text without ranges is refused: %j", (text) => {
  const map = importMap("jsonl", text, { extendOuterBounds: true });
  expect(kindsOf(map, "error")).toEqual(["noRanges"]);
  expect(isImportable(map)).toBe(false);
});

const distinctKeys = fc.uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 8 }), {
  selector: (key) => key.toString(),
  maxLength: 12,
});
const owners = fc.array(fc.constantFrom("node-1", "10.0.0.1:7000", "é", undefined), {
  minLength: 13,
  maxLength: 13,
});

test("reading a written map gives the map back", () => {
  fc.assert(
    fc.property(distinctKeys, owners, (keys, names) => {
      const sorted = keys.map((key) => Uint8Array.from(key)).toSorted(compareBytes);
      const starts = [EMPTY_BYTES, ...sorted];
      const ranges: ImportedRange[] = starts.map((startKey, at) => ({
        span: { startKey, endKey: starts[at + 1] },
        owner: names[at],
        source: { line: at + 1 },
      }));
      const map = importMap("jsonl", mapToJsonl({ ranges }));
      expect(map.ranges).toEqual(ranges);
      expect(isImportable(map)).toBe(true);
    }),
  );
});

test("any lines give a map, and one that is importable tiles the key space", () => {
  const key = fc.constantFrom("null", '""', '"a"', '"b"', '{"hex":"62"}', '"c"');
  const line = fc.oneof(
    fc.tuple(key, key).map(([start, end]) => `{"start":${start},"end":${end}}`),
    fc.string(),
    fc.json(),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.boolean(), (lines, extendOuterBounds) => {
      const map = importMap("jsonl", lines.join("\n"), { extendOuterBounds });
      expect(map.findings.length).toBeGreaterThan(0);
      if (!isImportable(map)) return;
      for (const probe of ["", "a", "b", "bb", "c", "\u{10ffff}"]) {
        const bytes = utf8ToBytes(probe);
        const holding = map.ranges.filter(
          ({ span }) =>
            compareBytes(span.startKey, bytes) <= 0 &&
            (span.endKey === undefined || compareBytes(bytes, span.endKey) < 0),
        );
        expect(holding).toHaveLength(1);
      }
    }),
    { numRuns: 500 },
  );
});

test("50,000 ranges are read from chunks", () => {
  const text = generateMap({ ranges: 50_000, owners: 50, seed: 7 });
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += 65_536) chunks.push(text.slice(at, at + 65_536));
  const map = importMap("jsonl", chunks);
  expect(map.ranges).toHaveLength(50_000);
  expect(map.owners).toHaveLength(50);
  expect(isImportable(map)).toBe(true);
});

test("a generated map depends on its seed alone", () => {
  const options = { ranges: 40, owners: 7, seed: 3 };
  const map = importMap("jsonl", generateMapLines(options));
  expect(generateMap(options)).toBe(generateMap(options));
  expect(generateMap({ ...options, seed: 4 })).not.toBe(generateMap(options));
  expect(map.ranges).toHaveLength(40);
  expect(map.owners).toHaveLength(7);
  expect(isImportable(map)).toBe(true);
});
