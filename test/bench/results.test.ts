// How results are judged and written: a lost budget is shown and is no failure, what could not be
// measured is never called good.
import { expect, test } from "vitest";
import {
  type Budget,
  type Outcome,
  type Row,
  rowToJson,
  toMarkdown,
  verdictOf,
} from "./results.ts";

function row(budget: Budget, outcome: Outcome, note = ""): Row {
  return { name: "some", what: "something", unit: "s", budget, outcome, note };
}

function measured(ours: number, peer?: number): Outcome {
  const one = (value: number) => ({ value, spread: { min: value - 1, max: value + 1 } });
  return { kind: "measured", ours: one(ours), peer: peer === undefined ? undefined : one(peer) };
}

const RATIO: Budget = { kind: "atLeastTimesPeer", factor: 1.5 };

test.each([
  [RATIO, measured(15, 10), "meets"],
  [RATIO, measured(14, 10), "LOSES"],
  [RATIO, measured(14), "not judged"],
  [{ kind: "atMostPeer" }, measured(2, 2), "meets"],
  [{ kind: "atMostPeer" }, measured(2.1, 2), "LOSES"],
  [{ kind: "atMostPeer" }, measured(2.1), "not judged"],
  [{ kind: "atMost", limit: 3 }, measured(3, 1), "meets"],
  [{ kind: "atMost", limit: 3 }, measured(3.1), "LOSES"],
  [{ kind: "none" }, measured(1, 1), "not judged"],
  [RATIO, { kind: "skipped", why: "no peer" }, "SKIPPED"],
  [RATIO, { kind: "failed", why: "it broke" }, "FAILED"],
] as const)("%j and %j: %s", (budget, outcome, verdict) => {
  expect(verdictOf(row(budget, outcome))).toBe(verdict);
});

test("a row of JSON has the value, its budget, whether it is met, the peer and the ratio", () => {
  expect(rowToJson(row(RATIO, measured(14, 10), "why"))).toEqual({
    name: "some",
    value: 14,
    unit: "s",
    budget: ">= 1.5 x peer",
    ok: false,
    peer: 10,
    ratio: 1.4,
    note: "why",
  });
});

test("what was skipped or failed is neither good nor bad, and says so", () => {
  for (const [kind, word] of [
    ["skipped", "SKIPPED"],
    ["failed", "FAILED"],
  ] as const) {
    const json = rowToJson(row(RATIO, { kind, why: "the cause" }));
    expect(json).toMatchObject({ value: null, ok: null, peer: null, ratio: null });
    expect(json.note).toBe(`${word}: the cause`);
  }
});

test("a peer that took no time at all gives no ratio", () => {
  expect(rowToJson(row(RATIO, measured(1, 0))).ratio).toBeNull();
});

test("the table has every row, the lost ones too, with notes, method and machine", () => {
  const rows = [
    row(RATIO, measured(14.04, 1_000.4), "on foot"),
    row(RATIO, { kind: "skipped", why: "no peer" }),
  ];
  const text = toMarkdown(rows, { node: "v20" }, ["five rounds"]);
  expect(text).toContain(
    "| some | something | 14 s | 13..15 | 1000 s | 999..1001 | 0.01 | >= 1.5 x peer | LOSES |",
  );
  expect(text).toContain("| some | something |  |  |  |  |  | >= 1.5 x peer | SKIPPED |");
  expect(text).toContain("- `some`: on foot\n- `some`: SKIPPED: no peer\n");
  expect(text).toContain("- five rounds\n");
  expect(text).toContain("- node: v20\n");
});
