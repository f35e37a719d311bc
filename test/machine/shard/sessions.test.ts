/** Sessions: who may open one, how long the others wait, and what a dead one cannot do (law 13). */

import { expect, test } from "vitest";
import { changesOf, onlyRange, reasonOf, ShardHarness, shardWithOwner } from "./harness.ts";

test("a newer incarnation waits for the older session, which renews undisturbed meanwhile", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 1_000;
  expect(shard.open("a", 2).result).toMatchObject({ reason: "sessionLive", waitMs: 9_000 });
  expect(shard.renewed("a").kind).toBe("extended");
  expect(shard.deadline(rangeId)).toBe(4_000);
  expect(shard.open("a", 2).result).toMatchObject({ reason: "sessionLive", waitMs: 10_000 });
  shard.timeMs = 10_999;
  expect(shard.open("a", 2).result).toMatchObject({ waitMs: 1 });
  shard.timeMs = 11_000;
  expect(shard.open("a", 2).result).toMatchObject({ kind: "sessionOpened", alreadyOpen: false });
});

test("a session that a newer incarnation waits for is granted nothing more, so that it ends", () => {
  const { shard, rangeId } = shardWithOwner();
  expect(reasonOf(shard.open("a", 2))).toBe("sessionLive");
  expect(shard.grant(rangeId, "a").result).toMatchObject({ outcomes: [{ kind: "alreadyOwner" }] });
  shard.advance(9_000);
  expect(shard.range(rangeId).owner).toBeUndefined();
  expect(reasonOf(shard.grant(rangeId, "a"))).toBe("staleIncarnation");
  shard.advance(1_000);
  expect(shard.open("a", 2).result).toMatchObject({ kind: "sessionOpened", alreadyOpen: false });
  expect(shard.range(rangeId).owner).toEqual({ nodeId: "a", incarnation: 2 });
});

test("a newer incarnation that never comes back does not keep grants from the older for ever", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("a", 2);
  shard.release(rangeId, "a");
  for (let at = 0; at < 4; at++) {
    expect(reasonOf(shard.grant(rangeId, "a"))).toBe("staleIncarnation");
    shard.timeMs += 5_000;
    expect(shard.renewed("a").kind).toBe("extended");
  }
  expect(shard.grant(rangeId, "a").result).toMatchObject({ outcomes: [{ kind: "granted" }] });
});

test("the wait covers the longest standing, not only the base one", () => {
  const { shard } = shardWithOwner(25_000);
  expect(shard.open("a", 2).result).toMatchObject({ reason: "sessionLive", waitMs: 25_000 });
});

test("once a newer incarnation opened, the older is refused for ever", () => {
  const shard = new ShardHarness();
  shard.open("a", 5);
  expect(reasonOf(shard.open("a", 4))).toBe("staleIncarnation");
  shard.advance(10_000);
  expect(shard.machine.state.sessions.has("a")).toBe(false);
  expect(reasonOf(shard.open("a", 4))).toBe("staleIncarnation");
  shard.open("a", 6);
  shard.advance(10_000);
  expect(reasonOf(shard.open("a", 5))).toBe("staleIncarnation");
});

test("a newer incarnation that was only made to wait does not shut the older out", () => {
  const shard = new ShardHarness();
  shard.open("a", 1);
  expect(reasonOf(shard.open("a", 2))).toBe("sessionLive");
  expect(shard.open("a", 1).result).toMatchObject({ alreadyOpen: true });
  expect(shard.renewed("a").kind).toBe("extended");
});

test("opening again while it is open changes nothing; after its end it is a new session", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 2_000;
  const again = shard.open("a");
  expect(again.result).toMatchObject({ alreadyOpen: true, grantedCount: 0 });
  expect(shard.deadline(rangeId)).toBe(3_000);
  expect(shard.machine.nextDueMs()).toBe(3_000);
  shard.advance(10_000);
  const asOf = shard.revision;
  const { result } = shard.open("a");
  expect(result).toMatchObject({ kind: "sessionOpened", alreadyOpen: false });
  expect(shard.range(rangeId).owner).toBeUndefined();
  expect(shard.renewed("a", asOf - 1).kind).toBe("viewTooOld");
});

test("a view from before a session's second opening extends nothing: it may show what ended", () => {
  const { shard, rangeId } = shardWithOwner(10_000);
  const asOf = shard.revision;
  shard.timeMs = 10_000;
  // One entry: the first session ends with its range, then the same incarnation opens again.
  const { events, revision } = shard.open("a");
  expect(events.map(({ cause }) => cause)).toEqual(["expired"]);
  expect(shard.renewed("a", asOf)).toEqual({ kind: "viewTooOld", floor: revision });
  expect(shard.renewed("a", revision).kind).toBe("extended");
  expect(shard.range(rangeId).owner).toBeUndefined();
});

test("a session that ended renews nothing, and releases nothing (law 8)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.advance(10_000);
  expect(shard.renewed("a")).toEqual({ kind: "noSession" });
  expect(shard.release(rangeId, "a").events).toEqual([]);
  expect(shard.accept(rangeId, "a", shard.range(rangeId).epoch).result).toMatchObject({
    outcomes: [{ refused: "notOwner" }],
  });
});

test("an open session states the terms of every keyspace", () => {
  const shard = new ShardHarness();
  shard.keyspace("orders");
  shard.keyspace("users", { leaseDurationMs: 9_000, renewIntervalMs: 2_000 });
  const { result } = shard.open("a");
  if (result.kind !== "sessionOpened") throw new Error("it opens");
  const terms = result.durations.map(({ keyspace, durationMs }) => [keyspace, durationMs]);
  expect(terms).toEqual([
    ["orders", 3_000],
    ["users", 9_000],
  ]);
});

test("intended ranges are granted by the entry that opens their node's session", () => {
  const shard = new ShardHarness();
  const orders = shard.keyspace("orders");
  const users = shard.keyspace("users");
  shard.stage("i", orders, 0, [
    ["", "a"],
    ["g", "b"],
    ["p", "a"],
  ]);
  shard.commit("i", orders, 3);
  shard.stage("j", users, 0, [["", "a"]]);
  shard.commit("j", users, 1);
  const { result, events, revision } = shard.open("a");
  expect(result).toMatchObject({ grantedCount: 3 });
  expect(events.map(({ cause, keyspaceId }) => [cause, keyspaceId])).toEqual([
    ["granted", orders],
    ["granted", users],
  ]);
  const owners = shard.ranges(orders).map(({ owner, epoch }) => [owner?.nodeId, epoch]);
  expect(owners).toEqual([
    ["a", revision],
    [undefined, 0],
    ["a", revision],
  ]);
  expect(changesOf(shard.renewed("a", revision - 1))).toEqual([
    "granted ",
    "granted p",
    "granted ",
  ]);
});

test("a range that was meant for a node and went to another is not granted again", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.stage("i", keyspaceId, 0, [["", "a"]]);
  shard.commit("i", keyspaceId, 1);
  shard.open("b");
  shard.grant(onlyRange(shard, keyspaceId), "b");
  expect(shard.open("a").result).toMatchObject({ grantedCount: 0 });
  shard.release(onlyRange(shard, keyspaceId), "b");
  shard.advance(10_000);
  expect(shard.open("a").result).toMatchObject({ grantedCount: 0 });
});
