// What the client does about ids that a group no longer remembers, and so that it need not (law 5).
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import type { Epoch, GroupId, Revision } from "../../src/base/brands.ts";
import type { Client } from "../../src/client/client.ts";
import type { RequestId } from "../../src/wire/api.ts";
import { type Answer, answer, errorOf, FakeNetwork, header, refuse, status } from "./support.ts";

const ADDRESSES = ["a:1", "b:1", "c:1"];
const GROUP = 1 as GroupId;

function grant(client: Client, requestId?: RequestId): Promise<unknown> {
  const item = {
    rangeId: "r1",
    expectedEpoch: 0 as Epoch,
    expectedDescriptorRevision: 3 as Revision,
    nodeId: "n1",
    incarnation: undefined,
  };
  return client.ownership.grant({ requestId, group: GROUP, items: [item], onlyUnowned: false });
}

/** Grants are answered one after the other; the status says revision 5, and then stays behind. */
function networkWith(...answers: Answer[]): FakeNetwork {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, (method) =>
    method === "getStatus" ? status(ADDRESSES) : (answers.shift() ?? answer({ revision: 900 })),
  );
  return network;
}

function idsOf(network: FakeNetwork): RequestId[] {
  return network
    .callsOf("grant")
    .map(({ request }) => (request as { requestId: RequestId }).requestId);
}

function expired(revision: number | string): Answer {
  return refuse("EXPIRED_ID", { metadata: { revision: String(revision) } });
}

async function run<T>(network: FakeNetwork, call: Promise<T>, ms = 10_000): Promise<T> {
  await network.clock.advance(ms);
  return call;
}

test("an id that was too old when it was made is replaced by one of the revision it is told", async () => {
  const network = networkWith(refuse("TRANSIENT"), expired(800));
  await run(network, grant(network.client(ADDRESSES)));
  expect(idsOf(network)).toEqual([
    { clientId: "client-1", sequence: 1, seenRevision: 5, acknowledgedBelow: 1 },
    { clientId: "client-1", sequence: 1, seenRevision: 5, acknowledgedBelow: 1 },
    { clientId: "client-1", sequence: 2, seenRevision: 800, acknowledgedBelow: 2 },
  ]);
});

test("an expired id that may have been run is never replaced: the outcome is unknown (law 5)", async () => {
  const network = networkWith(refuse("UNCERTAIN"), expired(800));
  const client = network.client(ADDRESSES);
  const error = await run(network, errorOf(grant(client)));
  expect(error).toMatchObject({
    reason: "EXPIRED_ID",
    outcome: "unknown",
    requestId: { sequence: 1 },
  });
  expect(idsOf(network).map(({ sequence }) => sequence)).toEqual([1, 1]);
  // Asking again could tell nothing: the id is not held for that.
  await run(network, grant(client));
  expect(idsOf(network).at(-1)).toMatchObject({ sequence: 2, acknowledgedBelow: 2 });
});

test("an expired id of the caller's own is the caller's to replace", async () => {
  const network = networkWith(expired(800));
  const client = network.client(ADDRESSES);
  const id = await run(network, client.newRequestId(GROUP));
  const error = await run(network, errorOf(grant(client, id)));
  expect(error).toMatchObject({ reason: "EXPIRED_ID", outcome: "unknown", requestId: id });
  expect(idsOf(network)).toEqual([id]);
});

test("a refusal that tells no newer revision is not followed round and round", async () => {
  for (const revision of [5, 3, "soon", ""]) {
    const network = networkWith(expired(revision), expired(revision));
    const error = await run(network, errorOf(grant(network.client(ADDRESSES))));
    expect(error).toMatchObject({ reason: "EXPIRED_ID" });
    expect(idsOf(network)).toHaveLength(1);
  }
});

test("an unused or unresolved id holds up at most 1,000 later ones, a call under way all", async () => {
  const network = networkWith();
  const client = network.client(ADDRESSES);
  const unused = await run(network, client.newRequestId(GROUP));
  let held: ((late: Answer) => void) | undefined;
  let last: RequestId | undefined;
  for (let made = 1; made <= 1_001; made++) {
    last = await client.newRequestId(GROUP);
    client.abandonRequestId(GROUP, last);
    if (made === 1_000) expect(last.acknowledgedBelow).toBe(unused.sequence);
  }
  expect(last?.acknowledgedBelow).toBe(last?.sequence);
  network.serve(ADDRESSES, () => new Promise((resolve) => (held = resolve)));
  const slow = grant(client);
  await network.clock.settle();
  const slowId = idsOf(network).at(-1);
  for (let made = 1; made <= 3_000; made++) {
    last = await client.newRequestId(GROUP);
    client.abandonRequestId(GROUP, last);
  }
  expect(last?.acknowledgedBelow).toBe(slowId?.sequence);
  held?.(answer());
  await run(network, slow);
});

test("LOCAL reads and watches of a server that lags behind make no revision recent", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, (method) => {
    if (method === "getStatus") return status(ADDRESSES, { 0: 5, 1: 500 });
    return answer({ revision: method === "grant" ? 501 : 7 });
  });
  const client = network.client(ADDRESSES);
  const read = { kind: "local" } as const;
  await run(network, client.directory.lookup({ keyspace: "k", key: utf8ToBytes("a"), read }));
  expect(client.seenRevision(GROUP)).toBe(7);
  await run(network, grant(client));
  expect(idsOf(network)[0]).toMatchObject({ seenRevision: 500 });
  expect(network.callsOf("getStatus")).toHaveLength(1);
});

test("a revision to make an id from is asked of the group's leader, who does not lag behind", async () => {
  const network = new FakeNetwork();
  for (const [at, address] of ADDRESSES.entries()) {
    network.handlers.set(address, (method) =>
      method === "getStatus"
        ? status(ADDRESSES, { 0: 5, 1: address === "c:1" ? 500 : 9 })
        : answer(header({ revision: 10, serverId: at + 1, leaderServerId: 3 })),
    );
  }
  const client = network.client(ADDRESSES);
  await run(network, client.cluster.getStatus());
  const lookup = { keyspace: "k", key: utf8ToBytes("a"), read: { kind: "local" } as const };
  await run(network, client.directory.lookup(lookup), 60_000);
  const id = await run(network, client.newRequestId(GROUP));
  expect(id.seenRevision).toBe(500);
  expect(network.addressesOf("getStatus").at(-1)).toBe("c:1");
});
