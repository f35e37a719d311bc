/** Three hosts: they elect, replicate, restart from their disks, and agree on every entry. */

import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.ts";
import type { ServerId } from "../../src/base/brands.ts";
import type { SubmitOutcome } from "../../src/replica/group-access.ts";
import { Cluster, type CountingServer, type Disk, SERVERS } from "./cluster.ts";
import { GROUP } from "./lone-replica.ts";
import { add, type CountAnswer } from "./counting-machine.ts";
import { watchOutcome } from "./lone-replica.ts";

test("what one server is asked, all apply in one order, wherever it came in", async () => {
  const cluster = new Cluster();
  await cluster.leader();
  const outcomes = [1, 2, 3, 4, 5, 6].map((amount) =>
    watchOutcome(cluster.server(1 + (amount % 3)).access.submit(add(amount), 1_000)),
  );
  await cluster.runUntil(() => outcomes.every(({ value }) => value !== undefined));
  expect(outcomes.map(({ value }) => value?.kind)).toEqual(Array(6).fill("applied"));
  await cluster.runUntil(() => cluster.all.every(({ machine }) => machine.total === 21));
  const [first, ...others] = cluster.all.map(({ machine }) => machine.applied);
  for (const applied of others) expect(applied).toEqual(first);
});

test("a command is forwarded once: a server that does not lead refuses it", async () => {
  const cluster = new Cluster();
  const leader = await cluster.leader();
  const [follower, other] = await cluster.followers();
  if (follower === undefined || other === undefined) throw new Error("there are two followers");
  const outcome = watchOutcome(follower.access.submit(add(1), 1_000));
  await cluster.runUntil(() => outcome.value !== undefined);
  expect(outcome.value?.kind).toBe("applied");
  expect([leader, follower, other].map(({ forwarded }) => forwarded.length)).toEqual([1, 0, 0]);
});

test("while nobody leads a request waits, and gives up at its deadline without effect", async () => {
  const cluster = new Cluster();
  const leader = await cluster.leader();
  const [survivor, victim] = await cluster.followers();
  if (survivor === undefined || victim === undefined) throw new Error("there are two followers");
  cluster.crash(leader.id);
  cluster.crash(victim.id);
  await cluster.run(500);
  const outcome = watchOutcome(survivor.access.submit(add(1), 300));
  const read = watchOutcome(survivor.access.read({ kind: "linearizable" }, 300));
  await cluster.run(250);
  expect([outcome.value, read.value]).toEqual([undefined, undefined]);
  await cluster.run(100);
  expect(outcome.value).toEqual({ kind: "failed", outcome: "notApplied", reason: "noLeader" });
  expect(read.value).toEqual({ kind: "unavailable", reason: "noLeader" });
  expect(survivor.access.counts.proposals).toEqual({ applied: 0, notApplied: 1, unknown: 0 });
});

test("a request waits out an election and is applied by the next leader, once", async () => {
  const cluster = new Cluster();
  const leader = await cluster.leader();
  const [follower] = await cluster.followers();
  if (follower === undefined) throw new Error("there is a follower");
  cluster.crash(leader.id);
  await cluster.run(5);
  const outcome = watchOutcome(follower.access.submit(add(5), 3_000));
  await cluster.runUntil(() => outcome.value !== undefined);
  expect(outcome.value).toMatchObject({ kind: "applied", answer: { total: 5 } });
});

test("every replica answers linearizable reads, and says how stale a local one may be", async () => {
  const cluster = new Cluster();
  const leader = await cluster.leader();
  const [follower] = await cluster.followers();
  if (follower === undefined) throw new Error("there is a follower");
  const write = watchOutcome(leader.access.submit(add(9), 1_000));
  await cluster.runUntil(() => write.value !== undefined);
  const read = watchOutcome(follower.access.read({ kind: "linearizable" }, 1_000));
  await cluster.runUntil(() => read.value !== undefined);
  expect(read.value).toEqual({ kind: "ready" });
  expect(follower.machine.total).toBe(9);
  const before = follower.access.staleness();
  expect(before.revisions).toBe(0);
  expect(before.confirmedMsAgo).toBeLessThan(50);
  cluster.network.cut(follower.id, leader.id);
  await cluster.run(40);
  expect(follower.access.staleness().confirmedMsAgo).toBe((before.confirmedMsAgo ?? 0) + 40);
});

test("a read at a revision waits for it, and another generation's is refused", async () => {
  const cluster = new Cluster();
  const { access, machine } = await cluster.leader();
  expect(await access.read({ kind: "atLeast", revision: machine.revision }, 10)).toEqual({
    kind: "ready",
  });
  const ahead = (machine.revision + 1) as typeof machine.revision;
  const waiting = watchOutcome(access.read({ kind: "atLeast", revision: ahead }, 1_000));
  const short = watchOutcome(access.read({ kind: "atLeast", revision: ahead }, 30));
  await cluster.run(50);
  expect(waiting.value).toBeUndefined();
  expect(short.value).toEqual({ kind: "unavailable", reason: "behind" });
  void access.submit(add(1), 1_000);
  await cluster.runUntil(() => waiting.value !== undefined);
  expect(waiting.value).toEqual({ kind: "ready" });
  const other = (2 ** 44 + 1) as typeof ahead;
  expect(await access.read({ kind: "atLeast", revision: other }, 10)).toEqual({
    kind: "otherGeneration",
  });
});

test("a leader that was cut off leaves its proposals unknown, and they are lost or kept whole", async () => {
  const cluster = new Cluster();
  const leader = await cluster.leader();
  for (const { id } of await cluster.followers()) cluster.network.cut(leader.id, id);
  const lost = watchOutcome(leader.access.submit(add(100), 150));
  await cluster.run(200);
  expect(lost.value).toMatchObject({ kind: "failed", outcome: "unknown" });
  const other = cluster.all.find((server) => server !== leader);
  if (other === undefined) throw new Error("there are others");
  const kept = watchOutcome(other.access.submit(add(7), 3_000));
  await cluster.runUntil(() => kept.value !== undefined);
  expect(kept.value).toMatchObject({ kind: "applied", answer: { total: 7 } });
  for (const { id } of cluster.all) if (id !== leader.id) cluster.network.heal(leader.id, id);
  await cluster.runUntil(() => cluster.all.every(({ machine }) => machine.total === 7));
});

test("what falls due is ended by one Expire, though three servers tick", async () => {
  const cluster = new Cluster();
  const leader = await cluster.leader();
  const atMs = (leader.replica.core.leaderTimeMs ?? 0) + 100;
  void leader.access.submit({ kind: "remind", atMs }, 1_000);
  await cluster.run(60);
  expect(leader.machine.applied).not.toContain("expire");
  await cluster.run(150);
  for (const { machine } of cluster.all) {
    expect(machine.applied.filter((what) => what === "expire")).toHaveLength(1);
  }
});

/** Outcomes of random submissions, with what each would add. */
interface Submission {
  readonly amount: number;
  readonly seen: { readonly value: SubmitOutcome<CountAnswer> | undefined };
}

test("through crashes, restarts and cuts every acknowledged request is applied exactly once", async () => {
  const reached = new Set<string>();
  let installed = 0;
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
    const prng = Prng.fromSeed(seed);
    // Every other life has a short log: who was away is brought up by a snapshot.
    const cluster = new Cluster({ checkpointBytesMin: seed % 2 === 0 ? 150 : 1e9 });
    const submissions: Submission[] = [];
    const down = new Map<ServerId, Disk>();
    for (let turn = 0; turn < 60; turn++) {
      for (let times = prng.nextInteger(0, 4); times > 0; times--) {
        const { access } = prng.pick(cluster.all);
        // Each its own amount: the log tells which were applied, and how often.
        const amount = submissions.length + 1;
        const seen = watchOutcome(access.submit(add(amount), prng.nextInteger(20, 400)));
        submissions.push({ amount, seen });
      }
      await cluster.run(prng.nextInteger(0, 3));
      disturb(prng, cluster, down);
      await cluster.run(prng.nextInteger(1, 60));
    }
    for (const [id, store] of down) cluster.restart(id, store);
    healAll(cluster);
    const last = await cluster.leader();
    const marker = watchOutcome(last.access.submit(add(0), 2_000));
    await cluster.runUntil(() => marker.value !== undefined);
    await cluster.runUntil(() => sameApplied(cluster.all));
    // By now the longest deadline is over, of the youngest submission too.
    await cluster.run(400);
    checkSubmissions(last, submissions);
    installed += cluster.installed;
    for (const { seen } of submissions) {
      if (seen.value !== undefined) reached.add(outcomeOf(seen.value));
    }
  }
  for (const what of ["applied", "notApplied", "unknown"]) expect(reached).toContain(what);
  expect(installed).toBeGreaterThan(3);
}, 60_000);

test("a server whose log was left behind is brought up by a snapshot, and logs stay short", async () => {
  const cluster = new Cluster({ checkpointBytesMin: 400 });
  const [away] = await cluster.followers();
  if (away === undefined) throw new Error("there are followers");
  const disk = cluster.crash(away.id);
  const leader = await cluster.leader();
  for (let entry = 1; entry <= 100; entry++) {
    const seen = watchOutcome(leader.access.submit(add(entry), 1_000));
    await cluster.runUntil(() => seen.value !== undefined);
  }
  const { base, lastIndex, logBytes } = leader.replica.core;
  expect(base.index).toBeGreaterThan(away.replica.core.lastIndex);
  // The log holds less than one interval of checkpoints: as much as the state, which is small.
  const { lastFileBytes = 0 } = leader.replica.snapshots.checkpointStats;
  expect(logBytes).toBeLessThan(Math.max(400, lastFileBytes) + 50);
  expect(leader.store.loaded()[0]?.entries).toHaveLength(lastIndex - base.index);
  cluster.restart(away.id, disk);
  const back = cluster.server(away.id);
  await cluster.runUntil(() => back.replica.appliedIndex === leader.replica.appliedIndex);
  expect(back.replica.snapshots.fetchStats).toMatchObject({ installed: 1, failed: 0 });
  expect(back.machine.digest()).toBe(leader.machine.digest());
  for (const { snapshots } of cluster.all) expect(snapshots.published(GROUP)).toHaveLength(1);
});

test("a restart takes a snapshot and the entries after it, however old the group is", async () => {
  const cluster = new Cluster({ checkpointBytesMin: 400 });
  const leader = await cluster.leader();
  for (let entry = 1; entry <= 60; entry++) {
    const seen = watchOutcome(leader.access.submit(add(entry), 1_000));
    await cluster.runUntil(() => seen.value !== undefined);
  }
  const total = leader.machine.total;
  const disks = SERVERS.map((id) => [id, cluster.crash(id)] as const);
  for (const [id, disk] of disks) {
    expect(disk.log.loaded()[0]?.entries.length).toBeLessThan(30);
    cluster.restart(id, disk);
  }
  const next = await cluster.leader();
  const seen = watchOutcome(next.access.submit(add(5), 2_000));
  await cluster.runUntil(() => seen.value !== undefined);
  expect(seen.value).toMatchObject({ kind: "applied", answer: { total: total + 5 } });
  await cluster.runUntil(() => sameApplied(cluster.all));
});

function outcomeOf(outcome: SubmitOutcome<CountAnswer>): string {
  return outcome.kind === "applied" ? outcome.kind : outcome.outcome;
}

function disturb(prng: Prng, cluster: Cluster, down: Map<ServerId, Disk>): void {
  const roll = prng.nextInteger(0, 9);
  if (roll === 0 && down.size === 0) {
    const id = prng.pick(SERVERS);
    down.set(id, cluster.crash(id, prng.nextInteger(0, 2)));
  } else if (roll < 3) {
    for (const [id, store] of down) cluster.restart(id, store);
    down.clear();
  } else if (roll === 3) {
    const id = prng.pick(SERVERS);
    for (const other of SERVERS) if (prng.chance(0.8)) cluster.network.cut(id, other);
  } else if (roll < 6) healAll(cluster);
}

function healAll(cluster: Cluster): void {
  for (const a of SERVERS) for (const b of SERVERS) if (a < b) cluster.network.heal(a, b);
}

function sameApplied(servers: readonly CountingServer[]): boolean {
  const [first, ...others] = servers.map(({ machine }) => machine.applied.join());
  return others.every((applied) => applied === first);
}

function checkSubmissions({ machine }: CountingServer, submissions: readonly Submission[]): void {
  for (const { amount, seen } of submissions) {
    const times = machine.applied.filter((what) => what === `add ${amount}`).length;
    if (seen.value?.kind === "applied") expect(times, `${amount} was acknowledged`).toBe(1);
    else if (seen.value?.outcome === "notApplied") expect(times, `${amount} was refused`).toBe(0);
    else expect(times).toBeLessThanOrEqual(1);
    expect(seen.value, `${amount} was answered`).toBeDefined();
  }
}
