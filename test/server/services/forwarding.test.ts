/**
 * Commands that reach a server which does not lead: forwarded once, and renewals gathered so that
 * many sessions share an entry, whichever servers they come through and whoever leads.
 */

import { expect, test } from "vitest";
import type { GroupId, Revision, ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import type { Renewal } from "../../../src/machine/shard/commands.ts";
import type { SubmitOutcome } from "../../../src/replica/group-access.ts";
import type { ShardAccess } from "../../../src/server/services/cluster-groups.ts";
import { RenewalBatcher } from "../../../src/server/services/renewal-batcher.ts";
import type { ShardAnswer } from "../../../src/machine/shard/answers.ts";
import { VirtualClock } from "../../../src/testing/virtual-clock.ts";
import type { Owner } from "../../../src/wire/api.ts";
import { ROOT, SHARD, type VirtualCluster } from "../../sim/virtual-cluster.ts";
import {
  clusterWith,
  followerAndLeader,
  grant,
  join,
  others,
  register,
  revisionAt,
  services,
  WAIT,
} from "./harness.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

const INTERVAL_MS = 50;

/** Entries with renewals in a group's log, and how many renewals each has. */
function renewEntries(cluster: VirtualCluster, id: ServerId): number[] {
  const decoder = new ShardMachine(SHARD);
  const sizes: number[] = [];
  for (const entry of cluster.entries(id, SHARD)) {
    if (entry.kind !== "command") continue;
    const request = decoder.decodeRequest(entry.payload);
    if (!request.ok) throw new Error(request.error);
    const { command } = request.value;
    if (command.kind === "renew") sizes.push(command.renewals.length);
  }
  return sizes;
}

/** Every owner renews through every running server, and gets its answer. */
async function renewAll(
  cluster: VirtualCluster,
  owners: readonly Owner[],
  asOf: Revision,
): Promise<boolean[]> {
  const calls = cluster.runningIds.flatMap((id) =>
    owners.map((owner) =>
      services(cluster, id).ownership.renew(
        { owner, group: SHARD, asOf, except: [], ...SENT_AGAIN },
        WAIT,
      ),
    ),
  );
  const results: boolean[] = [];
  for (const call of calls) results.push((await cluster.result(call)).ok);
  return results;
}

test("a command through a follower is forwarded exactly once, to the leader", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const rootLeader = await cluster.leader(ROOT);
  cluster.forwards.length = 0;
  const owner = await register(cluster, follower, "n1");
  expect(cluster.forwards).toEqual([{ from: follower, to: rootLeader, group: ROOT }]);
  cluster.forwards.length = 0;
  await cluster.answer(
    services(cluster, follower).ownership.openSession({ owner, group: SHARD }, WAIT),
  );
  await grant(cluster, follower, [0], owner);
  const sent = { from: follower, to: leader, group: SHARD };
  expect(cluster.forwards).toEqual([sent, sent]);
  cluster.forwards.length = 0;
  await grant(cluster, leader, [0], owner);
  expect(cluster.forwards).toEqual([]);
});

test("renewals of many sessions through all servers share one entry per interval", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const owners: Owner[] = [];
  for (let at = 0; at < 10; at++) owners.push(await join(cluster, leader, `n${at}`));
  const asOf = revisionAt(cluster, leader, SHARD);
  await cluster.until(() => revisionAt(cluster, follower, SHARD) >= asOf);
  const startMs = cluster.clock.nowMs();
  const before = renewEntries(cluster, leader).length;
  for (let round = 0; round < 5; round++) {
    expect((await renewAll(cluster, owners, asOf)).every(Boolean)).toBe(true);
  }
  const sizes = renewEntries(cluster, leader).slice(before);
  const intervals = Math.ceil((cluster.clock.nowMs() - startMs) / INTERVAL_MS) + 1;
  expect(sizes.length).toBeLessThanOrEqual(intervals);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(5 * 10 * 3);
});

test("renewals that waited out an election reach the next leader as one entry per interval", async () => {
  const cluster = await clusterWith();
  const leader = await cluster.leader(SHARD);
  const owners: Owner[] = [];
  for (let at = 0; at < 4; at++) owners.push(await join(cluster, leader, `n${at}`));
  const asOf = revisionAt(cluster, leader, SHARD);
  cluster.crash(leader);
  const [survivor] = cluster.runningIds as [ServerId];
  // They come all through the leaderless time, a few in every interval.
  const calls: Promise<{ readonly ok: boolean }>[] = [];
  const before = renewEntries(cluster, survivor).length;
  let count = before;
  let mostAtOnce = 0;
  for (let round = 0; round < 80; round++) {
    for (const id of cluster.runningIds) {
      const owner = owners[round % owners.length] as Owner;
      const request = { owner, group: SHARD, asOf, except: [], ...SENT_AGAIN };
      calls.push(services(cluster, id).ownership.renew(request, WAIT));
    }
    await cluster.clock.advance(INTERVAL_MS / 2);
    const now = Math.max(...cluster.runningIds.map((id) => renewEntries(cluster, id).length));
    mostAtOnce = Math.max(mostAtOnce, now - count);
    count = now;
  }
  const results = [];
  for (const call of calls) results.push(await cluster.result(call));
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(mostAtOnce).toBe(1);
  const sizes = renewEntries(cluster, await cluster.leader(SHARD)).slice(before);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(calls.length);
});

test("a forwarded command that finds no leader goes back, and is never forwarded again", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  const asOf = revisionAt(cluster, leader, SHARD);
  const [third] = others(cluster, leader, follower) as [ServerId];
  const machine = new ShardMachine(SHARD);
  const renewal: Renewal = { ...owner, asOf, except: [], ...SENT_AGAIN };
  const command = machine.encodeRequest({
    requestId: undefined,
    command: { kind: "renew", renewals: [renewal] },
  });
  const release = machine.encodeRequest({
    requestId: undefined,
    command: { kind: "release", ...owner, ranges: [] },
  });
  cluster.forwards.length = 0;
  // Neither leads, and each is told by the other that it does.
  for (const id of [follower, third]) {
    for (const payload of [command, release]) {
      const call = { group: SHARD, command: payload, timeoutMs: 1_000 };
      const answer = await cluster.result(cluster.core(id).onForward(call));
      expect(answer).toEqual({ kind: "failed", outcome: "notApplied", reason: "notLeader" });
    }
  }
  const strange = { group: 9 as GroupId, command, timeoutMs: 1_000 };
  expect(await cluster.result(cluster.core(leader).onForward(strange))).toMatchObject({
    outcome: "notApplied",
    reason: "notLeader",
  });
  expect(cluster.forwards).toEqual([]);
});

test("a server that can't reach the leader is served through one that does", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const [third] = others(cluster, leader, follower) as [ServerId];
  const owner = await join(cluster, leader, "n1");
  cluster.network.cut(leader, follower);
  await cluster.clock.advance(4_000);
  expect(cluster.core(follower).groups.shards.get(SHARD)?.access.leaderServerId).toBeUndefined();
  cluster.forwards.length = 0;
  const release = { owner, group: SHARD, ranges: [] };
  await cluster.answer(services(cluster, follower).ownership.release(release, WAIT));
  const asOf = revisionAt(cluster, leader, SHARD);
  const renewal = { owner, group: SHARD, asOf, except: [], ...SENT_AGAIN };
  await cluster.answer(services(cluster, follower).ownership.renew(renewal, WAIT));
  const ways = cluster.forwards.filter(({ group }) => group === SHARD);
  expect(ways.slice(-2)).toEqual([
    { from: follower, to: third, group: SHARD },
    { from: third, to: leader, group: SHARD },
  ]);
  expect(await cluster.leader(SHARD)).toBe(leader);
  // Reached again, the leader is asked itself.
  cluster.network.heal(leader, follower);
  await cluster.clock.advance(1_000);
  cluster.forwards.length = 0;
  await cluster.answer(services(cluster, follower).ownership.release(release, WAIT));
  expect(cluster.forwards).toEqual([{ from: follower, to: leader, group: SHARD }]);
});

/** A shard whose answers the test gives, on a server that leads or follows as the test says. */
class FakeAccess {
  leaderServerId: ServerId | undefined = 1 as ServerId;
  readonly attempts: {
    readonly sizes: number;
    readonly settle: (outcome: SubmitOutcome<ShardAnswer>) => void;
  }[] = [];

  get isLeader(): boolean {
    return this.leaderServerId === 1;
  }

  mayReachLeader(): boolean {
    return this.leaderServerId !== undefined;
  }

  submitOnce(request: {
    readonly command: { readonly kind: string; readonly renewals?: readonly Renewal[] };
  }): Promise<SubmitOutcome<ShardAnswer>> {
    return new Promise((settle) => {
      this.attempts.push({ sizes: request.command.renewals?.length ?? 0, settle });
    });
  }
}

function fakeBatcher(termsBytes = 0): {
  readonly access: FakeAccess;
  readonly clock: VirtualClock;
  readonly batcher: RenewalBatcher;
} {
  const access = new FakeAccess();
  const clock = new VirtualClock();
  const batcher = new RenewalBatcher({
    access: access as unknown as ShardAccess,
    clock,
    timers: clock,
    intervalMs: INTERVAL_MS,
    termsBytes: () => termsBytes,
  });
  return { access, clock, batcher };
}

function renewalOf(nodeId: string): Renewal {
  return { nodeId, incarnation: 1 as never, asOf: 1 as Revision, except: [], ...SENT_AGAIN };
}

const NOT_LEADER = { kind: "failed", outcome: "notApplied", reason: "notLeader" } as const;

test("leadership lost under a mixed batch: forwarded renewals go back, own ones wait here", async () => {
  const { access, clock, batcher } = fakeBatcher();
  const own = batcher.renew([renewalOf("a")], { timeoutMs: 5_000, isForwarded: false });
  const handed = batcher.renew([renewalOf("b"), renewalOf("c")], {
    timeoutMs: 5_000,
    isForwarded: true,
  });
  await clock.advance(1);
  expect(access.attempts.map(({ sizes }) => sizes)).toEqual([3]);
  access.leaderServerId = 2 as ServerId;
  access.attempts[0]?.settle(NOT_LEADER);
  expect(await handed).toEqual(NOT_LEADER);
  await clock.advance(INTERVAL_MS);
  expect(access.attempts.map(({ sizes }) => sizes)).toEqual([3, 1]);
  const answer = { kind: "extended", durations: [], changes: [] } as const;
  access.attempts[1]?.settle({
    kind: "applied",
    answer: {
      replayed: false,
      revision: 7 as Revision,
      result: { kind: "renewed", answers: [answer] },
    },
  });
  expect(await own).toEqual({ kind: "answered", revision: 7, answers: [answer] });
  expect(batcher.counts).toEqual({ extended: 1, refused: 0, failed: 2 });
  expect(clock.pendingCount).toBe(0);
});

test("a follower forwards only as many renewals at a time as the answer has room for", async () => {
  for (const [leader, sizes] of [
    [2, [4, 4, 2]],
    [1, [10]],
  ] as const) {
    const { access, clock, batcher } = fakeBatcher(96_000);
    access.leaderServerId = leader as ServerId;
    for (let at = 0; at < 10; at++) {
      void batcher.renew([renewalOf(`n${at}`)], { timeoutMs: 5_000, isForwarded: false });
    }
    await clock.advance(4 * INTERVAL_MS);
    expect(access.attempts.map((attempt) => attempt.sizes)).toEqual(sizes);
  }
});

test("each renewal is answered by its own deadline, and says whether it may be applied", async () => {
  const { access, clock, batcher } = fakeBatcher();
  const short = batcher.renew([renewalOf("a")], { timeoutMs: 200, isForwarded: false });
  const long = batcher.renew([renewalOf("b")], { timeoutMs: 900, isForwarded: false });
  await clock.advance(200);
  expect(await short).toMatchObject({ outcome: "unknown", reason: "deadlineExceeded" });
  access.attempts[0]?.settle(NOT_LEADER);
  access.leaderServerId = undefined;
  await clock.advance(700);
  expect(await long).toMatchObject({ outcome: "notApplied", reason: "noLeader" });
  expect(access.attempts).toHaveLength(1);
});

test("changes that outgrow an answer are cut short: the owner refreshes its view", async () => {
  const keys = Array.from({ length: 400 }, (_, at) =>
    String(at).padStart(4, "0").padEnd(3_000, "x"),
  );
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const { keyspaces, ownership } = services(cluster, leader);
  for (let part = 0; part < 8; part++) {
    const rows = keys.slice(part * 50, part * 50 + 50).map((key, at) => ({
      startKey: part === 0 && at === 0 ? new Uint8Array(0) : utf8ToBytes(key),
      intendedNodeId: "n1",
    }));
    const stage = { keyspace: "demo", importId: "i", part, rows };
    await cluster.answer(keyspaces.stageImport(stage, WAIT));
  }
  await cluster.answer(
    keyspaces.commitImport({ keyspace: "demo", importId: "i", rowCount: 400 }, WAIT),
  );
  const asOf = revisionAt(cluster, leader, SHARD);
  const owner = await join(cluster, leader, "n1");
  for (const id of [follower, leader]) {
    const view = { owner, group: SHARD, asOf, except: [], ...SENT_AGAIN };
    const refused = await cluster.result(services(cluster, id).ownership.renew(view, WAIT));
    expect(refused).toMatchObject({ ok: false, error: { reason: "VIEW_TOO_OLD" } });
    if (refused.ok) continue;
    const floor = Number(refused.error.metadata["floor"]) as Revision;
    const renewed = await cluster.answer(ownership.renew({ ...view, asOf: floor }, WAIT));
    expect(renewed.changes).toEqual([]);
    break;
  }
  const items = [
    ...(cluster.core(leader).groups.shards.get(SHARD)?.state.rangesById.values() ?? []),
  ].map(({ record }) => ({
    rangeId: record.rangeId,
    expectedEpoch: record.epoch,
    expectedDescriptorRevision: record.descriptorRevision,
    nodeId: "n1",
    incarnation: undefined,
  }));
  const requestId = {
    clientId: "g",
    sequence: 1,
    seenRevision: 0 as Revision,
    acknowledgedBelow: 0,
  };
  const heavy = { requestId, group: SHARD, items, onlyUnowned: false, handOver: false };
  expect(await cluster.result(ownership.grant(heavy, WAIT))).toMatchObject({
    ok: false,
    error: { reason: "INVALID", field: "items" },
  });
});
