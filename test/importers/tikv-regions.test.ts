// Expected numbers were counted from the files by other means than this importer.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { importMap, type ImportOptions } from "../../src/importers/import-map.ts";
import { type ImportedMap, isImportable } from "../../src/importers/imported-map.ts";
import { findingsOf, fixture, kindsOf, ownerOfKey, rangeTexts } from "./maps.ts";

function importText(text: string, options: ImportOptions = {}): ImportedMap {
  return importMap("tikv-regions", text, options);
}

/** A table as mysql draws it, with the needed columns only. */
function table(rows: readonly (readonly string[])[], tail = `${rows.length} rows in set`): string {
  const all = [["REGION_ID", "START_KEY", "END_KEY", "LEADER_STORE_ID"], ...rows];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const border = `+${widths.map((width) => "-".repeat(width + 2)).join("+")}+`;
  const [head, ...body] = all.map(
    (row) => `|${row.map((cell, at) => ` ${cell.padEnd(widths[at] ?? 0)} `).join("|")}|`,
  );
  return [border, head, border, ...body, border, tail, ""].join("\n");
}

test("a table's regions tile from its first key to the end", () => {
  const map = importText(fixture("invented-regions-4.txt"));
  expect(rangeTexts(map)).toEqual([
    "[t_31_, t_31_r_1000) store-4 @4",
    "[t_31_r_1000, t_31_r_2000) store-5 @5",
    "[t_31_r_2000, t_31_r_3000) store-4 @6",
    "[t_31_r_3000, +inf) store-6 @7",
  ]);
  expect(map.ranges.map((range) => range.sourceId)).toEqual(["812", "820", "828", "7"]);
  expect(map.owners).toEqual([
    { name: "store-4", ranges: 2 },
    { name: "store-5", ranges: 1 },
    { name: "store-6", ranges: 1 },
  ]);
  expect(kindsOf(map, "error")).toEqual(["notCoveringStart"]);
  expect(findingsOf(map, "notCoveringStart")[0]?.message).toBe(
    "the first range (line 4) starts at t_31_: nothing covers the keys before it",
  );
  expect(findingsOf(map, "emptyBoundary")[0]?.lines).toEqual([7]);
  expect(isImportable(map)).toBe(false);
});

test("with extended outer bounds a table's part of the key space can be imported", () => {
  const map = importText(fixture("invented-regions-4.txt"), { extendOuterBounds: true });
  expect(isImportable(map)).toBe(true);
  expect(kindsOf(map, "warning")).toEqual(["notCoveringStart"]);
  expect(rangeTexts(map)[0]).toBe("[-inf, t_31_r_1000) store-4 @4");
  expect(ownerOfKey(map, utf8ToBytes("t_31_r_1999"))).toBe("store-5");
  expect(ownerOfKey(map, utf8ToBytes("t_31_r_2000"))).toBe("store-4");
});

test("rows in any order, of interleaved partitions and with other columns, sort and tile", () => {
  const map = importText(fixture("invented-regions-partitions-7.txt"), {
    extendOuterBounds: true,
  });
  expect(isImportable(map)).toBe(true);
  expect(rangeTexts(map)).toEqual([
    "[-inf, t_510_r) store-3 @9",
    "[t_510_r, t_510_r_4000) store-2 @5",
    "[t_510_r_4000, t_511_) store-1 @7",
    "[t_511_, t_511_i_1_03800000000000002a) store-2 @10",
    "[t_511_i_1_03800000000000002a, t_511_r) store-2 @11",
    "[t_511_r, t_511_r_4000) store-3 @6",
    "[t_511_r_4000, +inf) store-1 @8",
  ]);
});

test("a key that was not decoded is hex, and a region without a leader has no owner", () => {
  const map = importText(fixture("invented-regions-raw-hex-end-3.txt"));
  expect(rangeTexts(map)).toEqual([
    "[t_66_, t_66_r_1152921504606846976) store-12 @4",
    "[t_66_r_1152921504606846976, t_66_r_4611686018427387904) store-3 @5",
    String.raw`[t_66_r_4611686018427387904, u\x00\x00\x00) - @6`,
  ]);
  expect(findingsOf(map, "rawHexBoundary")[0]?.message).toBe(
    String.raw`line 6: 75000000 is no decoded key; read as the bytes u\x00\x00\x00`,
  );
  expect(findingsOf(map, "missingOwner")).toMatchObject([{ severity: "warning", lines: [6] }]);
  expect(kindsOf(map, "error")).toEqual(["notCoveringStart", "notCoveringEnd"]);
});

test("display forms whose numbers differ in length are ordered as text, which is said", () => {
  const same = table([
    ["1", "t_7_", "t_7_r_10", "1"],
    ["2", "t_7_r_10", "", "1"],
  ]);
  expect(findingsOf(importText(same), "textOrder")[0]?.severity).toBe("info");
  const longer = table([
    ["1", "t_7_", "t_7_r_10", "1"],
    ["2", "t_7_r_10", "t_7_r_200", "1"],
    ["3", "t_7_r_200", "", "1"],
  ]);
  expect(findingsOf(importText(longer), "textOrder")[0]?.severity).toBe("warning");
  const negative = table([
    ["1", "t_7_", "t_7_r_-5", "1"],
    ["2", "t_7_r_-5", "", "1"],
  ]);
  expect(findingsOf(importText(negative), "textOrder")[0]?.severity).toBe("warning");
  const descending = importText(
    table([
      ["1", "t_9_", "t_9_r_9", "1"],
      ["2", "t_9_r_9", "t_9_r_10", "1"],
      ["3", "t_9_r_10", "", "1"],
    ]),
  );
  expect(findingsOf(descending, "inverted")[0]?.message).toBe(
    "line 5: [t_9_r_9, t_9_r_10) holds no key: its start is above its end " +
      "(display forms are compared as text; pd-ctl region gives the keys)",
  );
  expect(isImportable(descending)).toBe(false);
});

test("a table that was cut is refused, wherever the cut is", () => {
  const text = fixture("invented-regions-4.txt");
  const rowStart = text.indexOf("|         7 |");
  const border = text.lastIndexOf("+--", text.lastIndexOf("+\n") - 200);
  const cuts = [rowStart, rowStart + 20, rowStart - 1, text.indexOf("4 rows") - 30, border];
  for (const cut of cuts) {
    const map = importText(text.slice(0, cut), { extendOuterBounds: true });
    expect(kindsOf(map, "error")).toContain("truncated");
    expect(isImportable(map)).toBe(false);
  }
});

test("a row that was lost shows in the count, and as a gap", () => {
  const lines = fixture("invented-regions-4.txt").split("\n");
  const map = importText(lines.filter((_, at) => at !== 4).join("\n"));
  expect(kindsOf(map, "error")).toEqual(["countMismatch", "notCoveringStart", "gap"]);
  expect(findingsOf(map, "countMismatch")[0]?.message).toBe(
    "line 8: 4 rows in set, but the table has 3",
  );
  expect(findingsOf(map, "gap")[0]?.message).toBe(
    "nothing covers [t_31_r_1000, t_31_r_2000), between lines 4 and 5",
  );
});

test.each([
  [
    "a region twice",
    [
      ["1", "t_1_", "", "1"],
      ["1", "t_1_", "", "1"],
    ],
    "duplicate",
  ],
  ["an id that is no number", [["x1", "t_1_", "", "1"]], "malformedLine"],
  ["a store that is no number", [["1", "t_1_", "", "1a"]], "malformedLine"],
  ["a key in no known form", [["1", "t 1", "", "1"]], "malformedLine"],
  ["an odd number of hex digits", [["1", "748", "", "1"]], "malformedLine"],
  ["a row of too many cells", [["1", "t_1_", "| ", "1"]], "malformedLine"],
])("%s is an error", (_, rows, kind) => {
  const map = importText(table(rows), { extendOuterBounds: true });
  expect(kindsOf(map, "error")).toContain(kind);
  expect(isImportable(map)).toBe(false);
});

test("a table of something else is refused by the names of the missing columns", () => {
  const map = importText("+----+\n| id |\n+----+\n| 7  |\n+----+\n1 row in set (0.01 sec)\n");
  expect(findingsOf(map, "malformedLine").map((finding) => finding.message)).toEqual([
    "line 2: the table has no column REGION_ID, START_KEY, END_KEY, LEADER_STORE_ID",
    "line 4: a row of a table without the columns of regions",
  ]);
});

test("tables that follow each other are one map", () => {
  const first = table([["1", "", "t_5_", "1"]], "1 row in set");
  const second = table([["2", "t_5_", "", "2"]], "1 row in set (0.10 sec)");
  expect(rangeTexts(importText(first + second))).toEqual([
    "[-inf, t_5_) store-1 @4",
    "[t_5_, +inf) store-2 @10",
  ]);
  expect(isImportable(importText(first + second))).toBe(true);
});

test("pd-ctl's regions have hex keys and cover the whole key space", () => {
  const map = importText(fixture("invented-pd-regions-4.json"));
  expect(rangeTexts(map)).toEqual([
    "[-inf, lot:1500) store-2 @4",
    "[lot:1500, lot:7200) store-5 @29",
    String.raw`[lot:7200, \xff\x00\xe1) store-2 @54`,
    String.raw`[\xff\x00\xe1, +inf) store-9 @79`,
  ]);
  expect(map.ranges.map((range) => range.sourceId)).toEqual(["610", "640", "680", "700"]);
  expect(isImportable(map)).toBe(true);
  expect(kindsOf(map, "info")).toEqual(["emptyBoundary", "binaryBoundary", "ownerCount"]);
});

test("a JSON text that was cut shows the regions before the cut and is refused", () => {
  const map = importText(fixture("invented-pd-regions-4-cut.json"), { extendOuterBounds: true });
  expect(map.ranges.map((range) => range.sourceId)).toEqual(["610", "640"]);
  expect(kindsOf(map, "error")).toEqual(["truncated", "countMismatch"]);
  expect(findingsOf(map, "truncated")[0]?.message).toBe(
    "the text ends at line 56 inside the list of regions, after 2 of 4",
  );
  expect(findingsOf(map, "countMismatch")[0]?.message).toBe(
    "the text announces 4 regions and holds 2",
  );
  expect(isImportable(map)).toBe(false);
});

const pdRegion = (id: number, start: string, end: string, more = ""): string =>
  `{"id": ${id}, "start_key": "${start}", "end_key": "${end}"${more}}`;

test("one region alone is a map of one range", () => {
  const map = importText(`\n${pdRegion(2, "7480FF", "7480ff01", ', "leader": {"store_id": 3}')}`);
  expect(rangeTexts(map)).toEqual([String.raw`[t\x80\xff, t\x80\xff\x01) store-3 @2`]);
  expect(kindsOf(map, "error")).toEqual(["notCoveringStart", "notCoveringEnd"]);
  expect(findingsOf(map, "binaryBoundary")[0]?.message).toContain("2 boundaries are not UTF-8");
});

test.each([
  ["no leader", pdRegion(1, "", ""), []],
  ["an empty leader", pdRegion(1, "", "", ', "leader": {}'), []],
  ["a wrong count", `{"count": 2, "regions": [${pdRegion(1, "", "")}]}`, ["countMismatch"]],
  [
    "a wrong count at the end",
    `{"regions": [${pdRegion(1, "", "")}], "count": 3}`,
    ["countMismatch"],
  ],
  ["no closing brace", `{"regions": [${pdRegion(1, "", "")}]`, ["truncated"]],
  ["an ellipsis", `{"regions": [${pdRegion(1, "", "")}, ...]}`, ["malformedLine"]],
  [
    "no comma",
    `{"regions": [${pdRegion(1, "", "61")} ${pdRegion(2, "61", "")}]}`,
    ["malformedLine"],
  ],
  [
    "an id twice",
    `{"regions": [${pdRegion(1, "", "61")}, ${pdRegion(1, "61", "")}]}`,
    ["duplicate"],
  ],
  ["an empty list", '{"count": 0, "regions": []}', ["noRanges"]],
  ["a rounded id", pdRegion(2 ** 53, "", ""), ["malformedLine", "noRanges"]],
  ["no end key", '{"id": 1, "start_key": ""}', ["malformedLine", "noRanges"]],
  ["a key that is no hex", pdRegion(1, "t_1_", ""), ["malformedLine", "noRanges"]],
  ["bounds that are equal", pdRegion(1, "61", "61"), ["inverted", "noRanges"]],
  ["a text that is no JSON", "{ id: 7 }", ["malformedLine", "noRanges"]],
  ["half a text", '{"id": 7, "start', ["truncated", "noRanges"]],
  ["a list at the top", "[]", ["malformedLine", "noRanges"]],
])("in JSON, %s: the errors are named", (_, text, errors) => {
  const map = importText(text);
  expect(kindsOf(map, "error")).toEqual(errors);
  expect(isImportable(map)).toBe(errors.length === 0);
});

test("what stands between regions is named with its line", () => {
  const list = `{"regions": [\n${pdRegion(1, "", "61")},\n...,\n${pdRegion(2, "61", "")}\n, x]}`;
  expect(findingsOf(importText(list), "malformedLine").map((finding) => finding.message)).toEqual([
    'line 3: unexpected "...,"',
    'line 5: unexpected "x"',
    "the text is not valid JSON; regions read: 2",
  ]);
});

test("a byte order mark before JSON, and brackets inside its strings, are no matter", () => {
  const text = `\ufeff{"note": "}]{\\"[", "regions": [${pdRegion(1, "", "", ', "x": "]}{\\""')}]}`;
  expect(rangeTexts(importText(text))).toEqual(["[-inf, +inf) - @1"]);
  expect(isImportable(importText(text))).toBe(true);
});
