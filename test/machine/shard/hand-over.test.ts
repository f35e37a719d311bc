/** Hand-over: the owner is asked, gives up to that successor or to nobody; the grant follows. */

import { expect, test } from "vitest";
import type { Owner } from "../../../src/machine/shard/types.ts";
import { changesOf, reasonOf, type ShardHarness, shardWithOwner } from "./harness.ts";

const B: Owner = { nodeId: "b", incarnation: 1 as never };

/** Node "a" holds a 3 s range and was asked to hand it over to "b". */
function asked(): { shard: ShardHarness; rangeId: string; asOf: number; revision: number } {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  const asOf = shard.revision;
  const { revision, result } = shard.handOver(rangeId, "b");
  expect(result).toMatchObject({ outcomes: [{ kind: "successorRecorded", waitMs: 3_000 }] });
  return { shard, rangeId, asOf, revision };
}

test("asking records the successor and the revision of the request, and tells the owner", () => {
  const { shard, rangeId, asOf, revision } = asked();
  expect(shard.range(rangeId)).toMatchObject({ successor: B, handOverRevision: revision });
  const answer = shard.renewed("a", asOf);
  expect(changesOf(answer)).toEqual(["successorSet "]);
  if (answer.kind !== "extended") throw new Error("it is extended");
  expect(answer.changes[0]?.range.handOverRevision).toBe(revision);
});

test("the entry that releases it for the hand-over grants it to the successor", () => {
  const { shard, rangeId, revision } = asked();
  shard.timeMs = 500;
  const step = shard.release(rangeId, "a", 1, revision);
  expect(step.result).toMatchObject({ outcomes: [{ refused: undefined }] });
  expect(step.events.map(({ cause }) => cause)).toEqual(["released", "granted"]);
  expect(shard.range(rangeId)).toMatchObject({
    owner: B,
    epoch: step.revision,
    successor: undefined,
    handOverRevision: 0,
  });
});

test("a plain release goes to the recorded successor, too", () => {
  const { shard, rangeId } = asked();
  shard.release(rangeId, "a");
  expect(shard.range(rangeId)).toMatchObject({ owner: B, handOverRevision: 0 });
});

test("an owner that is dead is waited for: the end of its lease grants", () => {
  const { shard, rangeId } = asked();
  shard.renew("b");
  shard.advance(3_000);
  expect(shard.range(rangeId)).toMatchObject({ owner: B, handOverRevision: 0 });
});

test("once taken back, nothing is given up, and the owner keeps its lease", () => {
  const { shard, rangeId, revision } = asked();
  shard.withdraw(rangeId);
  expect(shard.range(rangeId)).toMatchObject({ successor: undefined, handOverRevision: 0 });
  const before = shard.range(rangeId);
  const step = shard.release(rangeId, "a", 1, revision);
  expect(step).toMatchObject({ result: { outcomes: [{ refused: "noSuccessor" }] }, events: [] });
  expect(shard.range(rangeId)).toBe(before);
});

test("a late release for an earlier request gives nothing up for a later one", () => {
  // The owner serves again after the first was refused: it must be able to rely on that.
  const { shard, rangeId, revision } = asked();
  shard.withdraw(rangeId);
  const again = shard.handOver(rangeId, "b");
  const late = shard.release(rangeId, "a", 1, revision);
  expect(late.result).toMatchObject({ outcomes: [{ refused: "noSuccessor" }] });
  expect(shard.range(rangeId)).toMatchObject({
    owner: { nodeId: "a" },
    successor: B,
    handOverRevision: again.revision,
  });
});

test("a successor that has died is dropped, and the owner keeps the range", () => {
  const { shard, rangeId, revision } = asked();
  shard.open("b", 2, 1);
  const step = shard.release(rangeId, "a", 1, revision);
  expect(step.result).toMatchObject({ outcomes: [{ refused: "noSuccessor" }] });
  expect(step.events.map(({ cause }) => cause)).toEqual(["successorLifted"]);
  expect(shard.range(rangeId)).toMatchObject({ owner: { nodeId: "a" }, successor: undefined });
  shard.timeMs = 1_000;
  shard.renew("a");
  expect(shard.deadline(rangeId)).toBe(4_000);
});

test("a recorded successor that waits can be asked for later, and not be told to wait again", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  shard.grant(rangeId, "b");
  expect(shard.range(rangeId).handOverRevision).toBe(0);
  const { revision, events } = shard.handOver(rangeId, "b");
  expect(events.map(({ cause }) => cause)).toEqual(["successorSet"]);
  for (const handOver of [true, false]) {
    expect(shard.grant(rangeId, "b", false, handOver).events).toEqual([]);
    expect(shard.range(rangeId).handOverRevision).toBe(revision);
  }
  shard.open("c");
  expect(reasonOf(shard.handOver(rangeId, "c"))).toBe("successorRecorded");
});

test("asking does not touch the lease: the owner may serve until it has drained", () => {
  const { shard, rangeId } = asked();
  expect(shard.deadline(rangeId)).toBe(3_000);
  shard.timeMs = 1_000;
  shard.renew("a");
  expect(shard.deadline(rangeId)).toBe(3_000);
});

test("an unowned range is granted at once, asked or not", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  shard.release(rangeId, "a");
  expect(shard.handOver(rangeId, "b").result).toMatchObject({ outcomes: [{ kind: "granted" }] });
  expect(shard.range(rangeId)).toMatchObject({ owner: B, handOverRevision: 0 });
});
