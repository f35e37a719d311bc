// Law 8 by itself: the view that was sent, the changes in the answer, and what follows from them.
import { expect, test } from "vitest";
import { renewalEffect, type SentRenewal } from "../../src/fence/renewal.ts";
import type { HoldChange, KeyspaceSpan } from "../../src/wire/api.ts";
import { span } from "../client/support.ts";
import { holdChange, ms, ours, renewAnswer, revision } from "./support.ts";

const R1 = ours(5, { id: "r1", end: "m" });
const R2 = ours(6, { id: "r2", start: "m" });

function sentWith(fields: Partial<SentRenewal> = {}): SentRenewal {
  const view = new Map([R1, R2].map((record) => [record.descriptor.rangeId, record]));
  return { firstSentMs: ms(0), asOf: revision(10), except: [], view, ...fields };
}

function extendedBy(sent: SentRenewal, changes: readonly HoldChange[] = []): string[] {
  const effect = renewalEffect(sent, renewAnswer(20, changes));
  return (effect?.extended ?? []).map(({ rangeId, epoch }) => `${rangeId}@${epoch}`);
}

test("everything in the view is extended with the duration in force", () => {
  const effect = renewalEffect(sentWith(), renewAnswer(20));
  expect(effect?.ended).toEqual([]);
  expect(effect?.extended).toEqual([
    { rangeId: "r1", epoch: 5, durationMs: 10_000, renewIntervalMs: 3_333 },
    { rangeId: "r2", epoch: 6, durationMs: 10_000, renewIntervalMs: 3_333 },
  ]);
});

test.each([
  ["the same span", [{ keyspace: "k", span: span("m", "") }], ["r1@5"]],
  ["a span that touches both", [{ keyspace: "k", span: span("l", "n") }], []],
  ["a span that ends where a range starts", [{ keyspace: "k", span: span("", "m") }], ["r2@6"]],
  ["another keyspace", [{ keyspace: "o", span: span("", "") }], ["r1@5", "r2@6"]],
] as [string, KeyspaceSpan[], string[]][])(
  "nothing that touches an exception is extended: %s",
  (_what, except, expected) => {
    expect(extendedBy(sentWith({ except }))).toEqual(expected);
  },
);

test("what ended within the answer is reported and not extended", () => {
  const effect = renewalEffect(
    sentWith(),
    renewAnswer(20, [holdChange("expired", 11, R1), holdChange("released", 12, R2)]),
  );
  expect(effect).toEqual({
    extended: [],
    ended: [
      { rangeId: "r1", epoch: 5, why: "expired" },
      { rangeId: "r2", epoch: 6, why: "released" },
    ],
    successors: [],
  });
});

test("the last word on each successor in the answer is told (law 12)", () => {
  const asked = (at: number): HoldChange =>
    holdChange("successorSet", at, ours(5, { end: "m", successor: "n2", handOver: at }));
  const changes = [asked(11), holdChange("successorLifted", 12, R1), asked(13)];
  const effect = renewalEffect(sentWith(), renewAnswer(20, changes));
  expect(effect?.successors).toEqual([changes[2]]);
});

test("a range that is not in the view and was granted later is not extended", () => {
  const view = new Map([["r1", R1]]);
  const later = holdChange("granted", 15, ours(15, { id: "r2", start: "m" }));
  expect(extendedBy(sentWith({ view }), [later])).toEqual(["r1@5"]);
});

test("an epoch above as_of is not extended, even if the view should hold it", () => {
  const view = new Map([["r1", ours(11, { id: "r1", end: "m" })]]);
  expect(extendedBy(sentWith({ view }))).toEqual([]);
});

test("changes of several revisions must be in order and within (as_of, revision]", () => {
  const lifted = (at: number): HoldChange => holdChange("successorLifted", at, R1);
  expect(renewalEffect(sentWith(), renewAnswer(20, [lifted(11), lifted(11)]))).toBeDefined();
  expect(renewalEffect(sentWith(), renewAnswer(20, [lifted(20)]))).toBeDefined();
  expect(renewalEffect(sentWith(), renewAnswer(20, [lifted(10)]))).toBeUndefined();
  expect(renewalEffect(sentWith(), renewAnswer(20, [lifted(21)]))).toBeUndefined();
  expect(renewalEffect(sentWith(), renewAnswer(20, [lifted(12), lifted(11)]))).toBeUndefined();
  expect(renewalEffect(sentWith(), renewAnswer(9))).toBeUndefined();
});
