import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type ServiceError, status } from "@grpc/grpc-js";
import type { LogIndex } from "../../src/base/brands.ts";
import { openPeerChannel, PEER_SERVICE } from "../../src/net/peer-channel.ts";
import { channelOptions, DEFAULT_TUNING } from "../../src/net/tuning.ts";
import type { ForwardAnswer, ForwardCall } from "../../src/replica/ports.ts";
import type { ForwardRequest } from "../../src/wire/generated/cadastre/peer/v1/ForwardRequest.ts";
import { forwardToProto } from "../../src/wire/peer-forward.ts";
import {
  closeAll,
  CLUSTER,
  id,
  NOT_LEADER,
  peerList,
  type Proxy,
  startPair,
  startProxy,
  startServer,
  until,
} from "../integration/net/support.ts";

const proxies: Proxy[] = [];

afterEach(async () => {
  await closeAll();
  for (const proxy of proxies.splice(0)) proxy.close();
});

const APPLIED: ForwardAnswer = {
  kind: "applied",
  index: 42 as LogIndex,
  result: new Uint8Array([7]),
};

const UNKNOWN = { kind: "failed", outcome: "unknown" };
const UNREACHABLE = { kind: "failed", outcome: "notApplied", reason: "unreachable" };

function call(timeoutMs = 5_000): ForwardCall {
  return { group: id.group(3), command: new Uint8Array([1, 2, 3]), timeoutMs };
}

test("a command reaches the peer with its group, and the answer comes back", async () => {
  const calls: { from: number; call: ForwardCall }[] = [];
  const { one, two } = await startPair({
    onForward: (from, forwarded) => {
      calls.push({ from, call: forwarded });
      return Promise.resolve(from === 1 ? APPLIED : NOT_LEADER);
    },
  });
  expect(await one.network.forwarder.forward(id.server(2), call())).toEqual(APPLIED);
  expect(calls).toMatchObject([
    { from: 1, call: { group: 3, command: new Uint8Array([1, 2, 3]) } },
  ]);
  expect(calls[0]?.call.timeoutMs).toBeGreaterThan(4_000);
  expect(calls[0]?.call.timeoutMs).toBeLessThanOrEqual(5_000);

  // 2 knows a wrong address of 1: it learns the right one.
  two.network.setPeers([{ id: id.server(1), address: one.network.address }]);
  expect(await two.network.forwarder.forward(id.server(1), call())).toEqual(NOT_LEADER);
});

test("a refused connection is certainly without effect", async () => {
  const one = await startServer({ self: 1, peers: { 2: "127.0.0.1:1" } });
  expect(await one.network.forwarder.forward(id.server(2), call())).toEqual(UNREACHABLE);
  expect(await one.network.forwarder.forward(id.server(9), call())).toEqual(UNREACHABLE);
});

test("after a refused connection the peer is found as soon as it is back", async () => {
  const onForward = (): Promise<ForwardAnswer> => Promise.resolve(APPLIED);
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" }, onForward });
  const { address } = two.network;
  await two.network.close();
  const one = await startServer({ self: 1, peers: { 2: address } });
  expect(await one.network.forwarder.forward(id.server(2), call())).toEqual(UNREACHABLE);
  await startServer({ self: 2, listen: address, peers: { 1: "127.0.0.1:1" }, onForward });
  let answer: ForwardAnswer | undefined;
  const ask = async (): Promise<void> => {
    while (answer?.kind !== "applied") {
      answer = await one.network.forwarder.forward(id.server(2), call());
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.race([ask(), until("it is applied", () => answer?.kind === "applied", 2_000)]);
  expect(answer).toEqual(APPLIED);
});

test("a command to a silent listener is certainly without effect, and lets go of it", async () => {
  const silent = await startProxy(undefined);
  proxies.push(silent);
  const tuning = { connectTimeoutMs: 50 };
  const two = await startServer({ self: 2, peers: { 1: silent.address }, tuning });
  expect(await two.network.forwarder.forward(id.server(1), call())).toEqual(UNREACHABLE);
  expect(await two.network.forwarder.forward(id.server(1), call())).toEqual(UNREACHABLE);
  expect(silent.accepted()).toBe(2);
  await until("its connections are gone", () => silent.connections() === 0);
});

test("a short wait for a slow connection does not throw it away", async () => {
  const silent = await startProxy(undefined);
  proxies.push(silent);
  const two = await startServer({ self: 2, peers: { 1: silent.address } });
  for (let i = 0; i < 3; i++) {
    expect(await two.network.forwarder.forward(id.server(1), call(30))).toEqual(UNREACHABLE);
  }
  expect(silent.accepted()).toBe(1);
});

test("a peer that moved gets its commands at the new address", async () => {
  const answering = (index: number) => (): Promise<ForwardAnswer> =>
    Promise.resolve({ kind: "applied", index: index as LogIndex, result: new Uint8Array(0) });
  const peers = { 1: "127.0.0.1:1" };
  const old = await startServer({ self: 2, peers, onForward: answering(1) });
  const moved = await startServer({ self: 2, peers, onForward: answering(2) });
  const one = await startServer({ self: 1, peers: { 2: old.network.address } });
  expect(await one.network.forwarder.forward(id.server(2), call())).toMatchObject({ index: 1 });
  one.network.setPeers(peerList({ 2: moved.network.address }));
  expect(await one.network.forwarder.forward(id.server(2), call())).toMatchObject({ index: 2 });
});

test("no answer in time is an unknown outcome", async () => {
  const { one } = await startPair({ onForward: () => new Promise(() => {}) });
  expect(await one.network.forwarder.forward(id.server(2), call(60))).toEqual({
    ...UNKNOWN,
    reason: "deadlineExceeded",
  });
});

test("no time left is certainly without effect", async () => {
  const { one } = await startPair();
  expect(await one.network.forwarder.forward(id.server(2), call(0))).toEqual({
    kind: "failed",
    outcome: "notApplied",
    reason: "deadlineExceeded",
  });
});

test("a peer that goes away with the command in its hands leaves the outcome unknown", async () => {
  let calls = 0;
  const { one, two } = await startPair({
    tuning: { drainMs: 20 },
    onForward: () => {
      calls++;
      return new Promise(() => {});
    },
  });
  const forwarded = one.network.forwarder.forward(id.server(2), call());
  await until("it is under way", () => calls === 1);
  await two.network.close();
  expect(await forwarded).toEqual({ ...UNKNOWN, reason: "unreachable" });
});

test("a command that was handed on before closing is still answered", async () => {
  let answer: (value: ForwardAnswer) => void = () => {};
  let isHandedOn = false;
  const { one, two } = await startPair({
    tuning: { drainMs: 5_000 },
    onForward: () => {
      isHandedOn = true;
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
  });
  const forwarded = one.network.forwarder.forward(id.server(2), call());
  await until("it is handed on", () => isHandedOn);
  const closed = two.network.close();
  answer(APPLIED);
  expect(await forwarded).toEqual(APPLIED);
  await closed;
});

test("the caller's own closing leaves a command unknown and refuses new ones", async () => {
  let isHandedOn = false;
  const { one } = await startPair({
    onForward: () => {
      isHandedOn = true;
      return new Promise(() => {});
    },
  });
  const forwarded = one.network.forwarder.forward(id.server(2), call());
  await until("it is handed on", () => isHandedOn);
  await one.network.close();
  expect(await forwarded).toMatchObject(UNKNOWN);
  expect(await one.network.forwarder.forward(id.server(2), call())).toEqual({
    kind: "failed",
    outcome: "notApplied",
    reason: "shuttingDown",
  });
});

test.each<[string, ForwardRequest, status, RegExp]>([
  ["another cluster", { clusterId: "b" }, status.FAILED_PRECONDITION, /cluster mismatch/],
  ["another server", { toServer: 9 }, status.FAILED_PRECONDITION, /wrong server/],
  ["a server that is no peer", { fromServer: 9 }, status.PERMISSION_DENIED, /unknown peer/],
  ["another protocol", { protocolVersion: 2 }, status.FAILED_PRECONDITION, /protocol/],
  ["no time", { timeoutMs: 0 }, status.INVALID_ARGUMENT, /timeoutMs/],
])("a command of %s is refused before it is handed on", async (_, change, code, details) => {
  const calls: ForwardCall[] = [];
  const two = await startServer({
    self: 2,
    peers: { 1: "127.0.0.1:1" },
    onForward: (__, forwarded) => {
      calls.push(forwarded);
      return Promise.resolve(APPLIED);
    },
  });
  const channel = openPeerChannel(two.network.address, channelOptions(DEFAULT_TUNING));
  const ids = { protocolVersion: 1, clusterId: CLUSTER, from: id.server(1), to: id.server(2) };
  const request = { ...forwardToProto({ ids, call: call() }), ...change };
  const error = await new Promise<ServiceError | null>((resolve) => {
    channel.client.forward(request, { deadline: Date.now() + 5_000 }, resolve);
  });
  channel.cut();
  expect(error?.code).toBe(code);
  expect(error?.details).toMatch(details);
  expect(calls).toEqual([]);
  expect(two.log.map(({ event }) => event)).toEqual(["forwardRefused"]);
});

test("a caller of another cluster learns that its command was not applied", async () => {
  const onForward = (): Promise<ForwardAnswer> => Promise.resolve(APPLIED);
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" }, onForward });
  const peers = { 2: two.network.address };
  const one = await startServer({ self: 1, clusterId: "cluster-b", peers });
  expect(await one.network.forwarder.forward(id.server(2), call())).toEqual(UNREACHABLE);
  expect(one.log.map(({ event }) => event)).toContain("forwardRefusedByPeer");
});

test("a port on which no Cadastre listens is certainly without effect", async () => {
  const stranger = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const bound = stranger.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  const one = await startServer({ self: 1, peers: { 2: `127.0.0.1:${port}` } });
  expect(await one.network.forwarder.forward(id.server(2), call(500))).toEqual(UNREACHABLE);
  stranger.close();
});

test("an answer that is lost behind a status of success leaves the outcome unknown", async () => {
  const peer = createHttp2Server();
  peer.on("stream", (stream) => {
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end();
  });
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  const { port } = peer.address() as AddressInfo;
  // The larger id does not dial: forwarded commands are all that comes.
  const two = await startServer({ self: 2, peers: { 1: `127.0.0.1:${port}` } });
  expect(await two.network.forwarder.forward(id.server(1), call())).toMatchObject(UNKNOWN);
  peer.close();
});

test("the service has the three calls that the peer protocol knows", () => {
  expect(Object.values(PEER_SERVICE).map((method) => method.path as string)).toEqual([
    "/cadastre.peer.v1.Peer/Exchange",
    "/cadastre.peer.v1.Peer/Forward",
    "/cadastre.peer.v1.Peer/FetchSnapshot",
  ]);
});
