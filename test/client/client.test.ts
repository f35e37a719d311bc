// Request ids, floors and what the client fills in.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import type { Epoch, GroupId, Revision } from "../../src/base/brands.ts";
import { ok } from "../../src/base/result.ts";
import type { Client } from "../../src/client/client.ts";
import type { RequestId } from "../../src/wire/api.ts";
import type { Answer } from "./support.ts";
import { answer, errorOf, FakeNetwork, header, refuse, status } from "./support.ts";

const ADDRESSES = ["a:1", "b:1", "c:1"];
const GROUP = 1 as GroupId;

const ITEM = {
  rangeId: "r1",
  expectedEpoch: 0 as Epoch,
  expectedDescriptorRevision: 3 as Revision,
  nodeId: "n1",
  incarnation: undefined,
};

function grant(client: Client, requestId?: RequestId): Promise<unknown> {
  return client.ownership.grant({ requestId, group: GROUP, items: [ITEM], onlyUnowned: false });
}

function idsOf(network: FakeNetwork): RequestId[] {
  return network
    .callsOf("grant")
    .map((call) => (call.request as { requestId: RequestId }).requestId);
}

test("a client that has seen nothing of a group reads a revision before it makes an id (law 5)", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, (method) =>
    method === "getStatus" ? status(ADDRESSES, { 0: 4, 1: 77 }) : answer({ revision: 80 }),
  );
  const client = network.client(ADDRESSES);
  await grant(client);
  expect(network.calls.map((call) => call.method)).toEqual(["getStatus", "grant"]);
  expect(idsOf(network)[0]).toEqual({
    clientId: "client-1",
    sequence: 1,
    seenRevision: 77,
    acknowledgedBelow: 1,
  });

  // The answer was recent enough for the next one; a minute later it no longer is.
  await grant(client);
  expect(idsOf(network)[1]).toMatchObject({ sequence: 2, seenRevision: 80, acknowledgedBelow: 2 });
  await network.clock.advance(60_000);
  await grant(client);
  expect(network.callsOf("getStatus")).toHaveLength(2);
});

test("the id is the same over every retry of a call (B32)", async () => {
  const network = new FakeNetwork();
  const answers: Answer[] = [refuse("UNCERTAIN"), refuse("TRANSIENT"), refuse("OVERLOADED")];
  network.serve(ADDRESSES, (method) =>
    method === "getStatus" ? status(ADDRESSES) : (answers.shift() ?? answer()),
  );
  const running = grant(network.client(ADDRESSES));
  await network.clock.advance(1_000);
  await running;
  const ids = idsOf(network);
  expect(ids).toHaveLength(4);
  for (const id of ids) expect(id).toEqual(ids[0]);
});

test("answers are acknowledged below the lowest that is outstanding in that group", async () => {
  const network = new FakeNetwork();
  const held: ((value: Answer) => void)[] = [];
  network.serve(ADDRESSES, (method) => {
    if (method === "getStatus") return status(ADDRESSES);
    return method === "grant" ? new Promise((resolve) => held.push(resolve)) : answer({ group: 0 });
  });
  const client = network.client(ADDRESSES);
  const first = grant(client);
  await network.clock.settle();
  const second = grant(client);
  await network.clock.settle();
  await client.ownership.register({
    nodeId: "n1",
    dataUuid: "0".repeat(32),
    addresses: ["n1:1"],
    zone: "",
    labels: {},
    capacity: 0,
  });
  const registered = network.callsOf("register")[0]?.request as { requestId: RequestId };
  expect(registered.requestId).toMatchObject({ sequence: 3, acknowledgedBelow: 3 });
  held[1]?.(answer());
  await second;
  const third = grant(client);
  await network.clock.settle();
  held[0]?.(answer());
  await first;
  const fourth = grant(client);
  await network.clock.settle();
  held[2]?.(answer());
  held[3]?.(answer());
  await Promise.all([third, fourth]);
  const marks = idsOf(network).map(({ sequence, acknowledgedBelow }) => [
    sequence,
    acknowledgedBelow,
  ]);
  expect(marks).toEqual([
    [1, 1],
    [2, 1],
    [4, 1],
    [5, 4],
  ]);
});

test("an id of an unknown outcome stays outstanding until it is asked for again", async () => {
  const network = new FakeNetwork();
  const client = network.client(ADDRESSES);
  network.serve(ADDRESSES, (method) =>
    method === "getStatus" ? status(ADDRESSES) : new Promise(() => {}),
  );
  const failing = errorOf(grant(client));
  await network.clock.advance(6_000);
  const error = await failing;
  expect(error).toMatchObject({ outcome: "unknown", requestId: { sequence: 1 } });

  network.serve(ADDRESSES, (method) =>
    method === "getStatus" ? status(ADDRESSES) : answer({ revision: 90 }),
  );
  await grant(client);
  expect(idsOf(network).at(-1)).toMatchObject({ sequence: 2, acknowledgedBelow: 1 });
  const { requestId } = error as { requestId: RequestId };
  await grant(client, requestId);
  expect(idsOf(network).at(-1)).toEqual(requestId);
  await grant(client);
  expect(idsOf(network).at(-1)).toMatchObject({ sequence: 3, acknowledgedBelow: 3 });
});

test("an id made by the caller holds the mark until it is used or abandoned", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, (method) =>
    method === "getStatus" ? status(ADDRESSES) : answer({ revision: 90 }),
  );
  const client = network.client(ADDRESSES);
  const id = await client.newRequestId(GROUP);
  expect(id).toMatchObject({ sequence: 1, seenRevision: 5 });
  await grant(client);
  expect(idsOf(network).at(-1)).toMatchObject({ sequence: 2, acknowledgedBelow: 1 });
  client.abandonRequestId(GROUP, id);
  await grant(client);
  expect(idsOf(network).at(-1)).toMatchObject({ sequence: 3, acknowledgedBelow: 3 });
});

test("defineRanges finds the keyspace's group first, and says when there is no such keyspace", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, (method) => {
    if (method === "getStatus") return status(ADDRESSES, { 0: 5, 3: 41 });
    if (method !== "listKeyspaces") return answer({ group: 3, revision: 42 });
    const keyspaces = [{ name: "orders", group: 3 }];
    return ok({ header: header({ group: 0 }), keyspaces, nextPageToken: "" });
  });
  const client = network.client(ADDRESSES);
  await client.keyspaces.defineRanges({ keyspace: "orders", splitKeys: [] });
  const sent = network.callsOf("defineRanges")[0]?.request as { requestId: RequestId };
  expect(sent.requestId.seenRevision).toBe(41);
  const error = await errorOf(client.keyspaces.defineRanges({ keyspace: "none", splitKeys: [] }));
  expect(error).toMatchObject({ reason: "NOT_FOUND", outcome: "notApplied" });
});

const KEY = utf8ToBytes("x");

test("an answer older than what was seen of its group is not taken for the present (law 19, B29)", async () => {
  const network = new FakeNetwork();
  const revisions = [50, 49, 51];
  network.serve(ADDRESSES, () => answer({ revision: revisions.shift() }));
  const client = network.client(ADDRESSES);
  await client.directory.lookup({ keyspace: "k", key: KEY });
  const second = await client.directory.lookup({ keyspace: "k", key: KEY });
  expect(second.header.revision).toBe(51);
  const [, old, fresh] = network.addressesOf("lookup");
  expect(fresh).not.toBe(old);
});

test("an older AT_LEAST answer is refused, a LOCAL one and a later page are not", async () => {
  const network = new FakeNetwork();
  let revision = 50;
  network.serve(ADDRESSES, () => answer({ revision }));
  const client = network.client(ADDRESSES);
  await client.directory.lookup({ keyspace: "k", key: KEY });
  revision = 40;
  const local = await client.directory.lookup({
    keyspace: "k",
    key: KEY,
    read: { kind: "local" },
  });
  expect(local.header.revision).toBe(40);
  const page = await client.directory.listRanges({ keyspace: "k", pageToken: "next" });
  expect(page.header.revision).toBe(40);
  const read = { kind: "atLeast", revision: 30 as Revision } as const;
  const failing = errorOf(
    client.directory.lookup({ keyspace: "k", key: KEY, read }, { deadlineMs: 1_000 }),
  );
  await network.clock.advance(1_100);
  expect(await failing).toMatchObject({ reason: "TRANSIENT" });
});

test("reads that overtake each other are both accepted: each is as new as what was seen before it", async () => {
  const network = new FakeNetwork();
  const held: ((value: Answer) => void)[] = [];
  network.serve(ADDRESSES, () => new Promise((resolve) => held.push(resolve)));
  const client = network.client(ADDRESSES);
  const first = client.directory.lookup({ keyspace: "k", key: KEY });
  const second = client.directory.lookup({ keyspace: "k", key: KEY });
  await network.clock.settle();
  held[1]?.(answer({ revision: 61 }));
  expect((await second).header.revision).toBe(61);
  held[0]?.(answer({ revision: 60 }));
  expect((await first).header.revision).toBe(60);
  expect(client.seenRevision(GROUP)).toBe(61);
});

test("an answer of an earlier generation is never accepted, not even a LOCAL one", async () => {
  const network = new FakeNetwork();
  const restored = 2 ** 44 + 5;
  network.serve(ADDRESSES, () => answer({ generation: 1, revision: restored }));
  const client = network.client(ADDRESSES);
  await client.directory.lookup({ keyspace: "k", key: KEY });
  network.serve(ADDRESSES, () => answer({ revision: 900 }));
  const failing = errorOf(
    client.directory.lookup(
      { keyspace: "k", key: KEY, read: { kind: "local" } },
      { deadlineMs: 500 },
    ),
  );
  await network.clock.advance(600);
  expect(await failing).toMatchObject({ reason: "TRANSIENT" });
});

test("an answer of another cluster fails the call by name, and is not retried", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, () => answer());
  const client = network.client(ADDRESSES);
  await client.directory.lookup({ keyspace: "k", key: KEY });
  network.serve(ADDRESSES, () => answer({ clusterId: "cluster-b" }));
  const error = await errorOf(client.directory.lookup({ keyspace: "k", key: KEY }));
  expect(error).toMatchObject({ reason: "CLUSTER_MISMATCH" });
  expect(network.callsOf("lookup")).toHaveLength(2);
});

test("reads are linearizable and lists begin at the first page unless said otherwise", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, () => answer());
  const client = network.client(ADDRESSES);
  await client.directory.getRange({ rangeId: "r1" });
  await client.directory.listRanges({ keyspace: "k" });
  expect(network.callsOf("getRange")[0]?.request).toEqual({
    rangeId: "r1",
    read: { kind: "linearizable" },
  });
  expect(network.callsOf("listRanges")[0]?.request).toMatchObject({
    nodeId: undefined,
    unownedOnly: false,
    pageSize: 0,
    pageToken: "",
    read: { kind: "linearizable" },
  });
});
