/** What a change of leaders does to leases: grace, its cap, and what it costs (law 11). */

import { expect, test } from "vitest";
import { excepted, reasonOf, setDuration, type ShardHarness, shardWithOwner } from "./harness.ts";

/** What a new leader gives: four seconds, stated here once more. */
const GRACE_MS = 4_000;

function noopAt(shard: ShardHarness, timeMs: number): readonly unknown[] {
  shard.timeMs = timeMs;
  return shard.noop();
}

test("a lease that would end within the grace ends with it (law 11)", () => {
  const { shard, rangeId } = shardWithOwner(6_000);
  noopAt(shard, 5_000);
  expect(shard.deadline(rangeId)).toBe(5_000 + GRACE_MS);
  expect(shard.machine.nextDueMs()).toBe(5_000 + GRACE_MS);
  expect(shard.advance(GRACE_MS - 1).events).toEqual([]);
  expect(shard.advance(1).events.map(({ cause }) => cause)).toEqual(["expired"]);
});

test("a lease that lasts longer than the grace is not touched by it", () => {
  const { shard, rangeId } = shardWithOwner(6_000);
  noopAt(shard, 1_999);
  expect(shard.deadline(rangeId)).toBe(6_000);
  expect(shard.machine.nextDueMs()).toBe(6_000);
});

test("what is due at the noop has ended, and its grace revives nothing", () => {
  const { shard, rangeId } = shardWithOwner(3_000);
  const { epoch } = shard.range(rangeId);
  expect(noopAt(shard, 3_000)).toHaveLength(1);
  expect(shard.range(rangeId)).toMatchObject({ owner: undefined, epoch });
  expect(noopAt(shard, 3_500)).toEqual([]);
  expect(shard.range(rangeId).owner).toBeUndefined();
});

test("no lease is immortal: graces never reach beyond 2D from the renewal (etcd #9888)", () => {
  const { shard, rangeId } = shardWithOwner(3_000);
  shard.timeMs = 1_000;
  shard.renew("a");
  while (shard.timeMs < 6_900) {
    expect(noopAt(shard, shard.timeMs + 100)).toEqual([]);
    expect(shard.deadline(rangeId)).toBe(Math.min(shard.timeMs + GRACE_MS, 1_000 + 2 * 3_000));
  }
  expect(noopAt(shard, 7_000)).toMatchObject([{ cause: "expired" }]);
  expect(shard.range(rangeId).owner).toBeUndefined();
});

test("a renewal in the grace counts from its own moment, with a cap of its own", () => {
  const { shard, rangeId } = shardWithOwner(3_000);
  const { epoch } = shard.range(rangeId);
  noopAt(shard, 2_900);
  shard.timeMs = 5_000;
  shard.renew("a");
  expect(shard.deadline(rangeId)).toBe(8_000);
  expect(shard.range(rangeId).epoch).toBe(epoch);
  for (const atMs of [7_900, 10_900]) noopAt(shard, atMs);
  expect(shard.deadline(rangeId)).toBe(11_000);
});

test("a session, its waits and its base standing last as long as the grace says", () => {
  const { shard } = shardWithOwner(3_000);
  noopAt(shard, 9_000);
  const refused = shard.open("a", 2);
  expect(refused.result).toMatchObject({ reason: "sessionLive", waitMs: GRACE_MS });
  expect(reasonOf(shard.advance(GRACE_MS - 1))).toBe("done");
  expect(reasonOf(shard.open("a", 2))).toBe("sessionLive");
  shard.timeMs += 1;
  expect(reasonOf(shard.open("a", 2))).toBe("sessionOpened");
});

test("a successor waits for the grace, and is told so", () => {
  const { shard, rangeId } = shardWithOwner(3_000);
  shard.open("b");
  noopAt(shard, 2_000);
  const { result } = shard.grant(rangeId, "b");
  expect(result).toMatchObject({ outcomes: [{ kind: "successorRecorded", waitMs: GRACE_MS }] });
  // Cut loose from the renewals, it still has the cap of its grant.
  noopAt(shard, 4_000);
  shard.renew("a");
  expect(shard.deadline(rangeId)).toBe(6_000);
  expect(shard.advance(1_999).events).toEqual([]);
  expect(shard.advance(1).events.map(({ cause }) => cause)).toEqual(["expired", "granted"]);
  expect(shard.range(rangeId).owner?.nodeId).toBe("b");
});

test("an excepted range keeps the cap that it had when it was cut loose", () => {
  const { shard, rangeId } = shardWithOwner(3_000);
  const { keyspaceId } = shard.range(rangeId);
  shard.timeMs = 1_000;
  shard.renew("a");
  shard.timeMs = 2_000;
  shard.renew("a", shard.revision, 1, [excepted(keyspaceId, "")]);
  for (const atMs of [3_000, 5_000]) noopAt(shard, atMs);
  expect(shard.deadline(rangeId)).toBe(7_000);
});

test("what one renewal gave and is over stays over, whatever grace follows", () => {
  const { shard, rangeId } = shardWithOwner(10_000);
  const { keyspaceId } = shard.range(rangeId);
  setDuration(shard.machine, keyspaceId, 3_000);
  shard.timeMs = 9_000;
  shard.renew("a");
  // The grant's ten seconds end here; the renewal's last until 12,000, and its cap is 15,000.
  expect(shard.advance(1_000).events).toEqual([]);
  for (const atMs of [11_900, 14_900]) noopAt(shard, atMs);
  expect(shard.deadline(rangeId)).toBe(15_000);
});

test("a shorter duration never shortens a deadline that grace has moved", () => {
  const { shard, rangeId } = shardWithOwner(10_000);
  const { keyspaceId } = shard.range(rangeId);
  noopAt(shard, 9_000);
  expect(shard.deadline(rangeId)).toBe(13_000);
  setDuration(shard.machine, keyspaceId, 500);
  shard.timeMs = 9_500;
  shard.renew("a");
  expect(shard.deadline(rangeId)).toBe(13_000);
  noopAt(shard, 12_900);
  expect(shard.deadline(rangeId)).toBe(16_900);
});

test("a standing with a later cap than its last renewal ends by itself, after the lease", () => {
  const { shard, rangeId } = shardWithOwner(10_000);
  const { keyspaceId } = shard.range(rangeId);
  setDuration(shard.machine, keyspaceId, 3_000);
  shard.timeMs = 8_000;
  shard.renew("a");
  expect(shard.advance(2_000).events).toEqual([]);
  noopAt(shard, 10_500);
  expect(shard.deadline(rangeId)).toBe(14_000);
  expect(shard.advance(3_500).events.map(({ cause }) => cause)).toEqual(["expired"]);
  const standings = shard.machine.state.sessions.get("a")?.standings;
  expect(standings?.has(keyspaceId)).toBe(true);
  expect(shard.machine.nextDueMs()).toBe(14_500);
  shard.advance(500);
  expect(standings?.has(keyspaceId)).toBe(false);
});
