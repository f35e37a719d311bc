/** Leadership is moved from one server to another while requests come in (Ongaro §3.10). */

import { expect, test } from "vitest";
import { replicaOf } from "../../src/replica/host.ts";
import { Cluster, type CountingServer } from "./cluster.ts";
import { add } from "./counting-machine.ts";
import { watchOutcome } from "./lone-replica.ts";

async function clusterOfThree(): Promise<{
  cluster: Cluster;
  leader: CountingServer;
  followers: [CountingServer, CountingServer];
}> {
  const cluster = new Cluster();
  const leader = await cluster.leader();
  const [one, other] = await cluster.followers();
  if (one === undefined || other === undefined) throw new Error("there are two followers");
  return { cluster, leader, followers: [one, other] };
}

test("the chosen follower leads within some messages, and what was asked meanwhile is applied", async () => {
  const { cluster, leader, followers } = await clusterOfThree();
  const [, target] = followers;
  const before = watchOutcome(leader.access.submit(add(1), 1_000));
  const moved = watchOutcome(leader.replica.transferLeadership(replicaOf(target.id)));
  const startMs = cluster.clock.nowMs();
  const during = cluster.all.map(({ access }) => watchOutcome(access.submit(add(10), 1_000)));
  await cluster.runUntil(() => target.replica.core.isLeaderReady, 100);
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(30);
  expect(moved.value).toBe("moved");
  await cluster.runUntil(() => [before, ...during].every(({ value }) => value !== undefined));
  expect([before, ...during].map(({ value }) => value?.kind)).toEqual(Array(4).fill("applied"));
  expect(target.machine.total).toBe(31);
});

test("without a target it is the follower that is furthest", async () => {
  const { cluster, leader, followers } = await clusterOfThree();
  const [ahead, behind] = followers;
  cluster.network.cut(leader.id, behind.id);
  const write = watchOutcome(leader.access.submit(add(1), 1_000));
  await cluster.runUntil(() => write.value !== undefined);
  const moved = watchOutcome(leader.replica.transferLeadership());
  await cluster.runUntil(() => ahead.replica.core.isLeaderReady, 200);
  expect(moved.value).toBe("moved");
});

test("a target that can't take over leaves the leader as it was, after an election timeout", async () => {
  const { cluster, leader, followers } = await clusterOfThree();
  const [target] = followers;
  cluster.crash(target.id);
  const moved = watchOutcome(leader.replica.transferLeadership(replicaOf(target.id)));
  await cluster.run(20);
  const waiting = watchOutcome(leader.access.submit(add(1), 3_000));
  await cluster.runUntil(() => waiting.value !== undefined, 3_000);
  expect(moved.value).toBe("aborted");
  expect(waiting.value?.kind).toBe("applied");
  expect(leader.replica.core.isLeaderReady).toBe(true);
});

test("nothing is begun by who does not lead, for who is not there, or beside another transfer", async () => {
  const { cluster, leader, followers } = await clusterOfThree();
  const [one, other] = followers;
  const byFollower = watchOutcome(one.replica.transferLeadership());
  const toNobody = watchOutcome(leader.replica.transferLeadership(replicaOf(9 as never)));
  const toItself = watchOutcome(leader.replica.transferLeadership(replicaOf(leader.id)));
  await cluster.run(5);
  for (const { value } of [byFollower, toNobody, toItself]) expect(value).toBe("refused");
  cluster.crash(one.id);
  const first = watchOutcome(leader.replica.transferLeadership(replicaOf(one.id)));
  const second = watchOutcome(leader.replica.transferLeadership(replicaOf(other.id)));
  const joining = watchOutcome(leader.replica.transferLeadership());
  await cluster.run(5);
  expect([first.value, second.value, joining.value]).toEqual([undefined, "refused", undefined]);
  leader.replica.stop();
  await cluster.run(5);
  expect([first.value, joining.value]).toEqual(["aborted", "aborted"]);
  expect(await leader.replica.transferLeadership()).toBe("refused");
});
