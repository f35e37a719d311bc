/**
 * What a server says of itself, on whole servers in virtual time: status without waiting, and alive
 * and ready as two questions (B16).
 */

import { expect, test } from "vitest";
import { livenessChecks, readinessChecks } from "../../../src/admin/checks.ts";
import type { AdminPort } from "../../../src/admin/port.ts";
import type { ServerId } from "../../../src/base/brands.ts";
import { type AdminFacts, adminPort } from "../../../src/server/admin-port.ts";
import { clusterStatus } from "../../../src/server/services/cluster.ts";
import { ROOT, SHARD, type VirtualCluster } from "../../sim/virtual-cluster.ts";
import {
  clusterWith,
  followerAndLeader,
  grant,
  join,
  others,
  revisionAt,
  services,
  WAIT,
} from "./harness.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

function portOf(
  cluster: VirtualCluster,
  id: ServerId,
  facts: AdminFacts = { fatalError: undefined },
  drain: AbortSignal = new AbortController().signal,
): AdminPort {
  const core = cluster.core(id);
  return adminPort({
    core,
    facts,
    drain,
    clock: cluster.clock,
    status: () => clusterStatus(core.groups, core.clusterFacts),
    syncHistogram: () => undefined,
    snapshotSends: () => ({ active: 0, results: {}, sentBytes: 0 }),
  });
}

function problems(checks: ReturnType<typeof readinessChecks>): Record<string, string> {
  const failed = checks.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [[name, problem] as const],
  );
  return Object.fromEntries(failed);
}

function isReady(port: AdminPort): boolean {
  return Object.keys(problems(readinessChecks(port.health()))).length === 0;
}

test("a server that is cut off is live, not ready with the reason, and ready again when healed", async () => {
  const cluster = await clusterWith();
  const leader = await cluster.leader(SHARD);
  for (const cutOff of [leader, ...others(cluster, leader).slice(0, 1)]) {
    const port = portOf(cluster, cutOff);
    await cluster.until(() => isReady(port));
    cluster.cutOff(cutOff);
    await cluster.until(() => !isReady(port), 3_000);
    await cluster.clock.advance(4_000);
    const found = problems(readinessChecks(port.health()));
    expect(found["leader"]).toBe("group 0 has no leader, group 1 has no leader");
    expect(found["read-index"]).toMatch(/group 1 was last current \d\.\d s ago/);
    expect(problems(livenessChecks(port.health()))).toEqual({});
    for (const id of others(cluster, cutOff)) expect(isReady(portOf(cluster, id))).toBe(true);
    cluster.rejoin(cutOff);
    await cluster.until(() => isReady(port), 3_000);
  }
});

test("the last of three servers is live for as long as it is alone, and no call hangs", async () => {
  const cluster = await clusterWith();
  const [first, second, last] = cluster.ids as [ServerId, ServerId, ServerId];
  cluster.crash(first);
  cluster.crash(second);
  for (let seconds = 0; seconds < 30; seconds += 5) {
    await cluster.clock.advance(5_000);
    const port = portOf(cluster, last);
    expect(problems(livenessChecks(port.health()))).toEqual({});
    expect(isReady(port)).toBe(false);
    const startMs = cluster.clock.nowMs();
    await cluster.answer(services(cluster, last).cluster.getStatus({}, WAIT));
    expect(cluster.clock.nowMs() - startMs).toBeLessThan(5);
  }
  cluster.restart(first);
  const port = portOf(cluster, last);
  await cluster.until(() => isReady(port), 5_000);
});

test("a server that restarts is not ready until it has replayed and confirmed a read", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [0], owner);
  cluster.crash(follower);
  cluster.restart(follower);
  const port = portOf(cluster, follower);
  expect(Object.keys(problems(readinessChecks(port.health())))).toContain("read-index");
  await cluster.until(() => isReady(port), 3_000);
  expect(revisionAt(cluster, follower, SHARD)).toBeGreaterThan(0);
});

test("a fatal error is neither live nor ready, a draining server is not ready but live", async () => {
  const cluster = await clusterWith();
  const [id] = cluster.ids as [ServerId];
  await cluster.until(() => isReady(portOf(cluster, id)));
  const broken = portOf(cluster, id, { fatalError: "the disk is full" });
  expect(problems(livenessChecks(broken.health()))).toEqual({
    "no-fatal-error": "the disk is full",
  });
  expect(isReady(broken)).toBe(false);
  const aborter = new AbortController();
  const draining = portOf(cluster, id, undefined, aborter.signal);
  aborter.abort();
  expect(problems(livenessChecks(draining.health()))).toEqual({});
  expect(problems(readinessChecks(draining.health()))).toEqual({
    "not-draining": "the server is stopping",
  });
});

test("the status names every group, its leader as this server sees it, and the replicas", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  await cluster.clock.advance(200);
  const statuses = [];
  for (const id of [leader, follower]) {
    statuses.push(await cluster.answer(services(cluster, id).cluster.getStatus({}, WAIT)));
  }
  const [atLeader, atFollower] = statuses.map(({ groups }) => groups[1]);
  expect(atLeader).toMatchObject({ group: SHARD, role: "leader", leaderServerId: leader });
  expect(atFollower).toMatchObject({ group: SHARD, role: "follower", leaderServerId: leader });
  expect(atLeader?.replicas.map(({ serverId }) => serverId)).toEqual(cluster.ids);
  expect(atFollower?.replicas.map(({ serverId }) => serverId)).toEqual([follower]);
  for (const { matchIndex } of atLeader?.replicas ?? []) {
    expect(matchIndex).toBe(atLeader?.lastIndex);
  }
  expect(statuses[1]?.servers.map(({ serverId }) => serverId)).toEqual(cluster.ids);
  expect(statuses[1]?.header).toMatchObject({ group: ROOT, serverId: follower });
});

test("metrics count proposals, watches and renewals by how they ended", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, follower, "n1");
  const asOf = revisionAt(cluster, leader, SHARD);
  const { ownership } = services(cluster, follower);
  const renewal = { owner, group: SHARD, asOf, except: [], ...SENT_AGAIN };
  await cluster.answer(ownership.renew(renewal, WAIT));
  await cluster.result(ownership.renew({ ...renewal, owner: { ...owner, nodeId: "n2" } }, WAIT));
  const { renewals, watches, groups } = portOf(cluster, follower).metrics();
  expect(renewals).toEqual({ extended: 1, refused: 1, failed: 0 });
  expect(watches).toBe(0);
  const shard = groups.find(({ group }) => group === SHARD);
  expect(shard).toMatchObject({ isLeader: false, hasLeader: true, proposalsPending: 0 });
  expect(shard?.proposals).toEqual({ applied: 3, notApplied: 0, unknown: 0 });
});
