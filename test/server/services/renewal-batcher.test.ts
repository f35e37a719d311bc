/** Renewals share entries: at most one an interval, each with its answer, none forwarded twice. */

import { expect, test } from "vitest";
import type {
  Epoch,
  GroupId,
  Incarnation,
  MonotonicMs,
  Revision,
} from "../../../src/base/brands.ts";
import type { HoldChange, RenewalAnswer, ShardAnswer } from "../../../src/machine/shard/answers.ts";
import type { Renewal, ShardRequest } from "../../../src/machine/shard/commands.ts";
import type { RangeRecord } from "../../../src/machine/shard/types.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import type { SubmitOutcome } from "../../../src/replica/group-access.ts";
import { forwardedHandler } from "../../../src/server/forwarded.ts";
import type { ClusterGroups, ShardAccess } from "../../../src/server/services/cluster-groups.ts";
import {
  RenewalBatcher,
  type RenewalOutcome,
} from "../../../src/server/services/renewal-batcher.ts";
import { VirtualClock } from "../../../src/testing/virtual-clock.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

const INTERVAL_MS = 100;
const GROUP = 1 as GroupId;

function renewal(nodeId: string, exceptedBytes = 0): Renewal {
  const except = { keyspaceId: 1, startKey: new Uint8Array(exceptedBytes), endKey: undefined };
  return {
    nodeId,
    incarnation: 1 as Incarnation,
    asOf: 5 as Revision,
    except: exceptedBytes > 0 ? [except] : [],
    ...SENT_AGAIN,
  };
}

class World {
  readonly clock = new VirtualClock();
  /** Node ids of each entry, and when and with which timeout it was submitted. */
  readonly entries: { nodeIds: string[]; atMs: number; timeoutMs: number }[] = [];
  isLeader = true;
  leaderServerId: number | undefined = 1;
  changes: HoldChange[] = [];
  fail: Extract<SubmitOutcome<ShardAnswer>, { kind: "failed" }> | undefined = undefined;
  readonly batcher: RenewalBatcher;

  constructor() {
    const submit = (
      request: ShardRequest,
      timeoutMs: number,
    ): Promise<SubmitOutcome<ShardAnswer>> => {
      const { command } = request;
      if (command.kind !== "renew") throw new Error("only renewals are submitted");
      const nodeIds = command.renewals.map(({ nodeId }) => nodeId);
      this.entries.push({ nodeIds, atMs: this.clock.nowMs(), timeoutMs });
      if (this.fail !== undefined) return Promise.resolve(this.fail);
      const revision = (100 + this.entries.length) as Revision;
      const answers = nodeIds.map((nodeId) => answerFor(nodeId, this.changes));
      const answer: ShardAnswer = {
        replayed: false,
        revision,
        result: { kind: "renewed", answers },
      };
      return Promise.resolve({ kind: "applied", answer });
    };
    this.batcher = new RenewalBatcher({
      access: this.access(submit),
      clock: this.clock,
      timers: this.clock,
      intervalMs: INTERVAL_MS,
    });
  }

  access(submitOnce: ShardAccess["submitOnce"]): ShardAccess {
    const isLeader = (): boolean => this.isLeader;
    return {
      submitOnce,
      get isLeader() {
        return isLeader();
      },
      mayReachLeader: () => this.leaderServerId !== undefined,
    } as ShardAccess;
  }

  renew(
    nodeId: string,
    options: { timeoutMs?: number; isForwarded?: boolean; exceptedBytes?: number } = {},
  ): { value: RenewalOutcome | undefined } {
    const { timeoutMs = 1_000, isForwarded = false, exceptedBytes = 0 } = options;
    const seen: { value: RenewalOutcome | undefined } = { value: undefined };
    const renewals = [renewal(nodeId, exceptedBytes)];
    void this.batcher.renew(renewals, { timeoutMs, isForwarded }).then((outcome) => {
      seen.value = outcome;
    });
    return seen;
  }
}

/** Tells whose answer it is: a floor per node. */
function answerFor(nodeId: string, changes: readonly HoldChange[]): RenewalAnswer {
  if (nodeId === "gone") return { kind: "noSession" };
  if (nodeId.startsWith("old")) return { kind: "viewTooOld", floor: 9 as Revision };
  return { kind: "extended", durations: [], changes };
}

test("the first renewal after a quiet interval leaves at once, the next ones gather", async () => {
  const { clock, entries, ...world } = new World();
  const batcher = world.batcher;
  const renew = (nodeId: string): void =>
    void batcher.renew([renewal(nodeId)], { timeoutMs: 1_000, isForwarded: false });
  renew("a");
  await clock.settle();
  renew("b");
  renew("c");
  await clock.advance(99);
  expect(entries.map(({ nodeIds }) => nodeIds)).toEqual([["a"]]);
  renew("d");
  await clock.advance(1);
  expect(entries.map(({ nodeIds }) => nodeIds)).toEqual([["a"], ["b", "c", "d"]]);
  await clock.advance(500);
  expect(entries).toHaveLength(2);
  renew("e");
  await clock.settle();
  expect(entries.map(({ atMs }) => atMs)).toEqual([0, 100, 600]);
});

test("each renewal gets its own answer and the entry's revision", async () => {
  const world = new World();
  const outcomes = ["a", "gone", "old"].map((nodeId) => world.renew(nodeId));
  await world.clock.settle();
  const kinds = outcomes.map(({ value }) =>
    value?.kind === "answered" ? [value.revision, value.answers.map(({ kind }) => kind)] : value,
  );
  expect(kinds).toEqual([
    [101, ["extended"]],
    [101, ["noSession"]],
    [101, ["viewTooOld"]],
  ]);
  expect(world.batcher.counts).toEqual({ extended: 1, refused: 2, failed: 0 });
});

test("a batch is bounded in number and in bytes; one renewal always fits", async () => {
  const world = new World();
  for (let number = 0; number < 600; number++) world.renew(`n${number}`);
  await world.clock.advance(500);
  expect(world.entries.map(({ nodeIds }) => nodeIds.length)).toEqual([256, 256, 88]);
  expect(world.entries.map(({ atMs }) => atMs)).toEqual([0, 100, 200]);
  const heavy = new World();
  for (const [at, kibibytes] of [100, 100, 20, 900, 1].entries()) {
    heavy.renew(`n${at}`, { exceptedBytes: kibibytes * 1_024 });
  }
  await heavy.clock.advance(500);
  const gathered = heavy.entries.map(({ nodeIds }) => nodeIds);
  expect(gathered).toEqual([["n0"], ["n1", "n2"], ["n3"], ["n4"]]);
});

test("a batch waits as long as the most patient of its callers", async () => {
  const world = new World();
  world.renew("a", { timeoutMs: 50 });
  world.renew("b", { timeoutMs: 700 });
  await world.clock.settle();
  expect(world.entries[0]?.timeoutMs).toBe(700);
});

test("while nobody leads renewals wait in one batch, each up to its own timeout", async () => {
  const world = new World();
  world.leaderServerId = undefined;
  world.isLeader = false;
  const short = world.renew("a", { timeoutMs: 250 });
  const long = [world.renew("b"), world.renew("c")];
  await world.clock.advance(249);
  expect(short.value).toBeUndefined();
  await world.clock.advance(1);
  expect(short.value).toEqual({ kind: "failed", outcome: "notApplied", reason: "noLeader" });
  world.leaderServerId = 2;
  await world.clock.advance(INTERVAL_MS);
  expect(world.entries.map(({ nodeIds }) => nodeIds)).toEqual([["b", "c"]]);
  expect(long.map(({ value }) => value?.kind)).toEqual(["answered", "answered"]);
  await world.clock.advance(2_000);
  expect(world.entries).toHaveLength(1);
});

test("what certainly had no effect is sent again, first, when a leader is known", async () => {
  const world = new World();
  world.fail = { kind: "failed", outcome: "notApplied", reason: "leaderChanged" };
  const early = world.renew("a");
  await world.clock.settle();
  const late = world.renew("b");
  world.fail = undefined;
  await world.clock.advance(INTERVAL_MS);
  expect(world.entries.map(({ nodeIds }) => nodeIds)).toEqual([["a"], ["a", "b"]]);
  expect([early.value?.kind, late.value?.kind]).toEqual(["answered", "answered"]);
});

test("changes that weigh too much are cut short: that answer extends nothing (law 8)", async () => {
  const world = new World();
  const range: RangeRecord = {
    rangeId: "1.1.0",
    keyspaceId: 1,
    startKey: new Uint8Array(200 * 1024),
    endKey: undefined,
    epoch: 1 as Epoch,
    owner: undefined,
    successor: undefined,
    intendedNodeId: undefined,
    handOverRevision: 0 as Revision,
    acceptedEpoch: 0 as Epoch,
    replicas: [],
    descriptorRevision: 1 as Revision,
  };
  world.changes = [1, 2].map((at) => ({ revision: at as Revision, kind: "granted", range }));
  const one = { timeoutMs: 1_000, isForwarded: true };
  const both = world.batcher.renew([renewal("a"), renewal("b")], one);
  await world.clock.settle();
  const outcome = await both;
  if (outcome.kind !== "answered") throw new Error("it is answered");
  expect(outcome.answers[0]?.kind).toBe("extended");
  expect(outcome.answers[1]).toEqual({ kind: "viewTooOld", floor: outcome.revision });
});

test("a failure is that of every renewal in the batch, as certain as it was", async () => {
  const world = new World();
  world.fail = { kind: "failed", outcome: "unknown", reason: "deadlineExceeded" };
  const outcomes = ["a", "b"].map((nodeId) => world.renew(nodeId));
  await world.clock.settle();
  for (const { value } of outcomes) expect(value).toEqual(world.fail);
  expect(world.batcher.counts).toEqual({ extended: 0, refused: 0, failed: 2 });
});

test("a forwarded renewal that finds another leader goes back, own ones go on to it", async () => {
  const world = new World();
  const first = world.renew("a");
  await world.clock.settle();
  expect(first.value?.kind).toBe("answered");
  const forwarded = world.renew("b", { isForwarded: true });
  const own = world.renew("c");
  world.isLeader = false;
  await world.clock.advance(INTERVAL_MS);
  expect(forwarded.value).toEqual({ kind: "failed", outcome: "notApplied", reason: "notLeader" });
  expect(own.value?.kind).toBe("answered");
  expect(world.entries.map(({ nodeIds }) => nodeIds)).toEqual([["a"], ["c"]]);
});

/** A server whose shard group is scripted: what the forwarded handler does with a command. */
function server(world: World): {
  handle: (request: ShardRequest) => Promise<unknown>;
  proposed: Uint8Array[];
} {
  const machine = new ShardMachine(GROUP);
  const proposed: Uint8Array[] = [];
  const proposeEncoded = (command: Uint8Array): Promise<unknown> => {
    proposed.push(command);
    return Promise.resolve({ kind: "failed", outcome: "unknown", reason: "leaderChanged" });
  };
  const access = {
    group: GROUP,
    get isLeader() {
      return world.isLeader;
    },
    replica: { machine, proposeEncoded, appliedIndex: 3 },
  } as unknown as ShardAccess;
  const groups = {
    root: { group: 0 },
    shards: new Map([[GROUP, { access }]]),
    clock: { nowMs: () => 0 as MonotonicMs },
  } as unknown as ClusterGroups;
  const handler = forwardedHandler(groups, new Map([[GROUP, world.batcher]]));
  const handle = (request: ShardRequest): Promise<unknown> =>
    handler({ group: GROUP, command: machine.encodeRequest(request), timeoutMs: 500 });
  return { handle, proposed };
}

test("forwarded renewals share the leader's next entry, and come back as the machine's answer", async () => {
  const world = new World();
  const { handle, proposed } = server(world);
  const own = world.renew("own");
  const command = { kind: "renew", renewals: [renewal("a"), renewal("old")] } as const;
  const answer = handle({ requestId: undefined, command });
  await world.clock.settle();
  expect(world.entries.map(({ nodeIds }) => nodeIds)).toEqual([["own", "a", "old"]]);
  expect(own.value?.kind).toBe("answered");
  const applied = (await answer) as { kind: string; result: Uint8Array };
  expect(applied.kind).toBe("applied");
  const decoded = new ShardMachine(GROUP).decodeAnswer(applied.result);
  expect(decoded).toMatchObject({
    value: { revision: 101, result: { answers: [{ kind: "extended" }, { kind: "viewTooOld" }] } },
  });
  expect(proposed).toEqual([]);
});

test("other commands are proposed here, with what came of them; a follower refuses all", async () => {
  const world = new World();
  const { handle, proposed } = server(world);
  const expire: ShardRequest = { requestId: undefined, command: { kind: "expire" } };
  expect(await handle(expire)).toEqual({
    kind: "failed",
    outcome: "unknown",
    reason: "leaderChanged",
  });
  expect(proposed).toHaveLength(1);
  world.isLeader = false;
  const command = { kind: "renew", renewals: [renewal("a")] } as const;
  const refused = { kind: "failed", outcome: "notApplied", reason: "notLeader" };
  expect(await handle(expire)).toEqual(refused);
  expect(await handle({ requestId: undefined, command })).toEqual(refused);
  expect(proposed).toHaveLength(1);
  expect(world.entries).toEqual([]);
});
