import { afterEach, expect, test } from "vitest";
import type { PeerStats } from "../../../src/net/peer-link.ts";
import { DEFAULT_TUNING } from "../../../src/net/tuning.ts";
import {
  append,
  closeAll,
  connected,
  heartbeat,
  id,
  type Proxy,
  settled,
  startProxy,
  startServer,
  type TestServer,
  until,
} from "./support.ts";

const BULK_MESSAGES = 160;
const BULK_BYTES = 65_536;

const proxies: Proxy[] = [];

afterEach(async () => {
  await closeAll();
  for (const proxy of proxies.splice(0)) proxy.close();
});

/** Servers 1 and 2 with a proxy between them; silence is not a reason to end the stream. */
async function pairThroughProxy(): Promise<{ one: TestServer; two: TestServer; proxy: Proxy }> {
  const tuning = { silenceMsMax: 60_000 };
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" }, tuning });
  const proxy = await startProxy(two.network.address);
  proxies.push(proxy);
  const one = await startServer({ self: 1, peers: { 2: proxy.address }, tuning });
  await connected(one, two);
  return { one, two, proxy };
}

test.each([
  { side: "the dialing", sender: 1 },
  { side: "the called", sender: 2 },
])("a heartbeat of $side side waits for one bulk frame, not for 10 MB", async ({ sender }) => {
  const { one, two, proxy } = await pairThroughProxy();
  const [from, to] = sender === 1 ? [one, two] : [two, one];
  const receiver = id.server(3 - sender);
  proxy.freeze();
  for (let i = 0; i < BULK_MESSAGES; i++) {
    from.network.transport.send(receiver, append(i, [BULK_BYTES]));
  }
  await until("a frame is on its way", () => statsOf(from).messagesSent > 0);
  await settled(() => statsOf(from).messagesSent);
  const underWay = statsOf(from).messagesSent;
  expect(underWay * BULK_BYTES).toBeLessThanOrEqual(DEFAULT_TUNING.frameBytesMax);

  from.network.transport.send(receiver, heartbeat(1));
  proxy.thaw();
  await until("all arrive", () => to.received.length === BULK_MESSAGES + 1);
  const kinds = to.received.map(({ envelope }) => envelope.message.kind);
  expect(kinds.indexOf("heartbeat")).toBe(underWay);
  expect(indexesOf(to)).toEqual(Array.from({ length: BULK_MESSAGES }, (_, i) => i));
});

test("a peer that does not read costs a bounded queue, whose oldest bulk goes first", async () => {
  const { one, two, proxy } = await pairThroughProxy();
  proxy.freeze();
  const messages = 800;
  for (let i = 0; i < messages; i++)
    one.network.transport.send(id.server(2), append(i, [BULK_BYTES]));
  await settled(() => statsOf(one).messagesSent);
  const { bytesQueued, droppedBulk, messagesSent, messagesQueued } = statsOf(one);
  expect(bytesQueued).toBeLessThanOrEqual(DEFAULT_TUNING.bulkBytesMax);
  expect(droppedBulk).toBeGreaterThan(0);
  expect(messagesSent + messagesQueued + droppedBulk).toBe(messages);

  proxy.thaw();
  await until("the rest arrives", () => two.received.length === messages - droppedBulk);
  const indexes = indexesOf(two);
  expect(indexes).toEqual([...indexes].sort((a, b) => a - b));
  expect(indexes.at(-1)).toBe(messages - 1);
});

function statsOf(server: TestServer): PeerStats {
  const [stats] = server.network.stats();
  if (stats === undefined) throw new Error("a server of a pair has a peer");
  return stats;
}

/** prevIndex of every append, in the order of arrival. */
function indexesOf(server: TestServer): number[] {
  return server.received.flatMap(({ envelope: { message } }) =>
    message.kind === "appendEntries" ? [message.prevIndex] : [],
  );
}
