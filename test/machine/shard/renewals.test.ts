/** Renewals by session, exact by range: law 8 clause by clause. */

import { expect, test } from "vitest";
import type { Incarnation, Revision } from "../../../src/base/brands.ts";
import { changesOf, excepted, renewalOf, ShardHarness, shardWithOwner } from "./harness.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

/** Three ranges "", g, p of a 3 s keyspace; node "a" holds all, "b" has a session. */
function threeRanges(): { shard: ShardHarness; keyspaceId: number; ids: readonly string[] } {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "g", "p");
  shard.open("a");
  shard.open("b");
  const ids = shard.ranges(keyspaceId).map(({ rangeId }) => rangeId);
  for (const rangeId of ids) shard.grant(rangeId, "a");
  return { shard, keyspaceId, ids };
}

function idAt(ids: readonly string[], at: number): string {
  const rangeId = ids[at];
  if (rangeId === undefined) throw new Error(`no range ${at}`);
  return rangeId;
}

test("a renewal extends all that the session holds to its entry's time plus D", () => {
  const { shard, ids } = threeRanges();
  shard.timeMs = 1_000;
  expect(shard.renewed("a").kind).toBe("extended");
  expect(ids.map((rangeId) => shard.deadline(rangeId))).toEqual([4_000, 4_000, 4_000]);
});

test("a range that was granted after as_of is not extended", () => {
  const { shard, ids } = threeRanges();
  const [first, , last] = [idAt(ids, 0), idAt(ids, 1), idAt(ids, 2)];
  const { epoch } = shard.range(last);
  shard.timeMs = 1_000;
  const answer = shard.renewed("a", epoch - 1);
  expect(changesOf(answer)).toEqual(["granted p"]);
  expect(shard.deadline(first)).toBe(4_000);
  expect(shard.deadline(last)).toBe(3_000);
  expect(shard.renewed("a", epoch).kind).toBe("extended");
  expect(shard.deadline(last)).toBe(4_000);
});

test("a range that touches an excepted span keeps the deadline that it had", () => {
  const cases: [from: string, to: string | undefined, touched: readonly number[]][] = [
    ["g", "p", [1]],
    ["h", "i", [1]],
    ["f", "h", [0, 1]],
    ["f", "g", [0]],
    ["", "g", [0]],
    ["g", undefined, [1, 2]],
    ["", undefined, [0, 1, 2]],
    ["z", undefined, [2]],
  ];
  for (const [from, to, touched] of cases) {
    const { shard, keyspaceId, ids } = threeRanges();
    shard.timeMs = 1_000;
    shard.renew("a", shard.revision, 1, [excepted(keyspaceId, from, to)]);
    const deadlines = ids.map((rangeId) => shard.deadline(rangeId));
    const expected = ids.map((_, at) => (touched.includes(at) ? 3_000 : 4_000));
    expect(deadlines, `${from} to ${to ?? "+inf"}`).toEqual(expected);
  }
});

test("a span of another keyspace excepts nothing here", () => {
  const { shard, keyspaceId, ids } = threeRanges();
  shard.timeMs = 1_000;
  shard.renew("a", shard.revision, 1, [excepted(keyspaceId + 1, "")]);
  expect(ids.map((rangeId) => shard.deadline(rangeId))).toEqual([4_000, 4_000, 4_000]);
});

test("an exception holds for its own renewal only", () => {
  const { shard, keyspaceId, ids } = threeRanges();
  const first = idAt(ids, 0);
  shard.timeMs = 1_000;
  shard.renew("a", shard.revision, 1, [excepted(keyspaceId, "", "g"), excepted(keyspaceId, "a")]);
  expect(shard.deadline(first)).toBe(3_000);
  shard.timeMs = 2_000;
  shard.renew("a");
  expect(shard.deadline(first)).toBe(5_000);
  shard.timeMs = 2_500;
  shard.renew("a", shard.revision, 1, [excepted(keyspaceId, "")]);
  expect(shard.deadline(first)).toBe(5_000);
});

test("an excepted range ends alone, at the deadline that it had", () => {
  const { shard, keyspaceId, ids } = threeRanges();
  shard.timeMs = 2_000;
  shard.renew("a", shard.revision, 1, [excepted(keyspaceId, "g", "p")]);
  shard.timeMs = 2_999;
  expect(shard.apply({ kind: "expire" }).events).toEqual([]);
  const { events } = shard.advance(1);
  expect(events).toMatchObject([{ cause: "expired", changes: [{}] }]);
  expect(ids.map((rangeId) => shard.range(rangeId).owner?.nodeId)).toEqual(["a", undefined, "a"]);
});

test("a range with a recorded successor is not extended, and again once that is lifted", () => {
  const { shard, ids } = threeRanges();
  const first = idAt(ids, 0);
  shard.timeMs = 1_000;
  shard.grant(first, "b");
  const set = shard.renewed("a", shard.revision - 1);
  expect(changesOf(set)).toEqual(["successorSet "]);
  expect(shard.deadline(first)).toBe(3_000);
  shard.timeMs = 1_500;
  shard.withdraw(first);
  expect(shard.deadline(first)).toBe(3_000);
  const lifted = shard.renewed("a", shard.revision - 1);
  expect(changesOf(lifted)).toEqual(["successorLifted "]);
  expect(shard.deadline(first)).toBe(4_500);
});

test("a successor that was set and lifted between as_of and the renewal does not stop it", () => {
  const { shard, ids } = threeRanges();
  const first = idAt(ids, 0);
  const asOf = shard.revision;
  shard.grant(first, "b");
  shard.withdraw(first);
  shard.timeMs = 700;
  expect(changesOf(shard.renewed("a", asOf))).toEqual(["successorSet ", "successorLifted "]);
  expect(shard.deadline(first)).toBe(3_700);
});

test("a renewal before the successor was lifted does not count afterwards", () => {
  const { shard, ids } = threeRanges();
  const first = idAt(ids, 0);
  shard.grant(first, "b");
  shard.timeMs = 2_000;
  shard.renew("a");
  shard.withdraw(first);
  expect(shard.deadline(first)).toBe(3_000);
});

test("the answer states v, the durations in force, and every change in (as_of, v] in order", () => {
  const { shard, keyspaceId, ids } = threeRanges();
  const asOf = shard.revision;
  shard.grant(idAt(ids, 0), "b");
  shard.release(idAt(ids, 1), "a");
  shard.renew("b");
  shard.advance(1);
  shard.grant(idAt(ids, 1), "a");
  const step = shard.renew("a", asOf);
  expect(step.revision).toBe(shard.revision);
  const answer = renewalOf(step);
  expect(changesOf(answer)).toEqual(["successorSet ", "released g", "granted g"]);
  if (answer.kind !== "extended") throw new Error("it is extended");
  const revisions = answer.changes.map(({ revision }) => revision - asOf);
  expect(revisions).toEqual([1, 2, 5]);
  expect(answer.durations).toEqual([
    { keyspaceId, keyspace: "orders", durationMs: 3_000, renewIntervalMs: 1_000 },
  ]);
});

test("what ends by the renewal's own entry is told in its answer, and not extended", () => {
  const { shard, ids } = threeRanges();
  const asOf = shard.revision;
  shard.timeMs = 3_000;
  const answer = shard.renewed("a", asOf);
  expect(changesOf(answer)).toEqual(["expired ", "expired g", "expired p"]);
  expect(ids.every((rangeId) => shard.range(rangeId).owner === undefined)).toBe(true);
});

test("as_of above the renewal's own revision is refused, at it is not", () => {
  const { shard, rangeId } = shardWithOwner();
  const deadline = shard.deadline(rangeId);
  shard.timeMs = 500;
  expect(shard.renewed("a", shard.revision + 2)).toEqual({ kind: "asOfAhead" });
  expect(shard.deadline(rangeId)).toBe(deadline);
  expect(shard.renewed("a", shard.revision + 1).kind).toBe("extended");
});

test("a view older than the changes kept extends nothing and names the floor", () => {
  const { shard, rangeId } = shardWithOwner();
  const floor = shard.revision;
  shard.renew("a", floor);
  shard.timeMs = 500;
  const deadline = shard.deadline(rangeId);
  expect(shard.renewed("a", floor - 1)).toEqual({ kind: "viewTooOld", floor });
  expect(shard.deadline(rangeId)).toBe(deadline);
  expect(shard.renewed("a", floor).kind).toBe("extended");
});

test("a view from before the session opened is too old, the one just before it is complete", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.stage("i", keyspaceId, 0, [["", "a"], ["m"]]);
  shard.commit("i", keyspaceId, 2);
  const { revision } = shard.open("a");
  const floor = (revision - 1) as Revision;
  expect(shard.renewed("a", floor - 1)).toEqual({ kind: "viewTooOld", floor });
  expect(changesOf(shard.renewed("a", floor))).toEqual(["granted "]);
});

test("changes beyond the bound are cut by whole revisions, and older views are refused", () => {
  const { shard, rangeId } = shardWithOwner(1_000_000);
  const asOf = shard.revision;
  shard.open("b");
  for (let round = 0; round < 2_050; round++) {
    shard.grant(rangeId, "b");
    shard.withdraw(rangeId);
    if (round % 500 === 0) shard.renew("b");
  }
  const answer = shard.renewed("a", asOf);
  if (answer.kind !== "viewTooOld") throw new Error(`the answer is ${answer.kind}`);
  expect(answer.floor).toBeGreaterThan(asOf);
  const renewed = shard.renewed("a", answer.floor);
  if (renewed.kind !== "extended") throw new Error(`the answer is ${renewed.kind}`);
  const first = renewed.changes[0];
  expect(first?.revision).toBeGreaterThan(answer.floor);
});

test("two renewals of one session in one entry are judged one after the other", () => {
  const { shard, keyspaceId, ids } = threeRanges();
  const asOf = shard.revision;
  shard.timeMs = 1_000;
  const incarnation = 1 as Incarnation;
  const except = [excepted(keyspaceId, "g", "p")];
  const { result } = shard.apply({
    kind: "renew",
    renewals: [
      { nodeId: "a", incarnation, asOf, except, ...SENT_AGAIN },
      { nodeId: "b", incarnation, asOf, except: [], ...SENT_AGAIN },
      { nodeId: "a", incarnation, asOf: (asOf - 1) as Revision, except: [], ...SENT_AGAIN },
      { nodeId: "x", incarnation, asOf, except: [], ...SENT_AGAIN },
      { nodeId: "a", incarnation: 2 as Incarnation, asOf, except: [], ...SENT_AGAIN },
    ],
  });
  if (result.kind !== "renewed") throw new Error("a renewal is answered");
  const kinds = result.answers.map(({ kind }) => kind);
  expect(kinds).toEqual(["extended", "extended", "viewTooOld", "noSession", "noSession"]);
  expect(ids.map((rangeId) => shard.deadline(rangeId))).toEqual([4_000, 3_000, 4_000]);
});

test("a renewal covers each keyspace with that keyspace's own duration", () => {
  const { shard, ids } = threeRanges();
  const slow = shard.keyspace("archive", { leaseDurationMs: 20_000 });
  const [range] = shard.ranges(slow);
  if (range === undefined) throw new Error("a keyspace has a range");
  shard.grant(range.rangeId, "a");
  shard.timeMs = 1_000;
  shard.renew("a");
  expect(shard.deadline(idAt(ids, 0))).toBe(4_000);
  expect(shard.deadline(range.rangeId)).toBe(21_000);
});

test("renewing again at the same time moves nothing, and never shortens (law 11)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 1_000;
  shard.renew("a");
  shard.renew("a");
  expect(shard.deadline(rangeId)).toBe(4_000);
});

test("a renewal right after the grant counts: the grant is applied before it (etcd #6978)", () => {
  const { shard, rangeId } = shardWithOwner();
  expect(shard.renewed("a").kind).toBe("extended");
  expect(shard.deadline(rangeId)).toBe(3_000);
});
