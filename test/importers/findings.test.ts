import { expect, test } from "vitest";
import {
  FINDINGS_PER_KIND_MAX,
  FindingList,
  LINES_PER_FINDING_MAX,
  linesToText,
} from "../../src/importers/findings.ts";

test("errors come first, then warnings, then the rest, each in their order", () => {
  const findings = new FindingList();
  findings.info("wrapping", [1], "a");
  findings.error("gap", [2], "b");
  findings.warning("textOrder", [3], "c");
  findings.error("overlap", [1], "d");
  expect(findings.toList().map((finding) => finding.message)).toEqual(["b", "d", "c", "a"]);
});

test("of each kind a bounded number is kept and all are counted", () => {
  const findings = new FindingList();
  for (let line = 1; line <= FINDINGS_PER_KIND_MAX + 5; line++) {
    findings.error("malformedLine", [line], `line ${line}`);
  }
  findings.error(
    "gap",
    Array.from({ length: 500 }, (_, at) => at),
    "wide",
  );
  const kept = findings.toList();
  expect(kept).toHaveLength(FINDINGS_PER_KIND_MAX + 1);
  expect(kept.at(-1)?.lines).toHaveLength(LINES_PER_FINDING_MAX);
  expect(findings.toCounts().get("malformedLine")).toBe(FINDINGS_PER_KIND_MAX + 5);
  expect(findings.toCounts().get("gap")).toBe(1);
});

test.each([
  [[3], "line 3"],
  [[3, 4], "lines 3 and 4"],
  [[3, 4, 9, 12], "lines 3, 4, 9 and 12"],
  [[3, 4, 9, 12, 20], "lines 3, 4, 9 and 2 more"],
])("the lines %j are written %s", (lines, text) => {
  expect(linesToText(lines)).toBe(text);
});
