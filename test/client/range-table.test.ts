// The table of a watch, and the tiling check.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { RangeTable } from "../../src/client/range-table.ts";
import { change, changesFrame, record, snapshotFrame, span } from "./support.ts";

const LEFT = record({ id: "r1", end: "m" });
const RIGHT = record({ id: "r2", start: "m" });

test("a snapshot replaces what the table had, changes are applied to it", () => {
  const table = new RangeTable();
  expect(table.isComplete).toBe(false);
  table.apply(snapshotFrame(10, [record({ id: "old" })]));
  table.apply(snapshotFrame(20, [RIGHT, LEFT]));
  expect(table.ranges()).toEqual([LEFT, RIGHT]);
  const granted = record({ id: "r2", start: "m", epoch: 21, node: "n1" });
  table.apply(changesFrame([[21, [change("granted", RIGHT, granted)]]]));
  expect(table.get("r2")).toBe(granted);
  expect(table.find("k", utf8ToBytes("z"))).toBe(granted);
  expect(table.find("k", utf8ToBytes("a"))).toBe(LEFT);
  expect(table.find("other", utf8ToBytes("a"))).toBeUndefined();
});

test("boundaries that change in one revision leave a table that tiles", () => {
  const table = new RangeTable();
  const whole = record({ id: "r0" });
  table.apply(snapshotFrame(10, [whole]));
  const changes = [
    change("rangesDefined", whole, undefined),
    change("rangesDefined", undefined, LEFT),
    change("rangesDefined", undefined, RIGHT),
  ];
  table.apply(changesFrame([[11, changes]]));
  expect(table.size).toBe(2);
  expect(table.tilingFindings()).toEqual([]);
});

test("a table by node drops a range that goes to another node", () => {
  const table = new RangeTable({ nodeId: "n1" });
  const mine = record({ epoch: 5, node: "n1" });
  table.apply(snapshotFrame(10, [mine]));
  table.apply(changesFrame([[11, [change("granted", mine, record({ epoch: 11, node: "n2" }))]]]));
  expect(table.size).toBe(0);
  expect(table.tilingFindings()).toEqual([]);
});

test.each([
  ["a gap", [LEFT, record({ id: "r2", start: "n" })], "a gap after r1"],
  ["an overlap", [LEFT, record({ id: "r2", start: "l" })], "r1 and r2 overlap"],
  ["an end too early", [LEFT], "nothing after r1"],
  ["a start too late", [RIGHT], "nothing before"],
])("%s is found", (_what, ranges, finding) => {
  const table = new RangeTable();
  table.apply(snapshotFrame(10, ranges));
  expect(table.tilingFindings().join()).toContain(finding);
});

test("only the filter's span must be tiled, and a keyspace without any range is a finding", () => {
  const part = new RangeTable({ keyspace: "k", span: span("a", "c") });
  part.apply(snapshotFrame(10, [LEFT]));
  expect(part.tilingFindings()).toEqual([]);
  const none = new RangeTable({ keyspace: "k" });
  none.apply(snapshotFrame(10, []));
  expect(none.tilingFindings()).toEqual(["k: no ranges"]);
});
