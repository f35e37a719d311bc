/**
 * Real processes with short logs: a server that was away for longer than the log reaches back is
 * brought up by a snapshot, also when it is killed or stopped halfway through (B13), and no server
 * keeps more than its last checkpoint and what came after it.
 */

import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ServerId } from "../../../src/base/brands.ts";
import type { Client } from "../../../src/client/client.ts";
import { realClient } from "../support/clients.ts";
import { CLUSTER_ID, RealCluster, until } from "../support/real-cluster.ts";
import { type StoredGroup, storedGroups } from "../support/stored-state.ts";

const SHARD = 1;
const KEY_BYTES = 200;
const KEYS = 1_000;
const STORAGE = {
  checkpointBytesMin: 16_384,
  logTrailingBytes: 0,
  // As slow as may be: a megabyte at once, then a quarter of one each second.
  snapshotBytesPerSecond: 262_144,
};

let cluster: RealCluster;
let client: Client;
let keyspaces = 0;

beforeAll(async () => {
  cluster = await RealCluster.start(3, { storage: STORAGE });
  client = realClient(cluster.endpoints, "catch-up");
});

afterAll(async () => {
  client.close();
  await cluster.stop();
});

/** One entry of the shard, and a state that is larger by as much. */
async function addRanges(): Promise<void> {
  const keyspace = `keyspace-${keyspaces++}`;
  const kind = { kind: "range", hashFunction: undefined, leaseMode: "exclusive" } as const;
  const lease = { leaseDurationMs: 60_000, renewIntervalMs: 5_000 } as const;
  const patient = { deadlineMs: 30_000 };
  await client.keyspaces.createKeyspace(
    { name: keyspace, ...kind, dataKind: "none", ...lease },
    patient,
  );
  const splitKeys = Array.from({ length: KEYS }, (_, at) =>
    utf8ToBytes(`${keyspace}/${String(at).padStart(KEY_BYTES, "0")}`),
  );
  await client.keyspaces.defineRanges({ keyspace, splitKeys }, patient);
}

function metric(id: number, name: string): Promise<number | undefined> {
  return cluster.metric(id, `cadastre_${name}{group="${SHARD}"}`);
}

async function leaderOtherThan(id: number): Promise<number> {
  let leader: number | undefined;
  await until(async () => {
    leader = await cluster.leaderOf(SHARD);
    return leader !== undefined && leader !== id;
  });
  if (leader === undefined) throw new Error("until() has waited for it");
  return leader;
}

/**
 * Makes ranges until the leader's log begins after what a server that is down has applied, and its
 * snapshot has a size. Answers that size.
 */
async function leaveBehind(appliedIndex: number, fileBytesMin: number): Promise<number> {
  for (;;) {
    await addRanges();
    const leader = (await cluster.leaderOf(SHARD)) ?? 0;
    const baseIndex = (await metric(leader, "log_base_index")) ?? 0;
    const fileBytes = (await metric(leader, "last_checkpoint_bytes")) ?? 0;
    if (baseIndex > appliedIndex && fileBytes > fileBytesMin) return fileBytes;
  }
}

async function appliedEverywhere(): Promise<void> {
  await until(async () => {
    const applied = await Promise.all(cluster.servers.map(({ id }) => metric(id, "applied_index")));
    return applied[0] !== undefined && applied.every((index) => index === applied[0]);
  }, 60_000);
}

function installedAt(id: number): Promise<number | undefined> {
  const labels = `{group="${SHARD}",result="installed"}`;
  return cluster.metric(id, `cadastre_snapshot_fetches_total${labels}`);
}

test("a server whose log was left behind is brought up by a snapshot", async () => {
  const leader = await leaderOtherThan(0);
  const away = cluster.servers.map(({ id }) => id).find((id) => id !== leader) ?? 0;
  const appliedIndex = (await metric(away, "applied_index")) ?? 0;
  await cluster.kill(away);
  await leaveBehind(appliedIndex, 100_000);
  await cluster.startServer(away);
  await cluster.waitReady([away]);
  await appliedEverywhere();
  expect(await installedAt(away)).toBe(1);
});

test("killed, then stopped halfway through a transfer, it starts again and ends equal (B13 b, c)", async () => {
  const leader = await leaderOtherThan(0);
  const away = cluster.servers.map(({ id }) => id).find((id) => id !== leader) ?? 0;
  const appliedIndex = (await metric(away, "applied_index")) ?? 0;
  expect(await cluster.terminate(away)).toBe(0);
  const fileBytes = await leaveBehind(appliedIndex, 2_500_000);

  await cluster.startServer(away);
  await until(async () => ((await metric(away, "snapshot_received_bytes_total")) ?? 0) > 1_200_000);
  expect((await metric(away, "applied_index")) ?? 0).toBeLessThanOrEqual(appliedIndex);
  const ready = await cluster.get(away, "/readyz");
  expect([ready?.status, await ready?.text()]).toEqual([
    503,
    expect.stringContaining(`group ${SHARD} is far behind and receives a snapshot`),
  ]);
  await cluster.kill(away);

  await cluster.startServer(away);
  await until(async () => ((await metric(away, "snapshot_received_bytes_total")) ?? 0) > 100_000);
  expect((await metric(away, "applied_index")) ?? 0).toBeLessThanOrEqual(appliedIndex);
  expect(await cluster.terminate(away)).toBe(0);

  await cluster.startServer(away);
  await cluster.waitReady([away]);
  await appliedEverywhere();
  expect(await installedAt(away)).toBe(1);
  // Most of it had come before.
  const lastBytes = (await metric(away, "snapshot_received_bytes_total")) ?? 0;
  expect(lastBytes).toBeLessThan(fileBytes - 1_000_000);
}, 240_000);

test("every server keeps one snapshot of a group and a short log, and all states are equal", async () => {
  await appliedEverywhere();
  for (const { id } of cluster.servers) expect(await cluster.terminate(id)).toBe(0);
  const stored: StoredGroup[][] = [];
  for (const { id } of cluster.servers) {
    const expected = { clusterId: CLUSTER_ID, serverId: id as ServerId };
    const groups = await storedGroups(cluster.dataDir(id), expected);
    stored.push(groups);
    const shard = groups.find(({ group }) => group === SHARD);
    expect(shard?.snapshotIndex).toBeGreaterThan(0);
    // Between two checkpoints come as many bytes as a snapshot has: here, in large entries.
    expect(shard?.entryCount).toBeLessThan(shard?.lastIndex ?? 0);
    const files = await readdir(path.join(cluster.dataDir(id), "snapshots"));
    const ofShard = files.filter((name) => name.startsWith(`${SHARD}-`));
    expect(ofShard.filter((name) => name.endsWith(".snapshot"))).toHaveLength(1);
  }
  // Who was stopped later may have opened another term: compared is what the first one has, too.
  for (const group of [0, SHARD]) {
    const ofGroup = stored.flatMap((groups) => groups.filter((one) => one.group === group));
    const index = Math.min(...ofGroup.map(({ lastIndex }) => lastIndex));
    expect(new Set(ofGroup.map(({ digestAt }) => digestAt(index))).size).toBe(1);
  }
});
