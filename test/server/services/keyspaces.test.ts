/**
 * Keyspace creation and imports on whole servers in virtual time, with the leader crashing between
 * each pair of steps (laws 5 and 28).
 */

import { expect, test } from "vitest";
import type { Revision, ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ImportRow, RequestId } from "../../../src/wire/api.ts";
import { ROOT, SHARD, VirtualCluster } from "../../sim/virtual-cluster.ts";
import { grant, join } from "./harness.ts";

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

test("a name is taken once, and a request id means one creation", async () => {
  const cluster = new VirtualCluster();
  const leader = await cluster.leader(ROOT);
  const first = { requestId: requestId(1), name: "demo", ...SETTINGS };
  const { keyspaces } = cluster.core(leader).services;
  const created = await cluster.answer(keyspaces.createKeyspace(first, WAIT));
  for (const id of cluster.ids) {
    const { keyspaces: anywhere } = cluster.core(id).services;
    const repeated = await cluster.answer(anywhere.createKeyspace(first, WAIT));
    expect(repeated).toMatchObject({
      replayed: true,
      header: { revision: created.header.revision },
    });
    const other = anywhere.createKeyspace({ ...first, requestId: requestId(10 + id) }, WAIT);
    expect(await cluster.result(other)).toMatchObject({
      ok: false,
      error: { reason: "ALREADY_EXISTS", field: "name", metadata: { subject: "demo" } },
    });
    const reused = anywhere.createKeyspace({ ...first, name: "other" }, WAIT);
    expect(await cluster.result(reused)).toMatchObject({
      ok: false,
      error: { reason: "REQUEST_ID_REUSED", field: "request_id" },
    });
  }
  expect(cluster.core(leader).groups.rootState.keyspaces.size).toBe(1);
});

test("boundaries are set until something was granted, then no more", async () => {
  const cluster = new VirtualCluster();
  const leader = await cluster.leader(SHARD);
  const { keyspaces } = cluster.core(leader).services;
  const create = { requestId: requestId(1), name: "demo", ...SETTINGS };
  await cluster.answer(keyspaces.createKeyspace(create, WAIT));
  const define = (
    sequence: number,
    keys: readonly string[],
  ): ReturnType<typeof keyspaces.defineRanges> => {
    const splitKeys = keys.map(utf8ToBytes);
    return keyspaces.defineRanges(
      { requestId: requestId(sequence), keyspace: "demo", splitKeys },
      WAIT,
    );
  };
  expect(await cluster.answer(define(2, ["b", "c"]))).toMatchObject({ rangeCount: 3 });
  expect(await cluster.answer(define(2, ["b", "c"]))).toMatchObject({ replayed: true });
  for (const [sequence, keys, at] of [
    [3, ["c", "b"], 1],
    [4, ["b", "b"], 1],
    [5, [""], 0],
  ] as const) {
    expect(await cluster.result(define(sequence, keys))).toMatchObject({
      ok: false,
      error: { reason: "INVALID", field: `split_keys[${at}]` },
    });
  }
  expect(await rangeCount(cluster)).toBe(3);
  const none = { requestId: requestId(6), keyspace: "none", splitKeys: [] };
  expect(await cluster.result(keyspaces.defineRanges(none, WAIT))).toMatchObject({
    ok: false,
    error: { reason: "NOT_FOUND" },
  });
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [1], owner);
  const stage = { keyspace: "demo", importId: "i", part: 0, rows: rowsOf(0) };
  const commit = { keyspace: "demo", importId: "i", rowCount: ROWS_PER_PART };
  for (const call of [
    () => define(7, ["x"]),
    () => keyspaces.stageImport(stage, WAIT),
    () => keyspaces.commitImport(commit, WAIT),
  ]) {
    expect(await cluster.result<unknown>(call())).toMatchObject({
      ok: false,
      error: { reason: "ALREADY_GRANTED" },
    });
  }
  expect(await rangeCount(cluster)).toBe(3);
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
