/**
 * Whole servers whose logs are short: one that was left behind is brought up by a snapshot, under
 * the reads and watches that it serves meanwhile (laws 19 to 21).
 */

import { expect, test } from "vitest";
import type { ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { Replica } from "../../../src/replica/replica.ts";
import { ROOT, SHARD, type VirtualCluster } from "../../sim/virtual-cluster.ts";
import {
  addKeyspace,
  clusterWith,
  followerAndLeader,
  grant,
  join,
  LINEARIZABLE,
  LOCAL,
  ranges,
  revisionAt,
  services,
  WAIT,
} from "./harness.ts";
import { endOf, open, pull, WatchTable } from "./watch-table.ts";

const LETTERS = Array.from({ length: 12 }, (_, at) => String.fromCharCode(97 + at));
/** A checkpoint after a few entries, and nothing kept behind it. */
const SHORT = {
  checkpointBytesMin: 1_024,
  logTrailingBytes: 0,
  snapshotBytesPerSecond: 1_000_000,
};

function replicaAt(
  cluster: VirtualCluster,
  id: ServerId,
  group: typeof ROOT,
): Replica<never, never, never> {
  const { groups } = cluster.core(id);
  const access = group === ROOT ? groups.root : groups.shards.get(group)?.access;
  if (access === undefined) throw new Error(`there is no group ${group}`);
  return access.replica as never;
}

/**
 * Changes the shard until the leader's log does not reach back to this server any more, which hears
 * of its leader and gets no entries.
 */
async function leaveBehind(cluster: VirtualCluster, id: ServerId): Promise<void> {
  const leader = await cluster.leader(SHARD);
  const behind = replicaAt(cluster, id, SHARD);
  const ahead = replicaAt(cluster, leader, SHARD);
  for (let round = 0; ahead.core.base.index <= behind.core.lastIndex; round++) {
    const owner = await join(cluster, leader, `left-${round}`);
    await grant(cluster, leader, [round % 12], owner);
    if (round > 200) throw new Error("no checkpoint shortens the leader's log");
  }
}

async function installed(cluster: VirtualCluster, id: ServerId, group = SHARD): Promise<void> {
  const leader = await cluster.leader(group);
  await cluster.until(() => revisionAt(cluster, id, group) === revisionAt(cluster, leader, group));
  expect(replicaAt(cluster, id, group).snapshots.fetchStats.installed).toBe(1);
}

test("a watch over an installed snapshot gets a marked fresh one, and goes on from there", async () => {
  const cluster = await clusterWith(LETTERS, { storage: SHORT });
  const { follower, leader } = await followerAndLeader(cluster);
  const watcher = new WatchTable(cluster);
  watcher.attach(follower);
  await watcher.reach(revisionAt(cluster, leader, SHARD));
  expect(watcher.snapshots).toBe(1);
  cluster.stall(follower, SHARD);
  await leaveBehind(cluster, follower);
  cluster.unstall(follower, SHARD);
  await installed(cluster, follower);
  const frame = await watcher.take();
  expect(frame).toMatchObject({ kind: "snapshot", first: true, afterCompaction: true });
  await watcher.reach(revisionAt(cluster, leader, SHARD));
  expect(watcher.table).toEqual(await ranges(cluster, leader));
  const owner = await join(cluster, leader, "later");
  const { header } = await grant(cluster, leader, [3], owner);
  await watcher.reach(header.revision);
  expect(watcher.snapshots).toBe(2);
  expect(watcher.table).toEqual(await ranges(cluster, leader));
});

test("a quiet watch is woken by an installed snapshot", async () => {
  const cluster = await clusterWith(LETTERS, { storage: SHORT });
  const { follower } = await followerAndLeader(cluster);
  const watcher = new WatchTable(cluster);
  watcher.attach(follower);
  await watcher.reach(revisionAt(cluster, follower, SHARD));
  // It has just been told of its position, so the next word of that is due in two seconds.
  expect((await watcher.take()).kind).toBe("progress");
  const startMs = cluster.clock.nowMs();
  const waiting = watcher.take();
  cluster.stall(follower, SHARD);
  await leaveBehind(cluster, follower);
  expect((await waiting).kind).toBe("snapshot");
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(1_500);
  cluster.unstall(follower, SHARD);
  await installed(cluster, follower);
});

test("a watch that wants no fresh snapshot ends as COMPACTED, and resumes elsewhere", async () => {
  const cluster = await clusterWith(LETTERS, { storage: SHORT });
  const { follower, leader } = await followerAndLeader(cluster);
  const stream = open(cluster, follower, { failIfCompacted: true });
  const { resumeToken } = await pull(cluster, stream);
  expect(resumeToken).toBeDefined();
  cluster.stall(follower, SHARD);
  await leaveBehind(cluster, follower);
  cluster.unstall(follower, SHARD);
  await installed(cluster, follower);
  expect((await endOf(cluster, stream)).reason).toBe("COMPACTED");
  // The leader's history has everything after the token.
  const again = open(cluster, leader, { failIfCompacted: true, resumeToken });
  expect((await pull(cluster, again)).kind).toBe("changes");
});

test("reads after an install are of the new state, and pages from before it are COMPACTED", async () => {
  const cluster = await clusterWith(LETTERS, { storage: SHORT });
  const { follower, leader } = await followerAndLeader(cluster);
  const { directory } = services(cluster, follower);
  const span = { startKey: utf8ToBytes(""), endKey: undefined };
  const query = { keyspace: "demo", span, nodeId: undefined, unownedOnly: false, pageSize: 4 };
  const first = await cluster.answer(
    directory.listRanges({ ...query, pageToken: "", read: LOCAL }, WAIT),
  );
  cluster.stall(follower, SHARD);
  await leaveBehind(cluster, follower);
  const key = utf8ToBytes("c");
  // It waits for what it has not applied: no answer of the old state is taken for the new one.
  const waiting = directory.lookup({ keyspace: "demo", key, read: LINEARIZABLE }, WAIT);
  await cluster.clock.advance(50);
  cluster.unstall(follower, SHARD);
  await installed(cluster, follower);
  const { route, header } = await cluster.answer(waiting);
  const known = (await ranges(cluster, leader)).find(
    ({ descriptor }) => descriptor.rangeId === route.descriptor.rangeId,
  );
  expect(route.descriptor).toEqual(known?.descriptor);
  expect(header.revision).toBeGreaterThanOrEqual(route.descriptor.descriptorRevision);
  expect(await ranges(cluster, follower)).toEqual(await ranges(cluster, leader));
  const next = directory.listRanges(
    { ...query, pageToken: first.nextPageToken, read: LOCAL },
    WAIT,
  );
  expect(await cluster.result(next)).toMatchObject({ ok: false, error: { reason: "COMPACTED" } });
});

test("a root that was left behind is brought up, too: its keyspaces and nodes are known", async () => {
  const cluster = await clusterWith([], { storage: SHORT });
  const { follower } = await followerAndLeader(cluster);
  const leader = await cluster.leader(ROOT);
  cluster.stall(follower, ROOT);
  const behind = replicaAt(cluster, follower, ROOT);
  for (
    let at = 0;
    replicaAt(cluster, leader, ROOT).core.base.index <= behind.core.lastIndex;
    at++
  ) {
    await addKeyspace(cluster, `more-${at}`);
  }
  expect(cluster.core(follower).groups.rootState.keyspaceIds.has("more-1")).toBe(false);
  cluster.unstall(follower, ROOT);
  await installed(cluster, follower, ROOT);
  const { groups } = cluster.core(follower);
  expect(groups.rootState.keyspaceIds.has("more-1")).toBe(true);
  expect(groups.rootState.revision).toBe(revisionAt(cluster, leader, ROOT));
});

test("a restarted server begins with its snapshot, and a watch can resume at it", async () => {
  const cluster = await clusterWith(LETTERS, { storage: SHORT });
  const { follower, leader } = await followerAndLeader(cluster);
  for (let at = 0; replicaAt(cluster, follower, SHARD).core.base.index < 20; at++) {
    await join(cluster, leader, `n${at}`);
  }
  const watcher = new WatchTable(cluster);
  watcher.attach(follower);
  await watcher.reach(revisionAt(cluster, leader, SHARD));
  await watcher.detach();
  await cluster.clock.advance(50);
  cluster.crash(follower);
  cluster.restart(follower);
  const restarted = replicaAt(cluster, follower, SHARD);
  expect(restarted.isRestored).toBe(false);
  const shard = cluster.core(follower).groups.shards.get(SHARD);
  const early = { kind: "unavailable", reason: "behind" };
  expect(await shard?.access.read(LOCAL, 100)).toEqual(early);
  const atLeast = { kind: "atLeast", revision: watcher.revision } as const;
  expect(await shard?.access.read(atLeast, 100)).toEqual(early);
  watcher.attach(follower);
  await grant(cluster, leader, [6], await join(cluster, leader, "late"));
  await watcher.reach(revisionAt(cluster, leader, SHARD));
  expect(watcher.table).toEqual(await ranges(cluster, leader));
  expect(shard?.history.floor).toBe(restarted.core.status().snapshotIndex);
});
