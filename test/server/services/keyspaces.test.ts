/**
 * Keyspace creation and imports on whole servers in virtual time, with the leader crashing between
 * each pair of steps (laws 5 and 28).
 */

import { expect, test } from "vitest";
import type { Revision, ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ImportRow, RequestId } from "../../../src/wire/api.ts";
import { ROOT, SHARD, VirtualCluster } from "../../sim/virtual-cluster.ts";

const WAIT = { timeoutMs: 10_000 };

const SETTINGS = {
  kind: "range",
  hashFunction: undefined,
  leaseMode: "exclusive",
  dataKind: "none",
  leaseDurationMs: 3_000,
  renewIntervalMs: 1_000,
} as const;

function requestId(sequence: number): RequestId {
  return { clientId: "k", sequence, seenRevision: 0 as Revision, acknowledgedBelow: 0 };
}

/** Which step of the creation the root's leader dies after. */
const STEPS = {
  "the root has recorded it": (cluster: VirtualCluster, leader: ServerId) =>
    cluster.core(leader).groups.rootState.keyspaces.size === 1,
  "the shard has made its range": (cluster: VirtualCluster, leader: ServerId) =>
    cluster.core(leader).groups.shards.get(SHARD)?.state.keyspaces.size === 1,
  "the root calls it ready": (cluster: VirtualCluster, leader: ServerId) =>
    cluster.core(leader).groups.rootState.keyspaces.get(1)?.state === "ready",
} as const;

for (const [step, isReached] of Object.entries(STEPS)) {
  test(`a creation whose leader dies right after ${step} is finished by the next one`, async () => {
    const cluster = new VirtualCluster();
    const leader = await cluster.leader(ROOT);
    await cluster.until(() => cluster.core(leader).groups.rootState.cluster !== undefined);
    const request = { requestId: requestId(1), name: "demo", ...SETTINGS };
    const call = cluster.core(leader).services.keyspaces.createKeyspace(request, WAIT);
    await cluster.until(() => isReached(cluster, leader));
    cluster.crash(leader);
    await cluster.result(call);

    const other = await cluster.leader(ROOT);
    const { services, groups } = cluster.core(other);
    const repeated = await cluster.answer(services.keyspaces.createKeyspace(request, WAIT));
    expect(repeated.keyspace).toMatchObject({ name: "demo", keyspaceId: 1, state: "ready" });
    expect(groups.rootState.keyspaces.size).toBe(1);
    const read = { kind: "linearizable" } as const;
    const lookup = { keyspace: "demo", key: utf8ToBytes("k"), read };
    const found = await cluster.answer(services.directory.lookup(lookup, WAIT));
    expect(found.route.descriptor.span.endKey).toBeUndefined();
    expect(found.route.descriptor.epoch).toBe(0);
  });
}

test("a keyspace created at one server is found at once through every other", async () => {
  const cluster = new VirtualCluster();
  const leader = await cluster.leader(ROOT);
  const request = { requestId: requestId(1), name: "demo", ...SETTINGS };
  await cluster.answer(cluster.core(leader).services.keyspaces.createKeyspace(request, WAIT));
  for (const id of cluster.ids) {
    const read = { kind: "linearizable" } as const;
    const lookup = { keyspace: "demo", key: utf8ToBytes(""), read };
    await cluster.answer(cluster.core(id).services.directory.lookup(lookup, WAIT));
  }
});

const PARTS = 4;
const ROWS_PER_PART = 5;

for (let crashAfter = 0; crashAfter <= PARTS; crashAfter++) {
  test(`an import whose leader dies at entry ${crashAfter} leaves the old map or the new one`, async () => {
    const cluster = new VirtualCluster();
    let leader = await cluster.leader(SHARD);
    const create = { requestId: requestId(1), name: "demo", ...SETTINGS };
    const first = cluster.core(leader).services.keyspaces;
    await cluster.answer(first.createKeyspace(create, WAIT));
    for (let part = 0; part < PARTS; part++) {
      if (part === crashAfter) leader = await replaceLeader(cluster, leader);
      const { services } = cluster.core(leader);
      const stage = { keyspace: "demo", importId: "i", part, rows: rowsOf(part) };
      await cluster.answer(services.keyspaces.stageImport(stage, WAIT));
      expect(await rangeCount(cluster)).toBe(1);
    }
    const commit = { keyspace: "demo", importId: "i", rowCount: PARTS * ROWS_PER_PART };
    const call = cluster.core(leader).services.keyspaces.commitImport(commit, WAIT);
    if (crashAfter === PARTS) {
      await cluster.clock.settle();
      leader = await replaceLeader(cluster, leader);
      expect([1, PARTS * ROWS_PER_PART]).toContain(await rangeCount(cluster));
    }
    await cluster.result(call);
    const { services } = cluster.core(await cluster.leader(SHARD));
    await cluster.answer(services.keyspaces.commitImport(commit, WAIT));
    expect(await rangeCount(cluster)).toBe(PARTS * ROWS_PER_PART);
  });
}

test("what was staged and never committed expires, and the old map stays", async () => {
  const cluster = new VirtualCluster();
  const leader = await cluster.leader(SHARD);
  const { services } = cluster.core(leader);
  const create = { requestId: requestId(1), name: "demo", ...SETTINGS };
  await cluster.answer(services.keyspaces.createKeyspace(create, WAIT));
  const stage = { keyspace: "demo", importId: "i", part: 0, rows: rowsOf(0) };
  const staged = await cluster.answer(services.keyspaces.stageImport(stage, WAIT));
  await cluster.clock.advance(staged.expiresInMs + 1_000);
  const commit = { keyspace: "demo", importId: "i", rowCount: ROWS_PER_PART };
  const late = await cluster.result(services.keyspaces.commitImport(commit, WAIT));
  expect(late).toMatchObject({ ok: false, error: { reason: "IMPORT_INCOMPLETE" } });
  expect(await rangeCount(cluster)).toBe(1);
});

function rowsOf(part: number): ImportRow[] {
  return Array.from({ length: ROWS_PER_PART }, (_, at) => {
    const position = part * ROWS_PER_PART + at;
    const key = position === 0 ? "" : `k${String(position).padStart(3, "0")}`;
    return { startKey: utf8ToBytes(key), intendedNodeId: `node-${position % 2}` };
  });
}

async function replaceLeader(cluster: VirtualCluster, leader: ServerId): Promise<ServerId> {
  cluster.crash(leader);
  const next = await cluster.leader(SHARD);
  cluster.restart(leader);
  await cluster.clock.advance(500);
  return next;
}

async function rangeCount(cluster: VirtualCluster): Promise<number> {
  const { services } = cluster.core(await cluster.leader(SHARD));
  const answer = await cluster.answer(
    services.directory.listRanges(
      {
        keyspace: "demo",
        span: { startKey: utf8ToBytes(""), endKey: undefined },
        nodeId: undefined,
        unownedOnly: false,
        pageSize: 0,
        pageToken: "",
        read: { kind: "linearizable" },
      },
      WAIT,
    ),
  );
  return answer.ranges.length;
}
