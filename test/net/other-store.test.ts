/**
 * A server is its store (law 30): whoever says Hello under a known id from another store has lost
 * what that id voted for and acknowledged, or runs beside it. Peers that have met the first keep it
 * out, and tell it so; a peer's store is remembered for good before the peer is heeded.
 */

import { afterEach, expect, test } from "vitest";
import type { GroupId, LogIndex, ServerId, Term } from "../../src/base/brands.ts";
import type { Standing } from "../../src/net/standing.ts";
import type { Envelope } from "../../src/raft/messages.ts";
import {
  closeAll,
  connected,
  envelope,
  heartbeat,
  id,
  settled,
  startServer,
  type TestServer,
  until,
} from "../integration/net/support.ts";

const tuning = { backoffMsMin: 5, backoffMsMax: 10 };
const NOWHERE = { 1: "127.0.0.1:1" };

afterEach(closeAll);

function logged(server: TestServer, event: string): string | undefined {
  const [line] = server.log.filter((candidate) => candidate.event === event);
  return line === undefined ? undefined : String(line.fields["details"]);
}

/** A memory of stores whose writes are durable when the test says so, and what the network says. */
class Notes {
  readonly remembered: ServerId[] = [];
  readonly disowned: string[] = [];
  readonly writes: (() => void)[] = [];
  readonly #stores = new Map<ServerId, string>();
  readonly #durable = new Map<ServerId, Promise<void>>();
  readonly #isDurable = new Set<ServerId>();

  constructor(stores: Readonly<Record<number, string>> = {}) {
    for (const [peer, uuid] of Object.entries(stores)) {
      this.#stores.set(Number(peer) as ServerId, uuid);
      this.#isDurable.add(Number(peer) as ServerId);
    }
  }

  get standing(): Partial<Standing> {
    return {
      storeOf: (peer) => this.#stores.get(peer),
      isRemembered: (peer) => this.#isDurable.has(peer),
      remember: (peer, uuid) => this.#remember(peer, uuid),
      onRemembered: (peer) => this.remembered.push(peer),
      onDisowned: (what) => this.disowned.push(what),
    };
  }

  #remember(peer: ServerId, uuid: string): Promise<void> {
    if (!this.#stores.has(peer)) this.#stores.set(peer, uuid);
    const durable =
      this.#durable.get(peer) ?? new Promise<void>((resolve) => this.writes.push(resolve));
    this.#durable.set(peer, durable);
    return durable.then(() => void this.#isDurable.add(peer));
  }
}

test("of two processes under one id, a peer listens to the one that it met first", async () => {
  const two = await startServer({ self: 2, peers: NOWHERE });
  const peers = { 2: two.network.address };
  const first = await startServer({ self: 1, peers, tuning });
  await connected(first, two);
  const notes = new Notes({ 2: "store 2" });
  const { standing } = notes;
  const second = await startServer({ self: 1, peers, tuning, storeUuid: "another", standing });
  await until("it is refused", () => logged(second, "refusedByPeer") !== undefined);
  expect(logged(second, "refusedByPeer")).toMatch(/another store: server 1/);
  expect(notes.disowned[0]).toMatch(/^server 2 says: another store: server 1/);
  expect(notes.remembered).toEqual([]);
  second.network.transport.send(id.server(2), heartbeat(1));
  first.network.transport.send(id.server(2), heartbeat(2));
  await until("the first one's message arrives", () => two.received.length > 0);
  expect(two.received.map((one) => one.envelope)).toEqual([heartbeat(2)]);
  expect(two.told).toEqual(["reachable 1"]);
  expect(second.told).toEqual(["unreachable 2"]);
});

test("a server that lost its store is kept out under its old id, until it has it again", async () => {
  const former = await startServer({ self: 2, peers: NOWHERE });
  const listen = former.network.address;
  const one = await startServer({ self: 1, peers: { 2: listen }, tuning });
  await connected(one, former);
  await former.network.close();
  await until("it is missed", () => one.told.at(-1) === "unreachable 2");
  const notes = new Notes({ 1: "store 1" });
  const { standing } = notes;
  const empty = await startServer({ self: 2, listen, peers: NOWHERE, storeUuid: "new", standing });
  await until("it is told", () => notes.disowned.length > 0);
  expect(logged(one, "helloRefused")).toMatch(/another store: server 2/);
  expect(notes.disowned[0]).toMatch(/^server 1 says: another store: server 2/);
  expect(notes.remembered).toEqual([]);
  empty.network.transport.send(id.server(1), heartbeat(1));
  await empty.network.close();
  expect(one.told).toEqual(["reachable 2", "unreachable 2"]);
  expect(one.received).toEqual([]);
  const again = await startServer({ self: 2, listen, peers: NOWHERE });
  await until("it is back", () => one.told.at(-1) === "reachable 2");
  again.network.transport.send(id.server(1), heartbeat(3));
  await until("it is heard", () => one.received.length === 1);
});

test("a memory that outlives the process refuses a store that this process never met", async () => {
  const notes = new Notes({ 1: "the store of old" });
  const two = await startServer({ self: 2, peers: NOWHERE, standing: notes.standing });
  const one = await startServer({ self: 1, peers: { 2: two.network.address }, tuning });
  await until("it is refused", () => logged(one, "refusedByPeer") !== undefined);
  expect(two.told).toEqual([]);
});

test("a peer is heeded, and answered, only when its store is remembered for good", async () => {
  const [ofOne, ofTwo] = [new Notes(), new Notes()];
  const two = await startServer({ self: 2, peers: NOWHERE, standing: ofTwo.standing });
  const peers = { 2: two.network.address };
  const one = await startServer({ self: 1, peers, tuning, standing: ofOne.standing });
  await until("the called server writes", () => ofTwo.writes.length === 1);
  expect([one.told, two.told, ofOne.writes.length]).toEqual([[], [], 0]);
  ofTwo.writes[0]?.();
  await until("the calling server writes", () => ofOne.writes.length === 1);
  await until("the called server is ready", () => two.told.length === 1);
  two.network.transport.send(id.server(1), heartbeat(1));
  await until("its message has left", () => two.network.stats()[0]?.messagesSent === 1);
  await settled(() => one.received.length);
  expect([one.told, one.received, ofOne.remembered, ofTwo.remembered]).toEqual([[], [], [], []]);
  ofOne.writes[0]?.();
  await connected(one, two);
  await until("each knows of the other's", () => ofTwo.remembered.length > 0);
  expect(ofOne.remembered).toEqual([2]);
  expect(ofTwo.remembered).toEqual([1]);
  await until("what came meanwhile is heard", () => one.received.length === 1);
});

const VOTE: Envelope = envelope({ kind: "requestVoteReply", term: 4 as Term, granted: true });

/** A standing that was opened with less than server 2 voted for. */
function forgetful(notes: Notes): Partial<Standing> {
  const log = { term: 3 as Term, votedFor: undefined, lastIndex: 0 as LogIndex };
  return { ...notes.standing, opened: new Map([[1 as GroupId, log]]) };
}

test("a called server that comes back behind what it acknowledged is told so", async () => {
  const former = await startServer({ self: 2, peers: NOWHERE });
  const listen = former.network.address;
  const one = await startServer({ self: 1, peers: { 2: listen }, tuning });
  await connected(one, former);
  former.network.transport.send(id.server(1), VOTE);
  await until("the vote arrives", () => one.received.length === 1);
  await former.network.close();
  const notes = new Notes({ 1: "store 1" });
  const standing = forgetful(notes);
  const back = await startServer({ self: 2, listen, peers: NOWHERE, standing });
  await until("it is told", () => notes.disowned.length > 0);
  expect(notes.disowned[0]).toMatch(/^server 1 saw this server acknowledge .* its store was at/);
  expect([back.told, one.told.filter((line) => line === "reachable 2").length]).toEqual([[], 1]);
});

test("a calling server that comes back behind what it acknowledged is told so", async () => {
  const two = await startServer({ self: 2, peers: NOWHERE });
  const peers = { 2: two.network.address };
  const former = await startServer({ self: 1, peers, tuning });
  await connected(former, two);
  former.network.transport.send(id.server(2), VOTE);
  await until("the vote arrives", () => two.received.length === 1);
  await former.network.close();
  const notes = new Notes({ 2: "store 2" });
  const back = await startServer({ self: 1, peers, tuning, standing: forgetful(notes) });
  await until("it is told", () => notes.disowned.length > 0);
  expect(notes.disowned[0]).toMatch(/^server 2 saw this server acknowledge index 0 in term 4, and/);
  await until("the peer hears why", () => logged(back, "helloRefused") !== undefined);
  expect(back.told).not.toContain("reachable 2");
});

test("a server that takes no part makes no streams, and ends those that it has", async () => {
  const state: { why?: string } = {};
  const standing = { distrust: () => state.why };
  const two = await startServer({ self: 2, peers: NOWHERE, standing });
  const one = await startServer({ self: 1, peers: { 2: two.network.address }, tuning });
  await connected(one, two);
  state.why = "it lost its log";
  two.network.abstain();
  await until("it is refused", () => logged(one, "refusedByPeer") !== undefined);
  expect(logged(one, "refusedByPeer")).toBe("this server takes no part: it lost its log");
  expect([one.told.at(-1), two.told.at(-1)]).toEqual(["unreachable 2", "unreachable 1"]);
  const three = await startServer({ self: 3, peers: NOWHERE });
  const silent = { 3: three.network.address };
  const dialler = await startServer({ self: 1, peers: silent, standing, tuning });
  expect([dialler.network.stats()[0]?.streams, three.told]).toEqual([0, []]);
});
