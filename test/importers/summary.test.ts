import { expect, test } from "vitest";
import { importMap } from "../../src/importers/import-map.ts";
import { summaryLines } from "../../src/importers/summary.ts";
import { fixture } from "./maps.ts";

test("a summary tells size, ends, owners, findings and the outcome", () => {
  const map = importMap("cassandra-ring", fixture("ring-3node-1token-mintoken.txt"));
  expect(summaryLines(map)).toEqual([
    "cassandra-ring: 4 ranges of tokens (3 in the source)",
    "first range: token -9223372036854775808 10.101.35.67, line 6",
    "last range: tokens 3074457345618258603 to 9223372036854775807 10.101.35.67, line 6",
    "owner 10.101.34.191: 1 range",
    "owner 10.101.34.223: 1 range",
    "owner 10.101.35.67: 2 ranges",
    "info wrapping: (3074457345618258602, -9223372036854775808] (line 6) wraps: " +
      "kept as two ranges of one owner",
    "info ownerCount: owners: 3; ranges of each: 1 to 2",
    "can be imported",
  ]);
});

test("of each kind the first findings are shown and the others counted", () => {
  const map = importMap("cassandra-ring", fixture("describering-6ranges-with-gaps-2dc.txt"));
  const lines = summaryLines(map, { findingsPerKind: 2, ownersMax: 1 });
  expect(lines.filter((line) => line.startsWith("error gap: "))).toHaveLength(2);
  expect(lines).toContain("and 4 more of gap");
  expect(lines).toContain("and 3 more owners");
  expect(lines.at(-1)).toBe("cannot be imported");
});

test("findings that were only counted are part of the count", () => {
  const map = importMap("jsonl", "x\n".repeat(3_000));
  expect(map.findings.length).toBeLessThan(1_100);
  expect(summaryLines(map, { findingsPerKind: 1 })).toEqual([
    "jsonl: 0 ranges of keys",
    "error malformedLine: line 1: not a JSON object",
    "and 2999 more of malformedLine",
    "error noRanges: the text holds no range",
    "info ownerCount: no range has an owner",
    "cannot be imported",
  ]);
});

test("every line of a summary is one line, whatever the keys", () => {
  const text = String.raw`{"end": {"hex": "0a1b"}, "owner": "a"}` + "\n";
  const lines = summaryLines(importMap("jsonl", text, { extendOuterBounds: true }));
  expect(lines[1]).toBe("only range: [-inf, +inf) a, line 1");
  expect(lines.join("")).not.toMatch(/\p{Cc}/u);
});
