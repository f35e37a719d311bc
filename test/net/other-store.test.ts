/**
 * A server is its store: whoever says Hello under a known id from another store has lost what that
 * id voted for and acknowledged, or runs beside it. Peers that have met the first keep it out.
 */

import { afterEach, expect, test } from "vitest";
import {
  closeAll,
  connected,
  heartbeat,
  id,
  startServer,
  type TestServer,
  until,
} from "../integration/net/support.ts";

const tuning = { backoffMsMin: 5, backoffMsMax: 10 };

afterEach(closeAll);

function logged(server: TestServer, event: string): string | undefined {
  const [line] = server.log.filter((candidate) => candidate.event === event);
  return line === undefined ? undefined : String(line.fields["details"]);
}

test("of two processes under one id, a peer listens to the one that it met first", async () => {
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" } });
  const peers = { 2: two.network.address };
  const first = await startServer({ self: 1, peers, tuning });
  await connected(first, two);
  const second = await startServer({ self: 1, peers, tuning, storeUuid: "another store" });
  await until("it is refused", () => logged(second, "refusedByPeer") !== undefined);
  expect(logged(second, "refusedByPeer")).toMatch(/another store: server 1/);
  second.network.transport.send(id.server(2), heartbeat(1));
  first.network.transport.send(id.server(2), heartbeat(2));
  await until("the first one's message arrives", () => two.received.length > 0);
  expect(two.received.map(({ envelope }) => envelope)).toEqual([heartbeat(2)]);
  expect(two.told).toEqual(["reachable 1"]);
  expect(second.told).toEqual(["unreachable 2"]);
});

test("a server that lost its store is kept out under its old id, until it has it again", async () => {
  const former = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" } });
  const listen = former.network.address;
  const one = await startServer({ self: 1, peers: { 2: listen }, tuning });
  await connected(one, former);
  await former.network.close();
  await until("it is missed", () => one.told.at(-1) === "unreachable 2");
  const empty = await startServer({ self: 2, listen, storeUuid: "a new store" });
  empty.network.setPeers([{ id: id.server(1), address: "127.0.0.1:1" }]);
  await until("it is refused", () => logged(one, "helloRefused") !== undefined);
  expect(logged(one, "helloRefused")).toMatch(/another store: server 2/);
  empty.network.transport.send(id.server(1), heartbeat(1));
  await empty.network.close();
  expect(one.told).toEqual(["reachable 2", "unreachable 2"]);
  expect(one.received).toEqual([]);
  const again = await startServer({ self: 2, listen, peers: { 1: "127.0.0.1:1" } });
  await until("it is back", () => one.told.at(-1) === "reachable 2");
  again.network.transport.send(id.server(1), heartbeat(3));
  await until("it is heard", () => one.received.length === 1);
});
