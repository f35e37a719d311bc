/** Epochs, descriptor revisions, preconditions, acceptances and releases: laws 3, 4, 5, 6, 17. */

import { expect, test } from "vitest";
import type { Epoch, Incarnation, Revision } from "../../../src/base/brands.ts";
import type { GrantItem } from "../../../src/machine/shard/commands.ts";
import { NOT_ASKED, onlyRange, reasonOf, ShardHarness, shardWithOwner } from "./harness.ts";

test("a grant's epoch is the revision of its entry, and a renewal never changes it (law 3)", () => {
  const { shard, rangeId } = shardWithOwner();
  expect(shard.range(rangeId).epoch).toBe(shard.revision);
  const { epoch } = shard.range(rangeId);
  shard.renew("a");
  expect(shard.range(rangeId).epoch).toBe(epoch);
});

test("an unowned range keeps its last epoch, and the next grant gives a larger one (law 3)", () => {
  const { shard, rangeId } = shardWithOwner();
  const { epoch } = shard.range(rangeId);
  shard.release(rangeId, "a");
  expect(shard.range(rangeId)).toMatchObject({ owner: undefined, epoch });
  shard.grant(rangeId, "a");
  expect(shard.range(rangeId).epoch).toBeGreaterThan(epoch);
});

test("a new incarnation of the same node is another owner with a new epoch (law 3)", () => {
  const { shard, rangeId } = shardWithOwner();
  const { epoch } = shard.range(rangeId);
  shard.advance(10_000);
  shard.open("a", 2);
  shard.grant(rangeId, "a");
  expect(shard.range(rangeId).owner).toEqual({ nodeId: "a", incarnation: 2 });
  expect(shard.range(rangeId).epoch).toBeGreaterThan(epoch);
});

test("successors, acceptances and renewals leave the descriptor revision alone (law 4)", () => {
  const { shard, rangeId } = shardWithOwner();
  const { epoch, descriptorRevision } = shard.range(rangeId);
  expect(descriptorRevision).toBe(epoch);
  shard.open("b");
  shard.grant(rangeId, "b");
  shard.withdraw(rangeId);
  shard.accept(rangeId, "a", epoch);
  shard.renew("a");
  expect(shard.range(rangeId).descriptorRevision).toBe(descriptorRevision);
  const { revision } = shard.release(rangeId, "a");
  expect(shard.range(rangeId).descriptorRevision).toBe(revision);
});

function itemOf(shard: ShardHarness, rangeId: string, change: Partial<GrantItem> = {}): GrantItem {
  const { epoch, descriptorRevision } = shard.range(rangeId);
  return {
    rangeId,
    nodeId: "a",
    expectedEpoch: epoch,
    expectedDescriptorRevision: descriptorRevision,
    incarnation: undefined,
    ...change,
  };
}

test("a grant that expects another epoch or descriptor is refused with the range (law 5)", () => {
  const { shard, rangeId } = shardWithOwner();
  const cases: [string, Partial<GrantItem>][] = [
    ["staleEpoch", { expectedEpoch: (shard.range(rangeId).epoch - 1) as Epoch }],
    ["epochAhead", { expectedEpoch: (shard.range(rangeId).epoch + 1) as Epoch }],
    ["staleDescriptor", { expectedDescriptorRevision: shard.revision as Revision }],
    ["noSession", { nodeId: "nobody" }],
    ["noSession", { incarnation: 2 as Incarnation }],
    ["staleIncarnation", { incarnation: 0 as Incarnation }],
    ["rangeNotFound", { rangeId: "1.1.9" }],
  ];
  shard.apply({ kind: "expire" });
  shard.release(rangeId, "a");
  const before = shard.range(rangeId);
  for (const [reason, change] of cases) {
    const item = { ...itemOf(shard, rangeId), ...change };
    const step = shard.apply({ kind: "grant", items: [item], onlyUnowned: false, handOver: false });
    expect(reasonOf(step)).toBe(reason);
    expect(step.events).toEqual([]);
    expect(shard.range(rangeId)).toBe(before);
  }
});

test("a grant of several ranges changes all of them or none, and names the item", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "m");
  shard.open("a");
  const items = shard.ranges(keyspaceId).map(({ rangeId }) => itemOf(shard, rangeId));
  const [first, second] = items;
  if (first === undefined || second === undefined) throw new Error("there are two ranges");
  const bad = [first, { ...second, expectedEpoch: 7 as Epoch }];
  const refused = shard.apply({ kind: "grant", items: bad, onlyUnowned: false, handOver: false });
  expect(refused.result).toMatchObject({ reason: "epochAhead", item: 1 });
  const repeated = shard.apply({
    kind: "grant",
    items: [first, first],
    onlyUnowned: false,
    handOver: false,
  });
  expect(repeated.result).toMatchObject({ reason: "repeatedRange", item: 1 });
  expect(shard.ranges(keyspaceId).every(({ owner }) => owner === undefined)).toBe(true);
  const { events, revision } = shard.apply({
    kind: "grant",
    items,
    onlyUnowned: false,
    handOver: false,
  });
  expect(events).toHaveLength(1);
  expect(shard.ranges(keyspaceId).map(({ epoch }) => epoch)).toEqual([revision, revision]);
});

test("a grant to the present owner says so and changes nothing", () => {
  const { shard, rangeId } = shardWithOwner();
  const before = shard.range(rangeId);
  shard.timeMs += 100;
  const deadline = shard.deadline(rangeId);
  const { result, events } = shard.grant(rangeId, "a");
  expect(result).toMatchObject({ kind: "grantsDone", outcomes: [{ kind: "alreadyOwner" }] });
  expect(events).toEqual([]);
  expect(shard.range(rangeId)).toBe(before);
  expect(shard.deadline(rangeId)).toBe(deadline);
});

test("only the owner's present epoch is accepted, and once it is, again without effect (law 17)", () => {
  const { shard, rangeId } = shardWithOwner();
  const { epoch } = shard.range(rangeId);
  expect(shard.range(rangeId).acceptedEpoch).toBe(0);
  const judged = (step: ReturnType<ShardHarness["accept"]>): unknown =>
    step.result.kind === "rangesJudged" ? step.result.outcomes[0]?.refused : step.result.kind;
  expect(judged(shard.accept(rangeId, "a", (epoch - 1) as Epoch))).toBe("staleEpoch");
  expect(judged(shard.accept(rangeId, "a", (epoch + 1) as Epoch))).toBe("staleEpoch");
  expect(judged(shard.accept(rangeId, "b", epoch))).toBe("notOwner");
  expect(judged(shard.accept(rangeId, "a", epoch, 2))).toBe("notOwner");
  expect(judged(shard.accept("1.1.7", "a", epoch))).toBe("notFound");
  const first = shard.accept(rangeId, "a", epoch);
  expect(judged(first)).toBeUndefined();
  expect(first.events.map(({ cause }) => cause)).toEqual(["accepted"]);
  const again = shard.accept(rangeId, "a", epoch);
  expect(judged(again)).toBeUndefined();
  expect(again.events).toEqual([]);
  shard.release(rangeId, "a");
  expect(judged(shard.accept(rangeId, "a", epoch))).toBe("notOwner");
  expect(shard.range(rangeId).acceptedEpoch).toBe(epoch);
});

test("each range of a release is judged on its own", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "g", "p");
  shard.open("a");
  shard.open("b");
  const ids = shard.ranges(keyspaceId).map(({ rangeId }) => rangeId);
  for (const [at, rangeId] of ids.entries()) shard.grant(rangeId, at === 1 ? "b" : "a");
  const ranges = ids.map((rangeId) => {
    return { rangeId, epoch: shard.range(rangeId).epoch, handOverRevision: NOT_ASKED };
  });
  const twice = [...ranges, ...ranges.slice(0, 1)];
  const { result } = shard.apply({
    kind: "release",
    nodeId: "a",
    incarnation: 1 as Incarnation,
    ranges: twice,
  });
  if (result.kind !== "rangesJudged") throw new Error("a release judges ranges");
  const refused = result.outcomes.map((outcome) => outcome.refused);
  expect(refused).toEqual([undefined, "notOwner", undefined, "notOwner"]);
  const owners = shard.ranges(keyspaceId).map(({ owner }) => owner?.nodeId);
  expect(owners).toEqual([undefined, "b", undefined]);
});

test("a late release or renewal of an earlier epoch touches nobody (B07)", () => {
  const { shard, rangeId } = shardWithOwner();
  const { epoch: e1 } = shard.range(rangeId);
  const late = {
    kind: "release",
    nodeId: "a",
    incarnation: 1 as Incarnation,
    ranges: [{ rangeId, epoch: e1, handOverRevision: NOT_ASKED }],
  } as const;
  shard.open("b");
  shard.advance(3_000);
  shard.grant(rangeId, "b");
  const ofB = shard.range(rangeId);
  const deadline = shard.deadline(rangeId);
  expect(shard.apply(late)).toMatchObject({
    events: [],
    result: { outcomes: [{ refused: "staleEpoch", currentEpoch: ofB.epoch }] },
  });
  shard.renew("a", e1);
  expect(shard.range(rangeId)).toBe(ofB);
  expect(shard.deadline(rangeId)).toBe(deadline);
  shard.release(rangeId, "b");
  shard.grant(rangeId, "a");
  const again = shard.range(rangeId);
  expect(again.owner).toEqual({ nodeId: "a", incarnation: 1 });
  expect(shard.apply(late).events).toEqual([]);
  expect(shard.range(rangeId)).toBe(again);
});

test("what names a range of a replaced map is unknown, whatever its bounds (B26)", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  const retired = onlyRange(shard, keyspaceId);
  shard.split(keyspaceId);
  shard.open("a");
  const present = onlyRange(shard, keyspaceId);
  expect(present).not.toBe(retired);
  const stale = itemOf(shard, present, { rangeId: retired });
  const grant = shard.apply({ kind: "grant", items: [stale], onlyUnowned: false, handOver: false });
  expect(reasonOf(grant)).toBe("rangeNotFound");
  shard.grant(present, "a");
  const { epoch } = shard.range(present);
  for (const kind of ["release", "accept"] as const) {
    const ranges = [{ rangeId: retired, epoch, handOverRevision: NOT_ASKED }];
    const step = shard.apply({ kind, nodeId: "a", incarnation: 1 as Incarnation, ranges });
    expect(step.result).toMatchObject({ outcomes: [{ refused: "notFound" }] });
    expect(step.events).toEqual([]);
  }
  expect(shard.range(present)).toMatchObject({ epoch, acceptedEpoch: 0 });
});
