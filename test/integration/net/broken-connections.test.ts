import { afterEach, expect, test, vi } from "vitest";
import { createServer, type AddressInfo } from "node:net";
import {
  closeAll,
  connected,
  heartbeat,
  id,
  peerList,
  type Proxy,
  settled,
  startPair,
  startProxy,
  startServer,
  until,
} from "./support.ts";

const proxies: Proxy[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  await closeAll();
  for (const proxy of proxies.splice(0)) proxy.close();
});

async function proxyTo(target: string | undefined): Promise<Proxy> {
  const proxy = await startProxy(target);
  proxies.push(proxy);
  return proxy;
}

test("a peer that restarts on its address is found again within two seconds", async () => {
  const { one, two } = await startPair();
  const { address } = two.network;
  await two.network.close();
  await until("the break is seen", () => one.told.at(-1) === "unreachable 2");
  expect(one.told).toEqual(["reachable 2", "unreachable 2"]);

  const again = await startServer({ self: 2, listen: address, peers: { 1: "127.0.0.1:1" } });
  await until("it is back", () => one.told.at(-1) === "reachable 2", 2_000);
  expect(one.told).toEqual(["reachable 2", "unreachable 2", "reachable 2"]);
  one.network.transport.send(id.server(2), heartbeat(1));
  await until("messages arrive", () => again.received.length === 1);
});

test("a called server that restarts is connected to again, and so is a dialing one", async () => {
  const { one, two } = await startPair();
  await one.network.close();
  await until("the break is seen", () => two.told.at(-1) === "unreachable 1");
  const again = await startServer({ self: 1, peers: { 2: two.network.address } });
  await connected(again, two);
  expect(two.told).toEqual(["reachable 1", "unreachable 1", "reachable 1"]);
});

test("a listener that accepts and says nothing is dialled anew and costs nothing", async () => {
  const blackhole = await proxyTo(undefined);
  const tuning = { connectTimeoutMs: 200 };
  const one = await startServer({ self: 1, peers: { 2: blackhole.address }, tuning });
  await until("three dials", () => blackhole.accepted() >= 3);
  expect(one.told).toEqual(["unreachable 2"]);
  expect(blackhole.connections()).toBeLessThanOrEqual(2);

  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" } });
  one.network.setPeers(peerList({ 2: two.network.address }));
  await connected(one, two);
  await until("its connections are gone", () => blackhole.connections() === 0, 3_000);
});

test("a refused connection for a command is not tried again without a call", async () => {
  let dials = 0;
  const refusing = createServer((socket) => {
    dials++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const { port } = refusing.address() as AddressInfo;
  const tuning = { backoffMsMin: 10, backoffMsMax: 10 };
  const two = await startServer({ self: 2, peers: { 1: `127.0.0.1:${port}` }, tuning });
  const call = { group: id.group(1), command: new Uint8Array(1), timeoutMs: 1_000 };
  const answer = await two.network.forwarder.forward(id.server(1), call);
  expect(answer).toMatchObject({ outcome: "notApplied", reason: "unreachable" });
  await settled(() => dials);
  expect(dials).toBeLessThanOrEqual(2);
  refusing.close();
});

test("a connection that goes silent without closing is torn down and made anew", async () => {
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" } });
  const proxy = await proxyTo(two.network.address);
  const one = await startServer({ self: 1, peers: { 2: proxy.address } });
  await connected(one, two);

  const startMs = performance.now();
  proxy.freeze();
  await until("both notice", () =>
    [one, two].every(({ told }) => told.at(-1)?.startsWith("unreachable") === true),
  );
  const noticedMs = performance.now() - startMs;
  expect(noticedMs).toBeGreaterThan(1_400);
  expect(noticedMs).toBeLessThan(3_500);

  proxy.thaw();
  await connected(one, two);
  expect(one.told).toEqual(["reachable 2", "unreachable 2", "reachable 2"]);
  expect(two.told).toEqual(["reachable 1", "unreachable 1", "reachable 1"]);
});

test("an idle stream stays up for longer than the bound on silence", async () => {
  const { one, two } = await startPair();
  const startMs = performance.now();
  await until("three seconds pass", () => performance.now() - startMs > 3_000);
  expect([...one.told, ...two.told]).toEqual(["reachable 2", "reachable 1"]);
});

test("a stalled process does not take its own stall for the peer's silence", async () => {
  const { one, two } = await startPair({ tuning: { silenceMsMax: 400, keepAliveMs: 100 } });
  const startMs = performance.now();
  while (performance.now() - startMs < 1_000);
  one.network.transport.send(id.server(2), heartbeat(1));
  await until("the message arrives", () => two.received.length === 1);
  expect([...one.told, ...two.told]).toEqual(["reachable 2", "reachable 1"]);
});

test("a proxy in the environment is not used for peers", async () => {
  const dead = createServer();
  await new Promise<void>((resolve) => dead.listen(0, "127.0.0.1", resolve));
  const { port } = dead.address() as AddressInfo;
  await new Promise((resolve) => dead.close(resolve));
  for (const name of ["http_proxy", "https_proxy", "grpc_proxy"]) {
    vi.stubEnv(name, `http://127.0.0.1:${port}`);
  }
  vi.stubEnv("no_proxy", "");
  vi.stubEnv("no_grpc_proxy", "");
  const { one, two } = await startPair();
  one.network.transport.send(id.server(2), heartbeat(1));
  await until("the message arrives", () => two.received.length === 1);
});

test("closing takes less than a second and leaves no socket and no timer", async () => {
  const count = (): number =>
    process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|HTTP/.test(name)).length;
  const before = count();
  const { one, two } = await startPair();
  await one.network.forwarder.forward(id.server(2), {
    group: id.group(1),
    command: new Uint8Array(3),
    timeoutMs: 1_000,
  });
  expect(count()).toBeGreaterThan(before);
  const startMs = performance.now();
  await Promise.all([one.network.close(), two.network.close()]);
  expect(performance.now() - startMs).toBeLessThan(1_000);
  await until("all handles are gone", () => count() <= before + 1, 2_000);
});

test("closing in front of a peer that does not read takes less than a second, too", async () => {
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" } });
  const proxy = await proxyTo(two.network.address);
  const one = await startServer({ self: 1, peers: { 2: proxy.address } });
  await connected(one, two);
  proxy.freeze();
  const startMs = performance.now();
  await Promise.all([one.network.close(), two.network.close()]);
  expect(performance.now() - startMs).toBeLessThan(1_000);
});
