/**
 * Watches on whole servers: ordered, unique, atomic, reliable, resumable, bookmarkable; tokens that
 * do not fit; streams that end, and what they leave behind (laws 21 and 22, B19 to B24).
 */

import { expect, test } from "vitest";
import type { Revision, ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { decodeToken, encodeToken, type WatchToken } from "../../../src/fanout/tokens.ts";
import type { RangeRecord } from "../../../src/wire/api.ts";
import { SHARD, type VirtualCluster } from "../../sim/virtual-cluster.ts";
import {
  addKeyspace,
  clusterWith,
  followerAndLeader,
  grant,
  join,
  others,
  ranges,
  revisionAt,
  services,
  tiles,
  WAIT,
} from "./harness.ts";
import { endOf, open, pull, WatchTable } from "./watch-table.ts";

const LETTERS = Array.from({ length: 12 }, (_, at) => String.fromCharCode(97 + at));

function forged(token: Uint8Array, more: Partial<WatchToken>): Uint8Array {
  const decoded = decodeToken(token);
  if (!decoded.ok) throw new Error(decoded.error);
  return encodeToken({ ...decoded.value, ...more });
}

async function tokenOf(cluster: VirtualCluster, id: ServerId): Promise<Uint8Array> {
  const watcher = new WatchTable(cluster);
  watcher.attach(id);
  await watcher.take();
  await watcher.detach();
  return watcher.token ?? new Uint8Array(0);
}

test("resuming at other servers, crashes included, misses nothing and repeats nothing", async () => {
  const cluster = await clusterWith(LETTERS);
  const whole = new WatchTable(cluster);
  const { follower } = await followerAndLeader(cluster);
  whole.attach(follower);
  await whole.take();
  const broken = new WatchTable(cluster);
  broken.attach(follower);
  await broken.take();
  const seen: Revision[] = [];
  for (let round = 0; round < 6; round++) {
    const leader = await cluster.leader(SHARD);
    const owner = await join(cluster, leader, `n${round}`);
    await grant(cluster, leader, [round, round + 6], owner);
    const revision = revisionAt(cluster, leader, SHARD);
    seen.push(revision);
    await broken.reach(revision);
    expect(tiles(broken.table)).toBe(true);
    await broken.detach();
    if (round % 2 === 0) {
      const [victim] = others(cluster, follower);
      cluster.crash(victim as ServerId);
      await cluster.leader(SHARD);
      broken.attach(others(cluster, victim as ServerId)[0] as ServerId);
      cluster.restart(victim as ServerId);
    } else {
      broken.attach(cluster.ids[round % 3] as ServerId);
    }
  }
  await cluster.clock.advance(20_000);
  const last = revisionAt(cluster, await cluster.leader(SHARD), SHARD);
  await broken.reach(last);
  await whole.reach(last);
  expect(broken.revisions).toEqual(whole.revisions);
  expect(broken.snapshots).toBe(1);
  expect(broken.table).toEqual(whole.table);
  expect(broken.table).toEqual(await ranges(cluster, await cluster.leader(SHARD)));
});

test("tokens that are cut, altered, or of something else are refused by field", async () => {
  const cluster = await clusterWith(LETTERS);
  await addKeyspace(cluster, "other");
  const { follower } = await followerAndLeader(cluster);
  const token = await tokenOf(cluster, follower);
  const [position] = (decodeToken(token) as { value: WatchToken }).value.positions;
  const altered = token.map((byte, at) => (at === 3 ? byte ^ 1 : byte));
  const bad: [string, Parameters<typeof open>[2]][] = [
    ["INVALID", { resumeToken: token.subarray(0, -1) }],
    ["INVALID", { resumeToken: token.subarray(0, 2) }],
    ["INVALID", { resumeToken: altered }],
    ["INVALID", { resumeToken: forged(token, { generation: 1 }) }],
    ["INVALID", { resumeToken: forged(token, { positions: [] }) }],
    ["INVALID", { resumeToken: forged(token, { positions: [position, position] as never }) }],
    ["INVALID", { resumeToken: token, nodeId: "n1" }],
    ["INVALID", { resumeToken: token, keyspace: "other" }],
    ["INVALID", { resumeToken: token, keyspace: undefined }],
    ["INVALID", { resumeToken: token, span: { startKey: utf8ToBytes("a"), endKey: undefined } }],
    ["CLUSTER_MISMATCH", { resumeToken: forged(token, { clusterId: "f".repeat(32) }) }],
  ];
  for (const [reason, more] of bad) {
    const refusal = await endOf(cluster, open(cluster, follower, more));
    expect(refusal).toMatchObject({ reason, field: "resume_token" });
  }
  const none = await endOf(cluster, open(cluster, follower, { keyspace: "none" }));
  expect(none).toMatchObject({ reason: "NOT_FOUND", metadata: { keyspace: "none" } });
});

test("a token of the future waits a bounded time, then TRANSIENT names the revision", async () => {
  const cluster = await clusterWith();
  const { follower, leader } = await followerAndLeader(cluster);
  const token = await tokenOf(cluster, follower);
  const has = revisionAt(cluster, follower, SHARD);
  const positions = [{ group: SHARD, revision: (has + 1_000) as Revision }];
  const startMs = cluster.clock.nowMs();
  const far = open(cluster, follower, { resumeToken: forged(token, { positions }) });
  const refusal = await endOf(cluster, far);
  expect(refusal).toMatchObject({ reason: "TRANSIENT", metadata: { revision: String(has) } });
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(5_200);

  const near = [{ group: SHARD, revision: (has + 2) as Revision }];
  const watcher = new WatchTable(cluster);
  watcher.token = forged(token, { positions: near });
  watcher.attach(follower);
  const taken = watcher.take();
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [0], owner);
  expect((await taken).kind).toBe("progress");
  const frames = await join(cluster, leader, "n2").then((next) =>
    grant(cluster, leader, [0], next),
  );
  await watcher.reach(frames.header.revision);
  expect(watcher.revisions).toEqual([frames.header.revision]);
});

test("below the changes kept: a marked snapshot, or COMPACTED with the oldest position", async () => {
  const history = { changesMax: 3, revisionsMax: 3 };
  const cluster = await clusterWith(LETTERS, { history });
  const { follower, leader } = await followerAndLeader(cluster);
  const token = await tokenOf(cluster, follower);
  const owner = await join(cluster, leader, "n1");
  for (let at = 0; at < 6; at++) await grant(cluster, leader, [at], owner);
  await cluster.until(() => {
    return revisionAt(cluster, follower, SHARD) >= revisionAt(cluster, leader, SHARD);
  });
  const strict = open(cluster, follower, { resumeToken: token, failIfCompacted: true });
  const oldest = cluster.core(follower).groups.shards.get(SHARD)?.history.floor;
  expect(await endOf(cluster, strict)).toMatchObject({
    reason: "COMPACTED",
    metadata: { oldest: String(oldest) },
  });
  const lenient = open(cluster, follower, { resumeToken: token });
  const frame = await pull(cluster, lenient);
  expect(frame).toMatchObject({ kind: "snapshot", first: true, last: true, afterCompaction: true });
  expect(frame.kind === "snapshot" && tiles(frame.ranges)).toBe(true);
});

test("a quiet watch hears of its progress while others write, and resumes from the mark", async () => {
  const cluster = await clusterWith(LETTERS);
  const { follower, leader } = await followerAndLeader(cluster);
  const span = { startKey: utf8ToBytes("z"), endKey: undefined };
  const quiet = new WatchTable(cluster, { span });
  quiet.attach(follower);
  await quiet.take();
  const owner = await join(cluster, leader, "n1");
  let last = quiet.revision;
  for (let at = 0; at < 8; at++) {
    await grant(cluster, leader, [at], owner);
    const frame = await quiet.take();
    expect(frame.kind).toBe("progress");
    expect(quiet.revision).toBeGreaterThan(last);
    last = quiet.revision;
  }
  await quiet.detach();
  const granted = await grant(cluster, leader, [12], await join(cluster, leader, "n2"));
  quiet.attach(leader);
  expect((await quiet.take()).kind).toBe("changes");
  expect(quiet.revisions).toEqual([granted.header.revision]);
});

test("many watchers of one server get the same, beside one that never pulls", async () => {
  const history = { changesMax: 8, revisionsMax: 8 };
  const cluster = await clusterWith(LETTERS, { history });
  const { follower, leader } = await followerAndLeader(cluster);
  const watchers = Array.from({ length: 50 }, () => new WatchTable(cluster));
  for (const watcher of watchers) watcher.attach(follower);
  for (const watcher of watchers) await watcher.take();
  const lazy = open(cluster, follower);
  await pull(cluster, lazy);
  const owner = await join(cluster, leader, "n1");
  for (let at = 0; at < 12; at++) {
    const { header } = await grant(cluster, leader, [at], owner);
    for (const watcher of watchers) await watcher.reach(header.revision);
  }
  const [first, ...rest] = watchers;
  expect(first?.revisions).toHaveLength(12);
  for (const watcher of rest) expect(watcher.revisions).toEqual(first?.revisions);
  // What the lazy one missed is gone from memory: it is told so by a fresh snapshot.
  expect(await pull(cluster, lazy)).toMatchObject({ kind: "snapshot", afterCompaction: true });
  expect(cluster.core(follower).watches()).toBe(51);
});

test("a server that drains ends its streams with TRANSIENT, quiet ones at once", async () => {
  const cluster = await clusterWith();
  const { follower } = await followerAndLeader(cluster);
  const streams = [open(cluster, follower), open(cluster, follower)];
  for (const stream of streams) await pull(cluster, stream);
  const startMs = cluster.clock.nowMs();
  const ends = streams.map((stream) => endOf(cluster, stream));
  await cluster.clock.settle();
  cluster.drain(follower);
  for (const end of ends) expect(await end).toMatchObject({ reason: "TRANSIENT" });
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(5);
  expect(cluster.core(follower).watches()).toBe(0);
  expect(await endOf(cluster, open(cluster, follower))).toMatchObject({ reason: "TRANSIENT" });
});

test("a watch at a server that is cut off ends with TRANSIENT, and resumes elsewhere", async () => {
  const cluster = await clusterWith(LETTERS);
  for (const cutOff of [await cluster.leader(SHARD), (await followerAndLeader(cluster)).follower]) {
    const watcher = new WatchTable(cluster);
    watcher.attach(cutOff);
    await watcher.take();
    cluster.cutOff(cutOff);
    const startMs = cluster.clock.nowMs();
    await expect(watcher.reach(Number.MAX_SAFE_INTEGER as Revision)).rejects.toThrow(/cut off/);
    expect(cluster.clock.nowMs() - startMs).toBeLessThanOrEqual(3_000);
    // Resumed there, it does not look healthy either.
    const again = open(cluster, cutOff, { resumeToken: watcher.token });
    expect(await endOf(cluster, again)).toMatchObject({ reason: "TRANSIENT" });
    const [elsewhere] = others(cluster, cutOff) as [ServerId];
    watcher.attach(elsewhere);
    await watcher.take();
    expect(watcher.snapshots).toBe(1);
    await watcher.detach();
    cluster.rejoin(cutOff);
    await cluster.clock.advance(3_000);
  }
});

test("a watch at a server whose disk hangs ends as well, though it hears its leader", async () => {
  const cluster = await clusterWith(LETTERS);
  const { leader, follower } = await followerAndLeader(cluster);
  const watcher = new WatchTable(cluster);
  watcher.attach(follower);
  await watcher.take();
  cluster.setSyncMs(follower, 1e9);
  await join(cluster, leader, "n1");
  const startMs = cluster.clock.nowMs();
  await expect(watcher.reach(Number.MAX_SAFE_INTEGER as Revision)).rejects.toThrow(/cut off/);
  expect(cluster.clock.nowMs() - startMs).toBeLessThanOrEqual(3_000);
  await watcher.detach();
});

test("an election does not end watches", async () => {
  const cluster = await clusterWith();
  const { leader } = await followerAndLeader(cluster);
  const watchers = others(cluster, leader).map((id) => {
    const watcher = new WatchTable(cluster);
    watcher.attach(id);
    return watcher;
  });
  for (const watcher of watchers) await watcher.take();
  cluster.crash(leader);
  const next = await cluster.leader(SHARD);
  const { header } = await grant(cluster, next, [0], await join(cluster, next, "n1"));
  for (const watcher of watchers) await watcher.reach(header.revision);
});

test("closing a stream leaves no timer and no listener, also while it waits", async () => {
  const cluster = await clusterWith();
  const { follower } = await followerAndLeader(cluster);
  let timers = 0;
  // The cluster's own timers come and go, but not so many.
  const atRest = cluster.clock.pendingCount;
  for (let at = 0; at < 30; at++) {
    const aborter = new AbortController();
    const stream = open(cluster, follower, {}, aborter.signal);
    await pull(cluster, stream);
    const next = stream.next();
    await cluster.clock.settle();
    timers = Math.max(timers, cluster.clock.pendingCount);
    const startMs = cluster.clock.nowMs();
    if (at % 2 === 0) aborter.abort();
    const closed = Promise.resolve(stream.return?.());
    expect(await cluster.result(next)).toMatchObject({ done: true });
    await cluster.result(closed);
    expect(cluster.clock.nowMs()).toBe(startMs);
    expect(cluster.core(follower).watches()).toBe(0);
  }
  expect(Math.abs(cluster.clock.pendingCount - atRest)).toBeLessThan(5);
  expect(timers).toBeLessThan(atRest + 10);
});

test("a large snapshot is cut into frames and stays one revision while changes go on", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const { keyspaces } = services(cluster, leader);
  for (let part = 0; part < 6; part++) {
    const rows = Array.from({ length: 60 }, (_, at) => {
      const key = String(part * 60 + at).padStart(4, "0");
      const startKey = key === "0000" ? new Uint8Array(0) : utf8ToBytes(key.padEnd(3_000, "x"));
      return { startKey, intendedNodeId: undefined };
    });
    const stage = { keyspace: "demo", importId: "i", part, rows };
    await cluster.answer(keyspaces.stageImport(stage, WAIT));
  }
  const commit = { keyspace: "demo", importId: "i", rowCount: 360 };
  const before = new WatchTable(cluster);
  before.attach(follower);
  await before.take();
  await cluster.answer(keyspaces.commitImport(commit, WAIT));
  const owner = await join(cluster, leader, "n1");
  const watcher = new WatchTable(cluster);
  watcher.attach(follower);
  const copy = await ranges(cluster, follower);
  const revisions = new Set<number>();
  let frames = 0;
  for (;;) {
    const frame = await watcher.take();
    if (frame.kind !== "snapshot") throw new Error("the snapshot comes first");
    revisions.add(frame.header.revision);
    await grant(cluster, leader, [frames, 359 - frames], owner);
    frames++;
    if (frame.last) break;
  }
  expect(frames).toBeGreaterThan(3);
  expect(revisions.size).toBe(1);
  expect(tiles(watcher.table)).toBe(true);
  expect(marks(watcher.table)).toEqual(marks(copy));
  const last = revisionAt(cluster, leader, SHARD);
  await watcher.reach(last);
  // The import is one revision, cut into several frames.
  await before.reach(last);
  expect(marks(before.table)).toEqual(marks(watcher.table));
  expect(marks(watcher.table)).toEqual(marks(await ranges(cluster, leader)));
});

/** Long keys compared byte by byte would take seconds. */
function marks(records: readonly RangeRecord[]): string[] {
  return records.map(({ descriptor: { rangeId, epoch, descriptorRevision } }) => {
    return `${rangeId} ${epoch} ${descriptorRevision}`;
  });
}

test("a watch of a node gets what concerns it, before or after the change", async () => {
  const cluster = await clusterWith(LETTERS);
  const { leader, follower } = await followerAndLeader(cluster);
  const n1 = await join(cluster, leader, "n1");
  const n2 = await join(cluster, leader, "n2");
  const watcher = new WatchTable(cluster, { nodeId: "n1", keyspace: undefined });
  watcher.attach(follower);
  expect(await watcher.take()).toMatchObject({ kind: "snapshot", ranges: [] });
  const own = await grant(cluster, leader, [0], n1);
  await grant(cluster, leader, [1], n2);
  const next = await grant(cluster, leader, [1], n1);
  const { rangeId, epoch } = own.outcomes[0]?.range.descriptor ?? {
    rangeId: "",
    epoch: 0 as never,
  };
  const ranges = [{ rangeId, epoch, handOverRevision: undefined }];
  const release = { owner: n1, group: SHARD, ranges };
  const released = await cluster.answer(services(cluster, leader).ownership.release(release, WAIT));
  await watcher.reach(released.header.revision);
  expect(watcher.revisions).toEqual([own, next, released].map(({ header }) => header.revision));
});
