/** Request ids at the shard: answered once, remembered until acknowledged (law 5). */

import { expect, test } from "vitest";
import {
  type Epoch,
  type Incarnation,
  type LogIndex,
  type LogTimeMs,
  type Revision,
  revisionOf,
  type Term,
} from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { RequestId } from "../../../src/machine/common/request-ids.ts";
import type { ShardCommand } from "../../../src/machine/shard/commands.ts";
import { MEMORY_BOUNDS } from "../../../src/machine/common/request-memory.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import { SENT_AGAIN } from "../../sent-again.ts";
import {
  grantItem,
  NOT_ASKED,
  GROUP,
  reasonOf,
  ShardHarness,
  shardWithOwner,
  type Step,
} from "./harness.ts";

function idOf(sequence: number, change: Partial<RequestId> = {}): RequestId {
  return {
    clientId: "cli",
    sequence,
    seenRevision: 1 as Revision,
    acknowledgedBelow: 0,
    ...change,
  };
}

function define(keyspaceId: number, ...keys: string[]): ShardCommand {
  return { kind: "defineRanges", keyspaceId, splitKeys: keys.map(utf8ToBytes) };
}

function shardWithKeyspace(): { shard: ShardHarness; keyspaceId: number } {
  const shard = new ShardHarness();
  return { shard, keyspaceId: shard.keyspace("orders") };
}

test("a repeat gets the first answer with its revision, and is not run again", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  const first = shard.apply(define(keyspaceId, "c"), idOf(1));
  shard.apply(define(keyspaceId, "c", "f"), idOf(2));
  const repeat = shard.apply(define(keyspaceId, "c"), idOf(1));
  expect(repeat.answer).toEqual({ ...first.answer, replayed: true });
  expect(repeat.answer.revision).toBe(first.revision);
  expect(repeat.events).toEqual([]);
  expect(shard.ranges(keyspaceId)).toHaveLength(3);
});

test("a refusal is remembered like any other answer", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  const refused = shard.apply(define(7, "c"), idOf(1));
  expect(reasonOf(refused)).toBe("keyspaceNotFound");
  const { shard: owned, rangeId } = shardWithOwner();
  const grant: ShardCommand = {
    kind: "grant",
    onlyUnowned: true,
    handOver: false,
    items: [grantItem(owned.range(rangeId), "b")],
  };
  expect(reasonOf(owned.apply(grant, idOf(1)))).toBe("noSession");
  owned.open("b");
  const repeat = owned.apply(grant, idOf(1));
  expect([repeat.answer.replayed, reasonOf(repeat)]).toEqual([true, "noSession"]);
  expect(keyspaceId).toBe(1);
});

test("the same id with another effect or another seen revision is refused", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  shard.apply(define(keyspaceId, "c"), idOf(1));
  expect(reasonOf(shard.apply(define(keyspaceId, "d"), idOf(1)))).toBe("requestIdReused");
  const otherSeen = idOf(1, { seenRevision: 0 as Revision });
  expect(reasonOf(shard.apply(define(keyspaceId, "c"), otherSeen))).toBe("requestIdReused");
  const otherClient = idOf(1, { clientId: "other" });
  expect(reasonOf(shard.apply(define(keyspaceId, "d"), otherClient))).toBe("rangesDefined");
});

test("a seen revision above the entry's own is refused, and the id stays usable", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  const ahead = idOf(1, { seenRevision: (shard.revision + 2) as Revision });
  const refused = shard.apply(define(keyspaceId, "c"), ahead);
  expect(reasonOf(refused)).toBe("seenRevisionAhead");
  expect(refused.events).toEqual([]);
  // One entry later the same id is of the past.
  expect(reasonOf(shard.apply(define(keyspaceId, "c"), ahead))).toBe("rangesDefined");
});

test("what the client acknowledged is forgotten and never run again", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  const steps: Step[] = [1, 2, 3].map((sequence) =>
    shard.apply(define(keyspaceId, `k${sequence}`), idOf(sequence)),
  );
  expect(steps.map(reasonOf)).toEqual(["rangesDefined", "rangesDefined", "rangesDefined"]);
  shard.apply(define(keyspaceId, "k4"), idOf(4, { acknowledgedBelow: 3 }));
  for (const sequence of [1, 2]) {
    const late = shard.apply(define(keyspaceId, `k${sequence}`), idOf(sequence));
    expect(reasonOf(late)).toBe("requestIdExpired");
    expect(late.events).toEqual([]);
  }
  const kept = shard.apply(define(keyspaceId, "k3"), idOf(3));
  expect(kept.answer.replayed).toBe(true);
  // A mark that was overtaken does not go back.
  shard.apply(define(keyspaceId, "k5"), idOf(5, { acknowledgedBelow: 1 }));
  expect(reasonOf(shard.apply(define(keyspaceId, "k2"), idOf(2)))).toBe("requestIdExpired");
});

test("a mark above the request's own sequence does not forget the request itself", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  const id = idOf(4, { acknowledgedBelow: 99 });
  shard.apply(define(keyspaceId, "c"), id);
  expect(shard.apply(define(keyspaceId, "c"), id).answer.replayed).toBe(true);
  expect(reasonOf(shard.apply(define(keyspaceId, "c"), idOf(3)))).toBe("requestIdExpired");
});

test("renewals, acceptances, releases and expiries leave no trace in the memory (law 5)", () => {
  const { shard, rangeId } = shardWithOwner();
  shard.renew("a");
  shard.accept(rangeId, "a", shard.range(rangeId).epoch);
  shard.release(rangeId, "a");
  shard.advance(20_000);
  expect(shard.machine.state.requests.clientCount).toBe(0);
});

test("a request whose id the floor has passed is not run, and the outcome is unknown (law 5)", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  shard.apply(define(keyspaceId, "c"), idOf(1));
  shard.split(keyspaceId, "c", "f");
  shard.timeMs = 600_000;
  const late = shard.apply(define(keyspaceId, "c"), idOf(1, { seenRevision: 0 as Revision }));
  expect(reasonOf(late)).toBe("requestIdExpired");
  expect(late.events).toEqual([]);
  expect(shard.ranges(keyspaceId)).toHaveLength(3);
});

test("a new generation knows no id from before it (law 5)", () => {
  const machine = new ShardMachine(GROUP, 3);
  const first = revisionOf(3, 0 as LogIndex);
  const answers = [first - 1, first].map((seenRevision, at) => {
    const meta = { index: (at + 1) as LogIndex, term: 1 as Term, timeMs: 0 as LogTimeMs };
    const requestId = idOf(at + 1, { seenRevision: seenRevision as Revision });
    return machine.apply(meta, { requestId, command: define(9) }).answer?.result;
  });
  expect(answers).toMatchObject([{ reason: "requestIdExpired" }, { reason: "keyspaceNotFound" }]);
});

test("a full memory stops new mutations and nothing else: owners go on, leases end (law 5)", () => {
  const { machine } = shardWithOwner().shard;
  const { state } = machine;
  const apply = (command: ShardCommand, requestId?: RequestId): string => {
    const index = (machine.revision + 1) as LogIndex;
    const meta = { index, term: 1 as Term, timeMs: state.timeMs };
    const result = machine.apply(meta, { requestId, command }).answer?.result;
    return result?.kind === "refused" ? result.reason : (result?.kind ?? "none");
  };
  const nothing: ShardCommand = { kind: "grant", items: [], onlyUnowned: false, handOver: false };
  const once = (at: number): RequestId => idOf(1, { clientId: `one-shot-${at}` });
  for (let at = 0; at < MEMORY_BOUNDS.answersMax; at++) apply(nothing, once(at));
  expect(state.requests.answerCount).toBe(MEMORY_BOUNDS.answersMax);
  expect(apply(nothing, once(-1))).toBe("requestMemoryFull");
  expect(apply(nothing, once(5))).toBe("grantsDone");
  const holder = { nodeId: "a", incarnation: 1 as Incarnation };
  const [slot] = state.rangesById.values();
  const { rangeId = "", epoch = 0 as Epoch } = slot?.record ?? {};
  const ranges = [{ rangeId, epoch, handOverRevision: NOT_ASKED }];
  const renewal = { ...holder, asOf: machine.revision, except: [], ...SENT_AGAIN };
  expect(apply({ kind: "renew", renewals: [renewal] })).toBe("renewed");
  expect(apply({ kind: "accept", ...holder, ranges })).toBe("rangesJudged");
  expect(apply({ kind: "expire" })).toBe("done");
  expect(apply({ kind: "release", ...holder, ranges })).toBe("rangesJudged");
  expect(state.rangesById.get(rangeId)?.record.owner).toBeUndefined();
});

test("an answer counts with the keys of its ranges, and not much more", () => {
  const { shard, keyspaceId } = shardWithKeyspace();
  shard.split(keyspaceId, ...["b", "c", "d"].map((key) => key.padEnd(1_000, "x")));
  shard.open("a");
  const items = shard.ranges(keyspaceId).map((range) => grantItem(range, "a"));
  shard.apply({ kind: "grant", items, onlyUnowned: true, handOver: false }, idOf(1));
  const { requests } = shard.machine.state;
  expect(requests.answerBytes).toBeGreaterThan(6_000);
  expect(requests.answerBytes).toBeLessThan(7_000);
  shard.apply(
    { kind: "grant", items: [], onlyUnowned: true, handOver: false },
    idOf(2, { acknowledgedBelow: 2 }),
  );
  expect(requests.answerBytes).toBeLessThan(100);
});
