/** Restarted nodes: with a proof at once, without one when the old leases have ended (law 13). */

import { expect, test } from "vitest";
import type { Incarnation } from "../../../src/base/brands.ts";
import {
  NOT_ASKED,
  changesOf,
  onlyRange,
  reasonOf,
  ShardHarness,
  shardWithOwner,
} from "./harness.ts";

/** Two keyspaces, "orders" with ranges "", g, p and "users" with one; node "a" holds all. */
function holderOfFour(): { shard: ShardHarness; orders: number; users: number } {
  const shard = new ShardHarness();
  const orders = shard.keyspace("orders");
  const users = shard.keyspace("users", { leaseDurationMs: 20_000 });
  shard.split(orders, "g", "p");
  shard.open("a");
  shard.open("b");
  for (const { rangeId } of [...shard.ranges(orders), ...shard.ranges(users)]) {
    shard.grant(rangeId, "a");
  }
  return { shard, orders, users };
}

test("a proof ends the predecessor's session and grants all it held anew, in one entry", () => {
  const { shard, orders, users } = holderOfFour();
  shard.timeMs = 100;
  const { result, events, revision } = shard.open("a", 2, 1);
  expect(result).toMatchObject({ kind: "sessionOpened", alreadyOpen: false, grantedCount: 4 });
  const told = events.map(({ cause, keyspaceId, changes }) => [cause, keyspaceId, changes.length]);
  expect(told).toEqual([
    ["restarted", orders, 3],
    ["restarted", users, 1],
    ["granted", orders, 3],
    ["granted", users, 1],
  ]);
  for (const range of [...shard.ranges(orders), ...shard.ranges(users)]) {
    expect(range).toMatchObject({ epoch: revision, owner: { nodeId: "a", incarnation: 2 } });
  }
  const [first] = shard.ranges(orders);
  expect(shard.deadline(first?.rangeId ?? "")).toBe(3_100);
});

test("the new incarnation's view from before is complete, and its renewal tells the grants", () => {
  const { shard } = holderOfFour();
  const { revision } = shard.open("a", 2, 1);
  const answer = shard.renewed("a", revision - 1, 2);
  expect(changesOf(answer)).toEqual(["granted ", "granted g", "granted p", "granted "]);
});

test("nothing of the dead incarnation has an effect any more", () => {
  const { shard, rangeId } = shardWithOwner();
  const { epoch } = shard.range(rangeId);
  shard.open("a", 2, 1);
  expect(shard.renewed("a")).toEqual({ kind: "noSession" });
  expect(reasonOf(shard.open("a", 1))).toBe("staleIncarnation");
  const ranges = [{ rangeId, epoch, handOverRevision: NOT_ASKED }];
  const late = { nodeId: "a", incarnation: 1 as Incarnation, ranges };
  const stale = { outcomes: [{ refused: "staleEpoch" }] };
  expect(shard.apply({ kind: "release", ...late }).result).toMatchObject(stale);
  expect(shard.apply({ kind: "accept", ...late }).result).toMatchObject(stale);
  expect(shard.range(rangeId).owner).toEqual({ nodeId: "a", incarnation: 2 });
});

test("what the entry itself has granted to the dead waits for the next: one epoch, one owner (law 3)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  shard.grant(rangeId, "b");
  // By one entry the lease would end, the dead "b" succeed, and the proof end "b" as well.
  shard.timeMs = 3_000;
  const early = shard.open("b", 2, 1);
  expect(early.events.map(({ cause }) => cause)).toEqual(["expired", "granted"]);
  expect(early.result).toMatchObject({ reason: "sessionLive", waitMs: 0 });
  const { events, revision } = shard.open("b", 2, 1);
  expect(events.map(({ cause }) => cause)).toEqual(["restarted", "granted"]);
  expect(revision).toBe(early.revision + 1);
  expect(shard.range(rangeId)).toMatchObject({
    epoch: revision,
    owner: { nodeId: "b", incarnation: 2 },
  });
});

test("a repeated opening with a proof finds its own session open, and ends nothing", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("a", 2, 1);
  const before = shard.range(rangeId);
  expect(shard.open("a", 2, 1)).toMatchObject({ result: { alreadyOpen: true }, events: [] });
  expect(shard.range(rangeId)).toBe(before);
});

test("a proof does not reach behind a registration that was not proven", () => {
  // 1 lives; 2 registered without a proof and never got in; 3 proves the end of 2 alone.
  const { shard, rangeId } = shardWithOwner();
  expect(shard.open("a", 3, 2).result).toMatchObject({ reason: "sessionLive", waitMs: 10_000 });
  expect(shard.renewed("a").kind).toBe("extended");
  expect(shard.range(rangeId).owner).toEqual({ nodeId: "a", incarnation: 1 });
});

test("a proof reaches back over registrations that never opened a session, if all were proven", () => {
  const { shard, rangeId } = shardWithOwner();
  expect(shard.open("a", 5, 1).result).toMatchObject({ kind: "sessionOpened", grantedCount: 1 });
  expect(shard.range(rangeId).owner).toEqual({ nodeId: "a", incarnation: 5 });
  shard.open("a", 9, 1);
  expect(shard.range(rangeId).owner).toEqual({ nodeId: "a", incarnation: 9 });
});

test("a proof ends other nodes' sessions no sooner", () => {
  const { shard, orders } = holderOfFour();
  const [first] = shard.ranges(orders);
  shard.open("b", 2, 1);
  expect(shard.range(first?.rangeId ?? "").owner).toEqual({ nodeId: "a", incarnation: 1 });
});

test("a recorded successor goes first: the range of the dead is granted to it (law 12)", () => {
  const { shard, orders } = holderOfFour();
  const ids = shard.ranges(orders).map(({ rangeId }) => rangeId);
  shard.grant(ids[1] ?? "", "b");
  const { result, revision } = shard.open("a", 2, 1);
  expect(result).toMatchObject({ grantedCount: 3 });
  const owners = shard.ranges(orders).map(({ owner, epoch }) => [owner?.nodeId, epoch]);
  expect(owners).toEqual([
    ["a", revision],
    ["b", revision],
    ["a", revision],
  ]);
});

test("a successor that is gone, too, leaves the range to the restarted node", () => {
  const { shard, orders } = holderOfFour();
  const [first] = shard.ranges(orders);
  const rangeId = first?.rangeId ?? "";
  shard.grant(rangeId, "b");
  shard.timeMs = 2_000;
  shard.open("b", 2, 1);
  shard.open("a", 2, 1);
  expect(shard.range(rangeId)).toMatchObject({
    owner: { nodeId: "a", incarnation: 2 },
    successor: undefined,
  });
});

test("what had run out before the proof came is not granted anew", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 3_000;
  const { result, events } = shard.open("a", 2, 1);
  expect(result).toMatchObject({ kind: "sessionOpened", grantedCount: 0 });
  expect(events.map(({ cause }) => cause)).toEqual(["expired"]);
  expect(shard.range(rangeId)).toMatchObject({ owner: undefined, intendedNodeId: undefined });
});

test("without a proof, ranges whose leases end while it waits are granted by its opening", () => {
  const { shard, orders, users } = holderOfFour();
  expect(shard.open("a", 2).result).toMatchObject({ reason: "sessionLive", waitMs: 20_000 });
  shard.advance(3_000);
  for (const range of shard.ranges(orders)) {
    expect(range).toMatchObject({ owner: undefined, intendedNodeId: "a" });
  }
  expect(shard.range(onlyRange(shard, users)).owner).toEqual({ nodeId: "a", incarnation: 1 });
  shard.timeMs = 19_999;
  expect(shard.open("a", 2).result).toMatchObject({ reason: "sessionLive", waitMs: 1 });
  shard.timeMs = 20_000;
  // The entry ends what was left of the old session, and grants all.
  const { result, events, revision } = shard.open("a", 2);
  expect(result).toMatchObject({ kind: "sessionOpened", grantedCount: 4 });
  expect(events.map(({ cause }) => cause)).toEqual(["expired", "granted", "granted"]);
  for (const range of [...shard.ranges(orders), ...shard.ranges(users)]) {
    const owner = { nodeId: "a", incarnation: 2 };
    expect(range).toMatchObject({ epoch: revision, owner, intendedNodeId: undefined });
  }
});

test("leases that end with nobody waiting leave their ranges to be granted to anyone", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.advance(3_000);
  expect(shard.range(rangeId).intendedNodeId).toBeUndefined();
  shard.advance(7_000);
  expect(shard.open("a", 2).result).toMatchObject({ grantedCount: 0 });
});

test("a range that waits for its node may still be granted to another one", () => {
  const { shard, orders } = holderOfFour();
  const [first] = shard.ranges(orders);
  const rangeId = first?.rangeId ?? "";
  shard.open("a", 2);
  for (let at = 0; at < 2; at++) {
    shard.renew("b");
    shard.advance(1_500);
  }
  expect(shard.range(rangeId).intendedNodeId).toBe("a");
  shard.grant(rangeId, "b");
  expect(shard.range(rangeId)).toMatchObject({
    owner: { nodeId: "b" },
    intendedNodeId: undefined,
  });
});

test("an older process that lives and has another waiting is granted nothing by an import", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.open("a");
  shard.open("a", 2);
  shard.stage("i", keyspaceId, 0, [["", "a"]]);
  expect(shard.commit("i", keyspaceId, 1).result).toMatchObject({ grantedCount: 0 });
  shard.advance(10_000);
  expect(shard.open("a", 2).result).toMatchObject({ grantedCount: 1 });
});

test("a session keeps the addresses of its own incarnation (law 13)", () => {
  const { shard } = shardWithOwner();
  const addresses = (): readonly string[] | undefined =>
    shard.machine.state.sessions.get("a")?.addresses;
  shard.open("a", 2);
  expect(addresses()).toEqual(["a:1"]);
  shard.open("a", 3, 1);
  expect(addresses()).toEqual(["a:3"]);
});
