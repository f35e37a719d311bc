/**
 * Lists in pages on whole servers: all pages of a list of ranges are one revision, whatever goes on
 * between them and whichever server gives them; filters, bounds, and tokens that do not fit.
 */

import { expect, test } from "vitest";
import type { ServerId } from "../../../src/base/brands.ts";
import { base64ToBytes, bytesToBase64 } from "../../../src/base/base64.ts";
import { bytesToUtf8, utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ListRangesRequest, RangeRecord } from "../../../src/wire/api.ts";
import { SHARD, type VirtualCluster } from "../../sim/virtual-cluster.ts";
import {
  addKeyspace,
  clusterWith,
  followerAndLeader,
  freshId,
  grant,
  join,
  list,
  listRequest,
  ranges,
  services,
  SETTINGS,
  tiles,
  WAIT,
} from "./harness.ts";

/** "a" to "t": with the first range, 21 ranges. */
const LETTERS = Array.from({ length: 20 }, (_, at) => String.fromCharCode(97 + at));

function starts(records: readonly RangeRecord[]): string[] {
  return records.map(({ descriptor }) => bytesToUtf8(descriptor.span.startKey) ?? "");
}

function span(startKey: string, endKey: string | undefined): ListRangesRequest["span"] {
  const end = endKey === undefined ? undefined : utf8ToBytes(endKey);
  return { startKey: utf8ToBytes(startKey), endKey: end };
}

function refusedList(
  cluster: VirtualCluster,
  id: ServerId,
  more: Partial<ListRangesRequest>,
): Promise<unknown> {
  const { directory } = services(cluster, id);
  return cluster.result(directory.listRanges(listRequest(more), WAIT));
}

test("all pages are the first page's revision, though ranges are granted and expire between", async () => {
  const cluster = await clusterWith(LETTERS);
  const { leader } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [1, 5, 6, 15], owner);
  const copy = await ranges(cluster, leader);
  const records: RangeRecord[] = [];
  const revisions = new Set<number>();
  let pageToken = "";
  for (let page = 0; ; page++) {
    // Each page comes from another server.
    const id = cluster.ids[page % 3] as ServerId;
    const answer = await list(cluster, id, { pageSize: 4, pageToken });
    records.push(...answer.ranges);
    revisions.add(answer.header.revision);
    pageToken = answer.nextPageToken;
    if (pageToken === "") break;
    expect(answer.ranges).toHaveLength(4);
    // The next page's ranges change, and in the end all leases run out.
    if (page < 3) {
      const other = await join(cluster, leader, `m${page}`);
      await grant(cluster, leader, [7 + page, 16 + page], other);
    } else {
      await cluster.clock.advance(7_000);
    }
  }
  expect(revisions.size).toBe(1);
  expect(tiles(records)).toBe(true);
  expect(records).toEqual(copy);
  expect(await ranges(cluster, leader)).not.toEqual(copy);
});

test("pages of one keyspace are not disturbed by another's changes", async () => {
  const cluster = await clusterWith(LETTERS);
  const { leader } = await followerAndLeader(cluster);
  const copy = await ranges(cluster, leader);
  const first = await list(cluster, leader, { pageSize: 10 });
  await addKeyspace(cluster, "other", LETTERS);
  const second = await list(cluster, leader, { pageSize: 11, pageToken: first.nextPageToken });
  expect([...first.ranges, ...second.ranges]).toEqual(copy);
  expect(second.nextPageToken).toBe("");
});

test("new boundaries between two pages do not show in the second", async () => {
  const cluster = await clusterWith(["f", "p"]);
  const { leader } = await followerAndLeader(cluster);
  const copy = await ranges(cluster, leader);
  const first = await list(cluster, leader, { pageSize: 1 });
  const define = { requestId: freshId(), keyspace: "demo", splitKeys: LETTERS.map(utf8ToBytes) };
  await cluster.answer(services(cluster, leader).keyspaces.defineRanges(define, WAIT));
  const second = await list(cluster, leader, { pageSize: 9, pageToken: first.nextPageToken });
  expect([...first.ranges, ...second.ranges]).toEqual(copy);
});

test("COMPACTED names the oldest revision when the history no longer reaches back", async () => {
  const history = { changesMax: 4, revisionsMax: 4 };
  const cluster = await clusterWith(LETTERS, { history });
  const { leader } = await followerAndLeader(cluster);
  const first = await list(cluster, leader, { pageSize: 5 });
  const owner = await join(cluster, leader, "n1");
  for (let at = 0; at < 8; at++) await grant(cluster, leader, [at], owner);
  const floor = cluster.core(leader).groups.shards.get(SHARD)?.history.floor;
  const more = { pageSize: 5, pageToken: first.nextPageToken };
  expect(await refusedList(cluster, leader, more)).toMatchObject({
    ok: false,
    error: {
      reason: "COMPACTED",
      metadata: { revision: String(first.header.revision), oldest: String(floor) },
    },
  });
});

test("a page token of another list, or none at all, is refused by field", async () => {
  const cluster = await clusterWith(LETTERS);
  await addKeyspace(cluster, "other", LETTERS);
  const { leader } = await followerAndLeader(cluster);
  const { nextPageToken } = await list(cluster, leader, { pageSize: 3 });
  const otherLists: Partial<ListRangesRequest>[] = [
    { keyspace: "other" },
    { span: span("a", undefined) },
    { span: span("", "z") },
    { nodeId: "n1" },
    { unownedOnly: true },
  ];
  const bytes = base64ToBytes(nextPageToken) ?? new Uint8Array(0);
  const cut = bytesToBase64(bytes.subarray(0, -1));
  const bad = [
    ...otherLists.map((more) => ({ pageToken: nextPageToken, ...more })),
    { pageToken: "%%%" },
    { pageToken: cut },
    { pageToken: bytesToBase64(new Uint8Array([...bytes, 0])) },
  ];
  for (const more of bad) {
    expect(await refusedList(cluster, leader, more)).toMatchObject({
      ok: false,
      error: { reason: "INVALID", field: "page_token" },
    });
  }
  // The page size is not part of the list.
  const rest = await list(cluster, leader, { pageSize: 30, pageToken: nextPageToken });
  expect(starts(rest.ranges)).toEqual(LETTERS.slice(2));
});

test("a list of a span holds every range that overlaps it, and no other", async () => {
  const cluster = await clusterWith(["b", "d", "f"]);
  const id = cluster.ids[1] as ServerId;
  const expected: [ListRangesRequest["span"], string[]][] = [
    [span("", undefined), ["", "b", "d", "f"]],
    [span("b", "d"), ["b"]],
    [span("a", "c"), ["", "b"]],
    [span("b\0", "d\0"), ["b", "d"]],
    [span("", "b"), [""]],
    [span("zz", undefined), ["f"]],
    [span("e", "ee"), ["d"]],
  ];
  for (const [asked, found] of expected) {
    expect(starts((await list(cluster, id, { span: asked })).ranges)).toEqual(found);
    const paged: RangeRecord[] = [];
    let pageToken = "";
    do {
      const page = await list(cluster, id, { span: asked, pageSize: 1, pageToken });
      paged.push(...page.ranges);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(starts(paged)).toEqual(found);
  }
});

test("filters by owner and by none judge ranges as they stood at the list's revision", async () => {
  const cluster = await clusterWith(LETTERS);
  const { leader } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [1, 2, 18], owner);
  const owned = await list(cluster, leader, { nodeId: "n1", pageSize: 2 });
  const unowned = await list(cluster, leader, { unownedOnly: true, pageSize: 17 });
  expect(starts(owned.ranges)).toEqual(["a", "b"]);
  await grant(cluster, leader, [20], owner);
  const more = { nodeId: "n1", pageToken: owned.nextPageToken };
  expect(starts((await list(cluster, leader, more)).ranges)).toEqual(["r"]);
  const last = { unownedOnly: true, pageToken: unowned.nextPageToken };
  expect(starts((await list(cluster, leader, last)).ranges)).toEqual(["t"]);
  expect((await list(cluster, leader, { nodeId: "nobody" })).ranges).toEqual([]);
});

test("a page ends before its records outgrow an answer", async () => {
  const cluster = await clusterWith();
  const { leader } = await followerAndLeader(cluster);
  const { keyspaces } = services(cluster, leader);
  const rowsOf = (part: number): { startKey: Uint8Array; intendedNodeId: undefined }[] =>
    Array.from({ length: 50 }, (_, at) => {
      const key = String(part * 50 + at).padStart(4, "0");
      const startKey = key === "0000" ? new Uint8Array(0) : utf8ToBytes(key.padEnd(4_000, "x"));
      return { startKey, intendedNodeId: undefined };
    });
  for (let part = 0; part < 8; part++) {
    const stage = { keyspace: "demo", importId: "i", part, rows: rowsOf(part) };
    await cluster.answer(keyspaces.stageImport(stage, WAIT));
  }
  const commit = { keyspace: "demo", importId: "i", rowCount: 400 };
  await cluster.answer(keyspaces.commitImport(commit, WAIT));
  const records: RangeRecord[] = [];
  let pageToken = "";
  do {
    const page = await list(cluster, leader, { pageToken });
    expect(page.ranges.length).toBeLessThan(140);
    records.push(...page.ranges);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(records).toHaveLength(400);
  expect(tiles(records)).toBe(true);
});

test("storage nodes come in pages, with what the shard knows of their sessions", async () => {
  const cluster = await clusterWith(["m"]);
  const { leader, follower } = await followerAndLeader(cluster);
  for (const nodeId of ["c", "a", "d", "b"]) {
    const owner = await join(cluster, leader, nodeId);
    if (nodeId === "b") await grant(cluster, leader, [0, 1], owner);
  }
  const { directory } = services(cluster, follower);
  const first = await cluster.answer(directory.listNodes({ pageSize: 3, pageToken: "" }, WAIT));
  const { nextPageToken } = first;
  const rest = await cluster.answer(
    directory.listNodes({ pageSize: 3, pageToken: nextPageToken }, WAIT),
  );
  const nodes = [...first.nodes, ...rest.nodes];
  expect(nodes.map(({ nodeId }) => nodeId)).toEqual(["a", "b", "c", "d"]);
  expect(rest.nextPageToken).toBe("");
  expect(nodes[1]).toMatchObject({ sessionOpen: true, rangesOwned: 2, addresses: ["b:1"] });
  expect(nodes[0]).toMatchObject({ sessionOpen: true, rangesOwned: 0 });
  expect(nodes[0]?.sessionRemainingMs).toBeGreaterThan(0);
  const bad = directory.listNodes({ pageSize: 3, pageToken: "%" }, WAIT);
  expect(await cluster.result(bad)).toMatchObject({
    ok: false,
    error: { reason: "INVALID", field: "page_token" },
  });
});

test("a page of storage nodes with long labels ends before it outgrows an answer", async () => {
  const cluster = await clusterWith();
  const { leader } = await followerAndLeader(cluster);
  const { ownership, directory } = services(cluster, leader);
  const labels = Object.fromEntries(
    Array.from({ length: 32 }, (_, at) => [`label-${at}`.padEnd(64, "x"), "y".repeat(256)]),
  );
  const count = 150;
  const calls = Array.from({ length: count }, (_, at) => {
    const nodeId = `n${String(at).padStart(3, "0")}`;
    const request = {
      requestId: freshId(),
      nodeId,
      dataUuid: "0".repeat(32),
      addresses: [`${nodeId}:1`],
      zone: "",
      labels,
      capacity: 0,
      start: undefined,
    };
    return ownership.register(request, WAIT);
  });
  for (const call of calls) await cluster.answer(call);
  const seen: string[] = [];
  let pages = 0;
  let pageToken = "";
  do {
    const page = await cluster.answer(directory.listNodes({ pageSize: 0, pageToken }, WAIT));
    seen.push(...page.nodes.map(({ nodeId }) => nodeId));
    pageToken = page.nextPageToken;
    pages++;
  } while (pageToken !== "");
  expect(new Set(seen).size).toBe(count);
  expect(pages).toBe(2);
});

test("keyspaces come in pages by name, with their settings and counts", async () => {
  const cluster = await clusterWith(["m"]);
  for (const name of ["c", "a", "b"]) await addKeyspace(cluster, name);
  const { follower } = await followerAndLeader(cluster);
  const { keyspaces } = services(cluster, follower);
  const names: string[] = [];
  let pageToken = "";
  do {
    const page = await cluster.answer(keyspaces.listKeyspaces({ pageSize: 3, pageToken }, WAIT));
    names.push(...page.keyspaces.map(({ name }) => name));
    pageToken = page.nextPageToken;
    const demo = page.keyspaces.find(({ name }) => name === "demo");
    if (demo !== undefined) {
      expect(demo).toMatchObject({ ...SETTINGS, state: "ready", rangeCount: 2, unownedCount: 2 });
    }
  } while (pageToken !== "");
  expect(names).toEqual(["a", "b", "c", "demo"]);
});
