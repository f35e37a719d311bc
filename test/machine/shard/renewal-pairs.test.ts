/** Two processes of one incarnation, told apart by their renewals' pairs (law 13). */

import { expect, test } from "vitest";
import type { Revision } from "../../../src/base/brands.ts";
import type { RenewalAnswer } from "../../../src/machine/shard/answers.ts";
import type { ExceptedSpan, RenewalPair } from "../../../src/machine/shard/commands.ts";
import { judgePair, type PairVerdict } from "../../../src/machine/shard/renewal-pairs.ts";
import { excepted, reasonOf, renewalOf, type ShardHarness, shardWithOwner } from "./harness.ts";

const pair = (sequence: number, nonce = sequence * 100): RenewalPair => ({ sequence, nonce });

/** A renewal of node "a", incarnation 1, with a view that is complete. */
function renew(
  shard: ShardHarness,
  sent: RenewalPair,
  known: readonly RenewalPair[] = [],
  except: readonly ExceptedSpan[] = [],
): RenewalAnswer {
  const owner = { nodeId: "a", incarnation: 1 as never };
  const renewal = { ...owner, asOf: shard.revision, except, pair: sent, known };
  return renewalOf(shard.apply({ kind: "renew", renewals: [renewal] }));
}

type Relation = "theSame" | "lower" | "sameSequence" | "higherKnowing" | "higherIgnorant";

const RENEWALS: Record<Relation, Parameters<typeof judgePair>[1]> = {
  theSame: { pair: pair(5), known: [] },
  lower: { pair: pair(4), known: [pair(5)] },
  sameSequence: { pair: pair(5, 1), known: [pair(5)] },
  higherKnowing: { pair: pair(9), known: [pair(3), pair(5), pair(8)] },
  higherIgnorant: { pair: pair(9), known: [pair(3), pair(5, 1), pair(7, 500)] },
};

const VERDICTS: Record<"none" | "some", Record<Relation, PairVerdict>> = {
  none: {
    theSame: "run",
    lower: "run",
    sameSequence: "run",
    higherKnowing: "run",
    higherIgnorant: "run",
  },
  some: {
    theSame: "run",
    lower: "late",
    sameSequence: "otherProcess",
    higherKnowing: "run",
    higherIgnorant: "otherProcess",
  },
};

test.each(["none", "some"] as const)("every relation to %s last applied pair", (known) => {
  const last = known === "none" ? undefined : pair(5);
  for (const [relation, verdict] of Object.entries(VERDICTS[known])) {
    expect(judgePair(last, RENEWALS[relation as Relation]), relation).toBe(verdict);
  }
});

test("the same pair is run again: it extends from its own entry", () => {
  const { shard, rangeId } = shardWithOwner();
  renew(shard, pair(1));
  shard.timeMs = 1_000;
  expect(renew(shard, pair(1)).kind).toBe("extended");
  expect(shard.deadline(rangeId)).toBe(4_000);
});

test("a late copy has no effect, not even its exceptions, and is told what was applied", () => {
  const { shard, rangeId } = shardWithOwner();
  renew(shard, pair(1));
  renew(shard, pair(2), [pair(1)]);
  shard.timeMs = 1_000;
  const late = renew(shard, pair(1), [], [excepted(1, "")]);
  expect(late).toEqual({ kind: "lateCopy", lastSequence: 2 });
  expect(shard.deadline(rangeId)).toBe(3_000);
  expect(renew(shard, pair(3), [pair(2)]).kind).toBe("extended");
  expect(shard.deadline(rangeId)).toBe(4_000);
});

test("a renewal whose predecessors were lost on the way follows the last one that was not", () => {
  const { shard } = shardWithOwner();
  renew(shard, pair(1));
  const sentSince = [pair(1), pair(2), pair(3), pair(4)];
  expect(renew(shard, pair(5), sentSince).kind).toBe("extended");
});

test("a view that is too old still counts as applied: the next one must know of it", () => {
  const { shard } = shardWithOwner();
  renew(shard, pair(1));
  const owner = { nodeId: "a", incarnation: 1 as never };
  const old = { ...owner, asOf: 1 as Revision, except: [], pair: pair(2), known: [pair(1)] };
  const step = shard.apply({ kind: "renew", renewals: [old] });
  expect(renewalOf(step).kind).toBe("viewTooOld");
  expect(renew(shard, pair(3), [pair(1)]).kind).toBe("sessionClosed");
});

test.each([
  ["the same sequence with another nonce", pair(2, 7), [pair(1)]],
  ["a higher sequence that does not know the last", pair(3, 7), [pair(1), pair(2, 7)]],
])("%s closes the session: renewed no more, and not cut short", (_what, copy, known) => {
  const { shard, rangeId } = shardWithOwner();
  renew(shard, pair(1));
  shard.timeMs = 1_000;
  renew(shard, pair(2), [pair(1)]);
  shard.timeMs = 2_000;
  expect(renew(shard, copy, known)).toEqual({ kind: "sessionClosed" });
  // Neither the original nor the copy moves anything any more.
  expect(renew(shard, pair(3), [pair(2)])).toEqual({ kind: "sessionClosed" });
  expect(renew(shard, pair(2), [pair(1)])).toEqual({ kind: "sessionClosed" });
  expect(shard.deadline(rangeId)).toBe(4_000);
  shard.timeMs = 3_999;
  expect(shard.apply({ kind: "expire" }).events).toEqual([]);
  shard.timeMs = 4_000;
  expect(shard.apply({ kind: "expire" }).events).toMatchObject([{ cause: "expired" }]);
});

/** Node "a" holds a 3 s range; its session was closed at log time 0. Node "b" is there, too. */
function closed(): { shard: ShardHarness; rangeId: string } {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  renew(shard, pair(1));
  expect(renew(shard, pair(1, 7))).toEqual({ kind: "sessionClosed" });
  return { shard, rangeId };
}

test("a closed session gives nothing up: the other process may still serve", () => {
  const { shard, rangeId } = closed();
  const refused = { outcomes: [{ rangeId, refused: "sessionClosed" }] };
  expect(shard.release(rangeId, "a").result).toMatchObject(refused);
  expect(shard.accept(rangeId, "a", shard.range(rangeId).epoch).result).toMatchObject(refused);
  expect(shard.range(rangeId)).toMatchObject({ owner: { nodeId: "a" }, acceptedEpoch: 0 });
});

test("a closed session is granted nothing, so that it ends", () => {
  const { shard, rangeId } = closed();
  shard.advance(3_000);
  expect(reasonOf(shard.grant(rangeId, "a"))).toBe("sessionClosed");
  expect(shard.range(rangeId).owner).toBeUndefined();
});

test("a closed session does not succeed to what it was recorded for", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.open("b");
  shard.grant(rangeId, "b");
  const owner = { nodeId: "b", incarnation: 1 as never, asOf: shard.revision, except: [] };
  for (const sent of [pair(1), pair(1, 7)]) {
    const renewal = { ...owner, pair: sent, known: [] };
    shard.apply({ kind: "renew", renewals: [renewal] });
  }
  shard.advance(3_000);
  expect(shard.range(rangeId)).toMatchObject({ owner: undefined, successor: undefined });
});

test("a successor for a closed session's range is granted it when the lease is over", () => {
  const { shard, rangeId } = closed();
  expect(shard.grant(rangeId, "b").result).toMatchObject({
    outcomes: [{ kind: "successorRecorded", waitMs: 3_000 }],
  });
  shard.advance(2_999);
  expect(shard.range(rangeId).owner?.nodeId).toBe("a");
  shard.advance(1);
  expect(shard.range(rangeId).owner?.nodeId).toBe("b");
});

test("a closed incarnation opens no session again, not after its end either", () => {
  const { shard } = closed();
  expect(reasonOf(shard.open("a", 1))).toBe("sessionClosed");
  shard.advance(10_000);
  expect(reasonOf(shard.open("a", 1))).toBe("sessionClosed");
  expect(shard.open("a", 2).result).toMatchObject({ kind: "sessionOpened" });
});

test("a proof does not end a closed session: there was a second process", () => {
  const { shard, rangeId } = closed();
  expect(shard.open("a", 2, 1).result).toMatchObject({ reason: "sessionLive", waitMs: 10_000 });
  expect(shard.range(rangeId).owner).toEqual({ nodeId: "a", incarnation: 1 });
  shard.advance(3_000);
  shard.timeMs = 10_000;
  expect(shard.open("a", 2, 1).result).toMatchObject({ kind: "sessionOpened", grantedCount: 1 });
});

test("an import grants nothing to a closed session", () => {
  const { shard } = closed();
  const users = shard.keyspace("users");
  shard.stage("i", users, 0, [["", "a"]]);
  expect(shard.commit("i", users, 1).result).toMatchObject({ grantedCount: 0 });
});

test("a late copy that comes in a later session of the incarnation closes nothing", () => {
  const { shard } = shardWithOwner();
  renew(shard, pair(1));
  renew(shard, pair(2), [pair(1)]);
  shard.advance(10_000);
  shard.open("a", 1);
  expect(renew(shard, pair(1))).toEqual({ kind: "lateCopy", lastSequence: 2 });
  expect(renew(shard, pair(3), [pair(2)]).kind).toBe("extended");
});

test("a new incarnation counts its own renewals from the beginning", () => {
  const { shard } = shardWithOwner();
  renew(shard, pair(9));
  shard.open("a", 2, 1);
  const owner = { nodeId: "a", incarnation: 2 as never, asOf: shard.revision, except: [] };
  const renewals = [{ ...owner, pair: pair(1, 5), known: [] }];
  expect(renewalOf(shard.apply({ kind: "renew", renewals })).kind).toBe("extended");
});

test("two copies in one entry: the second one closes, the first one has counted", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.timeMs = 1_000;
  const owner = { nodeId: "a", incarnation: 1 as never, asOf: shard.revision, except: [] };
  const renewals = [pair(1), pair(1, 7)].map((one) => ({ ...owner, pair: one, known: [] }));
  const { result } = shard.apply({ kind: "renew", renewals });
  if (result.kind !== "renewed") throw new Error("a renewal is answered");
  expect(result.answers.map(({ kind }) => kind)).toEqual(["extended", "sessionClosed"]);
  expect(shard.deadline(rangeId)).toBe(4_000);
});
