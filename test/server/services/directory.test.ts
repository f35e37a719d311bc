/**
 * Look-ups on whole servers in virtual time: what was acknowledged is seen through every server,
 * levels of freshness say what they give, and addresses are those of the owner's own registration.
 */

import { expect, test } from "vitest";
import { REVISION_INDEX_LIMIT, type Revision, type ServerId } from "../../../src/base/brands.ts";
import { bytesToUtf8, utf8ToBytes } from "../../../src/base/bytes.ts";
import type { LookupAnswer, ReadOptions } from "../../../src/wire/api.ts";
import { ROOT, SHARD, type VirtualCluster } from "../../sim/virtual-cluster.ts";
import {
  addKeyspace,
  clusterWith,
  followerAndLeader,
  grant,
  join,
  LINEARIZABLE,
  LOCAL,
  others,
  ranges,
  register,
  revisionAt,
  services,
  WAIT,
} from "./harness.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

function lookup(
  cluster: VirtualCluster,
  id: ServerId,
  key: string,
  read: ReadOptions = LINEARIZABLE,
  timeoutMs = 10_000,
): ReturnType<ReturnType<typeof services>["directory"]["lookup"]> {
  const request = { keyspace: "demo", key: utf8ToBytes(key), read };
  return services(cluster, id).directory.lookup(request, { timeoutMs });
}

async function found(
  cluster: VirtualCluster,
  id: ServerId,
  key: string,
  read: ReadOptions = LINEARIZABLE,
): Promise<LookupAnswer> {
  return cluster.answer(lookup(cluster, id, key, read));
}

test("a grant that was acknowledged is seen at once through every server", async () => {
  const cluster = await clusterWith(["m"]);
  const { leader } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  const granted = await grant(cluster, leader, [1], owner);
  for (const id of cluster.ids) {
    const { route, header } = await found(cluster, id, "z");
    expect(route.descriptor).toEqual(granted.outcomes[0]?.range.descriptor);
    expect(route.addresses).toEqual(["n1:1"]);
    expect(header.serverId).toBe(id);
    expect(header.revision).toBeGreaterThanOrEqual(granted.header.revision);
  }
});

test("right after a leader died, reads through the others contain what it acknowledged", async () => {
  const cluster = await clusterWith();
  const { follower: slow, leader } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  cluster.stall(slow, SHARD);
  const granted = await grant(cluster, leader, [0], owner);
  const reads = others(cluster, leader).map((id) => lookup(cluster, id, "k"));
  cluster.crash(leader);
  cluster.unstall(slow, SHARD);
  const afterwards = others(cluster).map((id) => lookup(cluster, id, "k"));
  for (const read of [...reads, ...afterwards]) {
    const { route } = await cluster.answer(read);
    expect(route.descriptor.epoch).toBe(granted.header.revision);
  }
});

test("one follower's slow disk delays neither grants nor what the others read", async () => {
  const cluster = await clusterWith();
  const { follower, leader } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  cluster.setSyncMs(follower, 2_000);
  const startMs = cluster.clock.nowMs();
  const granted = await grant(cluster, leader, [0], owner);
  for (const id of others(cluster, follower)) {
    expect((await found(cluster, id, "k")).route.descriptor.epoch).toBe(granted.header.revision);
  }
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(300);
});

test("without a quorum a linearizable read is answered by its deadline, as TRANSIENT", async () => {
  const cluster = await clusterWith();
  const [first, second] = cluster.ids;
  cluster.crash(first as ServerId);
  cluster.crash(second as ServerId);
  await cluster.clock.advance(5_000);
  const [last] = cluster.runningIds as [ServerId];
  const startMs = cluster.clock.nowMs();
  const refused = await cluster.result(lookup(cluster, last, "k", LINEARIZABLE, 1_000));
  expect(refused).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  const unknown = { keyspace: "other", key: utf8ToBytes(""), read: LINEARIZABLE };
  const call = services(cluster, last).directory.lookup(unknown, { timeoutMs: 1_000 });
  expect(await cluster.result(call)).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(2_200);
});

test("a call of several steps answers within the caller's time, not once per step", async () => {
  const cluster = await clusterWith();
  const [, , cutOff] = cluster.ids as [ServerId, ServerId, ServerId];
  cluster.cutOff(cutOff);
  await cluster.clock.advance(3_000);
  const { ownership, directory, keyspaces } = services(cluster, cutOff);
  const context = { timeoutMs: 2_000 };
  const span = { startKey: utf8ToBytes(""), endKey: undefined };
  const except = ["a", "b", "c"].map((keyspace) => ({ keyspace, span }));
  const owner = { nodeId: "n1", incarnation: 1 as never };
  const calls = [
    () =>
      ownership.renew({ owner, group: SHARD, asOf: 0 as Revision, except, ...SENT_AGAIN }, context),
    () => ownership.openSession({ owner, group: SHARD }, context),
    () => directory.listNodes({ pageSize: 0, pageToken: "" }, context),
    () => keyspaces.listKeyspaces({ pageSize: 0, pageToken: "" }, context),
  ];
  for (const call of calls) {
    const startMs = cluster.clock.nowMs();
    const refused = await cluster.result<unknown>(call());
    expect(refused).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
    expect(cluster.clock.nowMs() - startMs).toBeLessThan(2_100);
  }
});

test("what the first step of a call has used up is not given to the second", async () => {
  const cluster = await clusterWith();
  const { follower, leader } = await followerAndLeader(cluster);
  cluster.stall(follower, ROOT);
  cluster.stall(follower, SHARD);
  await addKeyspace(cluster, "late");
  expect(revisionAt(cluster, leader, SHARD)).toBeGreaterThan(revisionAt(cluster, follower, SHARD));
  const request = { keyspace: "late", key: utf8ToBytes(""), read: LINEARIZABLE };
  const call = services(cluster, follower).directory.lookup(request, { timeoutMs: 2_000 });
  const startMs = cluster.clock.nowMs();
  await cluster.clock.advance(1_500);
  cluster.unstall(follower, ROOT);
  expect(await cluster.result(call)).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(2_100);
});

test("AT_LEAST waits for the revision, and at its deadline says which one it has", async () => {
  const cluster = await clusterWith();
  const { follower, leader } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  cluster.stall(follower, SHARD);
  const granted = await grant(cluster, leader, [0], owner);
  const read = { kind: "atLeast", revision: granted.header.revision } as const;
  const has = revisionAt(cluster, follower, SHARD);
  expect(has).toBeLessThan(granted.header.revision);
  const refused = await cluster.result(lookup(cluster, follower, "k", read, 300));
  expect(refused).toMatchObject({
    ok: false,
    error: { reason: "TRANSIENT", metadata: { group: "1", revision: String(has) } },
  });
  const waiting = lookup(cluster, follower, "k", read);
  cluster.unstall(follower, SHARD);
  const { route, header } = await cluster.answer(waiting);
  expect(route.descriptor.epoch).toBe(granted.header.revision);
  expect(header.revision).toBeGreaterThanOrEqual(granted.header.revision);
});

test("a revision of another generation is refused by field", async () => {
  const cluster = await clusterWith();
  const read = { kind: "atLeast", revision: (REVISION_INDEX_LIMIT + 1) as Revision } as const;
  expect(await cluster.result(lookup(cluster, 1 as ServerId, "k", read))).toMatchObject({
    ok: false,
    error: { reason: "INVALID", field: "read.at_least_revision" },
  });
});

test("LOCAL answers without a leader, with a staleness that grows while cut off", async () => {
  const cluster = await clusterWith();
  const { follower, leader } = await followerAndLeader(cluster);
  const fresh = await found(cluster, follower, "k", LOCAL);
  expect(fresh.staleness?.revisions).toBe(0);
  expect(fresh.staleness?.confirmedMsAgo).toBeLessThan(1_200);
  cluster.cutOff(follower);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [0], owner);
  await cluster.clock.advance(2_000);
  const early = await found(cluster, follower, "k", LOCAL);
  await cluster.clock.advance(3_000);
  const late = await found(cluster, follower, "k", LOCAL);
  expect(late.route.descriptor.owner).toBeUndefined();
  const [before, after] = [early, late].map(({ staleness }) => staleness?.confirmedMsAgo ?? -1);
  expect(after).toBe((before ?? 0) + 3_000);
  cluster.rejoin(follower);
  await cluster.until(() => revisionAt(cluster, follower, SHARD) >= late.header.revision + 2);
  await cluster.clock.advance(2_000);
  const healed = await found(cluster, follower, "k", LOCAL);
  expect(healed.route.descriptor.epoch).toBeGreaterThan(0);
  expect(healed.staleness?.confirmedMsAgo).toBeLessThan(1_200);
  expect((await found(cluster, follower, "k")).staleness).toBeUndefined();
});

test("a replica that has never confirmed its position says so", async () => {
  const cluster = await clusterWith();
  const [, , last] = cluster.ids as [ServerId, ServerId, ServerId];
  for (const id of cluster.ids) cluster.crash(id);
  cluster.restart(last);
  await cluster.clock.advance(100);
  const { groups } = cluster.core(last);
  expect(groups.shards.get(SHARD)?.access.staleness().confirmedMsAgo).toBeUndefined();
});

test("a batch is answered in the order of its keys, routes in key order, each once", async () => {
  const cluster = await clusterWith(["b", "m"]);
  const [id] = cluster.ids as [ServerId];
  const keys = ["zz", "", "m", "b", "azz", "m\0", "lzz", "ÿÿÿÿ"];
  const request = { keyspace: "demo", keys: keys.map(utf8ToBytes), read: LINEARIZABLE };
  const answer = await cluster.answer(services(cluster, id).directory.lookupBatch(request, WAIT));
  const starts = answer.routes.map(({ descriptor }) => bytesToUtf8(descriptor.span.startKey));
  expect(starts).toEqual(["", "b", "m"]);
  expect(answer.routeOfKey).toEqual([2, 0, 2, 1, 0, 2, 1, 2]);
  for (const [at, key] of keys.entries()) {
    const single = await found(cluster, id, key);
    expect(answer.routes[answer.routeOfKey[at] as number]).toEqual(single.route);
  }
});

test("a batch whose routes outgrow an answer is refused by field, nothing is cut", async () => {
  const keys = Array.from({ length: 600 }, (_, at) => String(at).padStart(3, "0"));
  const cluster = await clusterWith();
  const { leader } = await followerAndLeader(cluster);
  const { keyspaces, directory } = services(cluster, leader);
  for (let part = 0; part < 15; part++) {
    const rows = keys.slice(part * 40, part * 40 + 40).map((key, at) => ({
      startKey: part === 0 && at === 0 ? new Uint8Array(0) : utf8ToBytes(key.padEnd(4_000, "x")),
      intendedNodeId: undefined,
    }));
    await cluster.answer(
      keyspaces.stageImport({ keyspace: "demo", importId: "i", part, rows }, WAIT),
    );
  }
  await cluster.answer(
    keyspaces.commitImport({ keyspace: "demo", importId: "i", rowCount: 600 }, WAIT),
  );
  const batch = (count: number): ReturnType<typeof directory.lookupBatch> => {
    const asked = keys.slice(0, count).map((key) => utf8ToBytes(`${key}y`));
    const request = { keyspace: "demo", keys: asked, read: LINEARIZABLE };
    return directory.lookupBatch(request, WAIT);
  };
  expect(await cluster.result(batch(600))).toMatchObject({
    ok: false,
    error: { reason: "INVALID", field: "keys" },
  });
  expect((await cluster.answer(batch(100))).routes).toHaveLength(100);
});

test("a range id that is none is INVALID, an unknown one NOT_FOUND", async () => {
  const cluster = await clusterWith();
  const [id] = cluster.ids as [ServerId];
  const { directory } = services(cluster, id);
  const get = (rangeId: string): ReturnType<typeof directory.getRange> =>
    directory.getRange({ rangeId, read: LINEARIZABLE }, WAIT);
  for (const bad of ["", "1", "1.2", "1.2.3.4", "a.b.c", "-1.2.3", "1.2.3\n", "99999999999.1.0"]) {
    expect(await cluster.result(get(bad))).toMatchObject({
      ok: false,
      error: { reason: "INVALID", field: "range_id", metadata: { range_id: bad } },
    });
  }
  for (const unknown of ["1.999999.0", "7.1.0", "0.1.0"]) {
    expect(await cluster.result(get(unknown))).toMatchObject({
      ok: false,
      error: { reason: "NOT_FOUND", field: "range_id" },
    });
  }
});

test("a range is told with its owner's addresses and what is left of its lease", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [0], owner);
  const [record] = await ranges(cluster, leader);
  const rangeId = record?.descriptor.rangeId ?? "";
  const get = services(cluster, follower).directory.getRange({ rangeId, read: LINEARIZABLE }, WAIT);
  const answer = await cluster.answer(get);
  expect(answer).toMatchObject({ range: record, addresses: ["n1:1"] });
  expect(answer.leaseRemainingMs).toBeGreaterThan(5_000);
  expect(answer.leaseRemainingMs).toBeLessThanOrEqual(6_000);
});

test("addresses are those of the owner's own incarnation, while its next process waits (law 13)", async () => {
  const cluster = await clusterWith();
  const { leader } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [0], owner);
  await register(cluster, leader, "n1", { addresses: ["elsewhere:1"] });
  const { route } = await found(cluster, leader, "k");
  expect(route.descriptor.owner).toEqual(owner);
  expect(route.addresses).toEqual(["n1:1"]);
});

test("a server whose root lags tells the route: its shard knows the owner's addresses", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  cluster.stall(follower, ROOT);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [0], owner);
  expect((await found(cluster, follower, "k")).route.addresses).toEqual(["n1:1"]);
});

test("a keyspace that does not exist is NOT_FOUND through every server", async () => {
  const cluster = await clusterWith();
  for (const id of cluster.ids) {
    const request = { keyspace: "none", key: utf8ToBytes(""), read: LOCAL };
    const call = services(cluster, id).directory.lookup(request, WAIT);
    expect(await cluster.result(call)).toMatchObject({
      ok: false,
      error: { reason: "NOT_FOUND", metadata: { keyspace: "none" } },
    });
  }
});
