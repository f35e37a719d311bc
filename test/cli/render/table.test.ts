// Plain tables and fields.
import { expect, test } from "vitest";
import {
  countText,
  fieldLines,
  groupDigits,
  Table,
  tableLines,
  textWidth,
} from "../../../src/cli/render/table.ts";

const COLUMNS = [{ title: "NAME" }, { title: "COUNT", align: "right" }, { title: "NOTE" }] as const;
const PLAIN = { color: false };

test("columns are as wide as their widest cell, and no line ends in spaces", () => {
  const rows = [
    ["a", "5", "first"],
    ["longer-name", "12345", ""],
  ];
  expect(tableLines(COLUMNS, rows, PLAIN)).toEqual([
    "NAME         COUNT  NOTE",
    "a                5  first",
    "longer-name  12345",
  ]);
});

test("without rows the titles stand alone", () => {
  expect(tableLines(COLUMNS, [], PLAIN)).toEqual(["NAME  COUNT  NOTE"]);
});

test("a table in pieces has its titles once, and its columns only grow", () => {
  const table = new Table(COLUMNS, PLAIN);
  expect(table.lines([["wide-cell", "1", "x"]])).toEqual([
    "NAME       COUNT  NOTE",
    "wide-cell      1  x",
  ]);
  expect(table.lines([["a", "2", "y"]])).toEqual(["a              2  y"]);
});

test("wide, combining and coloured characters are measured in cells", () => {
  expect(textWidth("日本")).toBe(4);
  expect(textWidth("e\u0301")).toBe(1);
  expect(textWidth("\u001b[1mbold\u001b[22m")).toBe(4);
  const rows = [
    ["日本", "1", "x"],
    ["abcd", "1", "x"],
  ];
  const [, first, second] = tableLines(COLUMNS, rows, PLAIN);
  expect(textWidth(first ?? "")).toBe(textWidth(second ?? ""));
});

test("fields stand below each other", () => {
  expect(
    fieldLines([
      ["range", "1.5.0"],
      ["lease left", "3s"],
    ]),
  ).toEqual(["range       1.5.0", "lease left  3s"]);
});

test("counts have thousands and the right number", () => {
  expect(groupDigits(1_234_567)).toBe("1,234,567");
  expect(groupDigits(999)).toBe("999");
  expect(countText(1, "range")).toBe("1 range");
  expect(countText(1_000, "range")).toBe("1,000 ranges");
  expect(countText(0, "entry", "entries")).toBe("0 entries");
});
