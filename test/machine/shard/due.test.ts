/** What is due ends first, and who is next gets it then: laws 9, 11 and 12. */

import { expect, test } from "vitest";
import type { Incarnation, Revision } from "../../../src/base/brands.ts";
import type { ShardCommand, ShardRequest } from "../../../src/machine/shard/commands.ts";
import type { ShardEvent } from "../../../src/machine/shard/events.ts";
import { STAGING_MS } from "../../../src/machine/shard/keyspaces.ts";
import { excepted, onlyRange, reasonOf, ShardHarness, shardWithOwner } from "./harness.ts";

function causes(events: readonly ShardEvent[]): string[] {
  return events.map(({ cause, keyspaceId, changes }) => `${cause} ${keyspaceId}:${changes.length}`);
}

const EVERY_COMMAND: readonly ShardCommand[] = [
  { kind: "expire" },
  { kind: "renew", renewals: [] },
  {
    kind: "openSession",
    nodeId: "x",
    incarnation: 9 as Incarnation,
    provenSince: 9 as Incarnation,
    addresses: [],
  },
  { kind: "accept", nodeId: "x", incarnation: 9 as Incarnation, ranges: [] },
  { kind: "release", nodeId: "x", incarnation: 9 as Incarnation, ranges: [] },
  { kind: "grant", items: [], onlyUnowned: false, handOver: false },
  { kind: "defineRanges", keyspaceId: 77, splitKeys: [] },
  { kind: "stageImport", importId: "i", keyspaceId: 77, part: 0, rows: [] },
  { kind: "commitImport", importId: "i", keyspaceId: 77, rowCount: 0 },
  { kind: "abortImport", importId: "i", keyspaceId: 77 },
];

test("every entry ends what is due before its own effect, also one that is refused (law 9)", () => {
  for (const command of EVERY_COMMAND) {
    const { shard, rangeId } = shardWithOwner();
    shard.timeMs = 3_000;
    const { events } = shard.apply(command);
    expect(events[0]?.cause, command.kind).toBe("expired");
    expect(shard.range(rangeId).owner, command.kind).toBeUndefined();
  }
});

test("a leader's noop ends what is due as well", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 3_000;
  expect(causes(shard.noop())).toEqual(["expired 1:1"]);
  expect(shard.range(rangeId).owner).toBeUndefined();
});

test("a repeated request ends what is due, though it does not run again", () => {
  const { shard, rangeId } = shardWithOwner();
  const requestId: ShardRequest["requestId"] = {
    clientId: "cli",
    sequence: 1,
    seenRevision: 0 as Revision,
    acknowledgedBelow: 0,
  };
  const command: ShardCommand = { kind: "grant", items: [], onlyUnowned: false, handOver: false };
  shard.apply(command, requestId);
  shard.timeMs = 3_000;
  const { answer, events } = shard.apply(command, requestId);
  expect(answer.replayed).toBe(true);
  expect(causes(events)).toEqual(["expired 1:1"]);
  expect(shard.range(rangeId).owner).toBeUndefined();
});

test("a lease ends at its deadline, not a millisecond before", () => {
  const { shard, rangeId } = shardWithOwner();
  expect(shard.machine.nextDueMs()).toBe(3_000);
  expect(shard.advance(2_999).events).toEqual([]);
  expect(causes(shard.advance(1).events)).toEqual(["expired 1:1"]);
  expect(shard.range(rangeId).owner).toBeUndefined();
});

test("Expire names nobody: late, early and repeated ones end only what is due", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 2_500;
  shard.renew("a");
  shard.timeMs = 3_000;
  for (let copy = 0; copy < 3; copy++) expect(shard.apply({ kind: "expire" }).events).toEqual([]);
  expect(shard.range(rangeId).owner?.nodeId).toBe("a");
  shard.timeMs = 5_500;
  expect(shard.apply({ kind: "expire" }).events).toHaveLength(1);
  expect(shard.apply({ kind: "expire" }).events).toEqual([]);
});

test("a deposed leader's Expire that commits after a renewal is harmless (etcd #12528)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 2_990;
  shard.renew("a");
  const { epoch } = shard.range(rangeId);
  // Proposed at 3,000 by a leader that had not seen the renewal; stamped when it was appended.
  shard.timeMs = 3_010;
  expect(shard.apply({ kind: "expire" }).events).toEqual([]);
  expect(shard.range(rangeId)).toMatchObject({ epoch, owner: { nodeId: "a" } });
});

test("a session's mass expiry is one event per keyspace, in key order (law 9)", () => {
  const shard = new ShardHarness();
  const orders = shard.keyspace("orders");
  const users = shard.keyspace("users");
  shard.split(orders, "c", "g", "p");
  shard.split(users, "m");
  for (const nodeId of ["b", "a"]) shard.open(nodeId);
  for (const [at, { rangeId }] of [...shard.ranges(orders), ...shard.ranges(users)].entries()) {
    shard.grant(rangeId, at % 2 === 0 ? "b" : "a");
  }
  const { events } = shard.advance(3_000);
  expect(causes(events)).toEqual(["expired 1:2", "expired 2:1", "expired 1:2", "expired 2:1"]);
  const owners = events.map(({ changes }) => changes[0]?.before?.owner?.nodeId);
  expect(owners).toEqual(["a", "a", "b", "b"]);
  for (const { descriptorRevision, owner } of [...shard.ranges(orders), ...shard.ranges(users)]) {
    expect(owner).toBeUndefined();
    expect(descriptorRevision).toBe(shard.revision);
  }
});

test("standings end first, then single ranges, then successors are granted (law 9)", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "g");
  const [low, high] = shard.ranges(keyspaceId).map(({ rangeId }) => rangeId);
  if (low === undefined || high === undefined) throw new Error("there are two ranges");
  for (const nodeId of ["a", "b", "c"]) shard.open(nodeId);
  shard.grant(low, "b");
  shard.grant(high, "c");
  shard.grant(low, "a");
  shard.grant(high, "a");
  shard.timeMs = 500;
  // "b" goes on but for the range itself; "c" says nothing more.
  shard.renew("b");
  shard.renew("a");
  const { events } = shard.advance(2_500);
  expect(causes(events)).toEqual(["expired 1:1", "expired 1:1", "granted 1:2"]);
  const ended = events.slice(0, 2).map(({ changes }) => changes[0]?.before?.owner?.nodeId);
  expect(ended).toEqual(["c", "b"]);
  expect(shard.ranges(keyspaceId).map(({ owner }) => owner?.nodeId)).toEqual(["a", "a"]);
  expect(shard.ranges(keyspaceId).map(({ epoch }) => epoch)).toEqual([
    shard.revision,
    shard.revision,
  ]);
  expect(shard.deadline(low)).toBe(6_000);
});

test("the successor waits the full D of the last renewal, and no longer (law 12)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 1_000;
  shard.renew("a");
  shard.open("b");
  const step = shard.grant(rangeId, "b");
  expect(step.result).toMatchObject({
    outcomes: [{ kind: "successorRecorded", waitMs: 3_000, leaseDurationMs: 3_000 }],
  });
  shard.timeMs = 3_500;
  shard.renew("a");
  shard.renew("b");
  shard.timeMs = 3_999;
  shard.apply({ kind: "expire" });
  expect(shard.range(rangeId).owner?.nodeId).toBe("a");
  expect(causes(shard.advance(1).events)).toEqual(["expired 1:1", "granted 1:1"]);
  expect(shard.range(rangeId)).toMatchObject({ owner: { nodeId: "b" }, successor: undefined });
});

test("a release hands over to the recorded successor in the same entry (law 12)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  shard.grant(rangeId, "b");
  const { events, revision } = shard.release(rangeId, "a");
  expect(causes(events)).toEqual(["released 1:1", "granted 1:1"]);
  expect(shard.range(rangeId)).toMatchObject({ owner: { nodeId: "b" }, epoch: revision });
});

test("a successor whose session ends by the same entry is not granted anything (etcd #11456)", () => {
  const { shard, rangeId } = shardWithOwner(20_000);
  shard.open("b");
  shard.grant(rangeId, "b");
  const { events } = shard.advance(20_000);
  expect(causes(events)).toEqual(["expired 1:1", "successorLifted 1:1"]);
  expect(shard.range(rangeId)).toMatchObject({ owner: undefined, successor: undefined });
});

test("a successor that came back as another incarnation is not the one that was recorded", () => {
  const { shard, rangeId } = shardWithOwner(20_000);
  shard.open("b");
  shard.grant(rangeId, "b");
  shard.advance(10_000);
  shard.open("b", 2);
  shard.timeMs = 19_000;
  shard.renew("b", shard.revision, 2);
  shard.advance(1_000);
  expect(shard.machine.state.sessions.get("b")?.incarnation).toBe(2);
  expect(shard.range(rangeId)).toMatchObject({ owner: undefined, successor: undefined });
});

test("only one successor is recorded; another is refused with the wait (law 12)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  shard.open("c");
  shard.grant(rangeId, "b");
  const { result } = shard.grant(rangeId, "c");
  expect(result).toMatchObject({ reason: "successorRecorded", waitMs: 3_000 });
  expect(shard.grant(rangeId, "b").events).toEqual([]);
  expect(shard.grant(rangeId, "c", true).result).toMatchObject({ reason: "leaseHeld" });
  expect(reasonOf(shard.withdraw(rangeId))).toBe("successorWithdrawn");
  expect(reasonOf(shard.withdraw(rangeId))).toBe("noSuccessor");
});

test("a standing lasts as long as the latest lease, the session as its last standing (law 11)", () => {
  const shard = new ShardHarness();
  const slow = shard.keyspace("archive", { leaseDurationMs: 15_000 });
  const fast = shard.keyspace("orders");
  shard.open("a");
  shard.timeMs = 1_000;
  shard.grant(onlyRange(shard, fast), "a");
  shard.grant(onlyRange(shard, slow), "a");
  expect(causes(shard.advance(3_000).events)).toEqual(["expired 2:1"]);
  expect(shard.machine.state.sessions.has("a")).toBe(true);
  shard.timeMs = 15_999;
  shard.apply({ kind: "expire" });
  expect(shard.machine.state.sessions.has("a")).toBe(true);
  expect(causes(shard.advance(1).events)).toEqual(["expired 1:1"]);
  expect(shard.machine.state.sessions.has("a")).toBe(false);
});

test("a lease that was renewed ends without the one that was granted later", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "m");
  const [low, high] = shard.ranges(keyspaceId).map(({ rangeId }) => rangeId);
  if (low === undefined || high === undefined) throw new Error("there are two ranges");
  shard.open("a");
  shard.grant(low, "a");
  shard.timeMs = 1_000;
  shard.renew("a");
  shard.timeMs = 2_000;
  shard.grant(high, "a");
  expect(shard.advance(1_999).events).toEqual([]);
  expect(causes(shard.advance(1).events)).toEqual(["expired 1:1"]);
  expect(shard.range(low).owner).toBeUndefined();
  expect(shard.range(high).owner?.nodeId).toBe("a");
  expect(causes(shard.advance(1_000).events)).toEqual(["expired 1:1"]);
});

test("nothing is due in a shard that holds nothing, and the next thing is the earliest", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  expect(shard.machine.nextDueMs()).toBeUndefined();
  shard.stage("i", keyspaceId, 0, [[""]]);
  expect(shard.machine.nextDueMs()).toBe(STAGING_MS);
  shard.open("a");
  expect(shard.machine.nextDueMs()).toBe(10_000);
  shard.grant(onlyRange(shard, keyspaceId), "a");
  expect(shard.machine.nextDueMs()).toBe(3_000);
  shard.timeMs = 2_000;
  shard.renew("a", shard.revision, 1, [excepted(keyspaceId, "")]);
  expect(shard.machine.nextDueMs()).toBe(3_000);
  shard.renew("a");
  expect(shard.machine.nextDueMs()).toBe(5_000);
});
