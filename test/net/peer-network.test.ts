import { afterEach, expect, test } from "vitest";
import { type ServiceError, status } from "@grpc/grpc-js";
import { crc32c } from "../../src/base/crc32c.ts";
import type { Envelope } from "../../src/raft/messages.ts";
import { openPeerChannel, type PeerChannel } from "../../src/net/peer-channel.ts";
import { channelOptions, DEFAULT_TUNING } from "../../src/net/tuning.ts";
import type { Hello } from "../../src/wire/generated/cadastre/peer/v1/Hello.ts";
import type {
  PeerFrame,
  PeerFrame__Output,
} from "../../src/wire/generated/cadastre/peer/v1/PeerFrame.ts";
import { envelopeToProto } from "../../src/wire/peer.ts";
import {
  append,
  closeAll,
  CLUSTER,
  connected,
  envelope,
  heartbeat,
  id,
  peerList,
  startPair,
  startServer,
  type TestServer,
  until,
} from "../integration/net/support.ts";

const channels: PeerChannel[] = [];

afterEach(async () => {
  for (const channel of channels.splice(0)) channel.cut();
  await closeAll();
});

interface RawStream {
  readonly frames: PeerFrame__Output[];
  readonly write: (frame: PeerFrame) => void;
  readonly error: () => ServiceError | undefined;
}

/** A stream to a server under test, to say on it what no Cadastre server would. */
function rawStream(server: TestServer): RawStream {
  const channel = openPeerChannel(server.network.address, channelOptions(DEFAULT_TUNING));
  channels.push(channel);
  const call = channel.client.exchange();
  const frames: PeerFrame__Output[] = [];
  let error: ServiceError | undefined;
  call.on("data", (frame: PeerFrame__Output) => frames.push(frame));
  call.on("error", (cause: ServiceError) => {
    error ??= cause;
  });
  return { frames, write: (frame) => call.write(frame), error: () => error };
}

const HELLO: Hello = {
  protocolVersion: 1,
  clusterId: CLUSTER,
  fromServer: 1,
  toServer: 2,
  bootNonce: "n",
  attempt: 1,
  storeUuid: "store 1",
};

const NOWHERE = { 1: "127.0.0.1:1" };

test("two servers connect, and messages go both ways over one stream", async () => {
  const { one, two } = await startPair();
  one.network.transport.send(id.server(2), append(0, [10]));
  two.network.transport.send(id.server(1), heartbeat(7));
  await until("both arrive", () => one.received.length === 1 && two.received.length === 1);
  expect(two.received[0]).toEqual({ from: 1, envelope: append(0, [10]) });
  expect(one.received[0]).toEqual({ from: 2, envelope: heartbeat(7) });
  expect([...one.told, ...two.told]).toEqual(["reachable 2", "reachable 1"]);
});

test("what is sent in one turn leaves in one frame", async () => {
  const { one, two } = await startPair();
  const [before] = one.network.stats();
  for (let i = 0; i < 100; i++) one.network.transport.send(id.server(2), heartbeat(i));
  await until("all arrive", () => two.received.length === 100);
  const [after] = one.network.stats();
  expect((after?.framesSent ?? 0) - (before?.framesSent ?? 0)).toBe(1);
  const rounds = two.received.map(
    ({ envelope: { message } }) => "round" in message && message.round,
  );
  expect(rounds).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test("three servers make three streams", async () => {
  const three = await startServer({ self: 3, peers: { 1: "127.0.0.1:1", 2: "127.0.0.1:1" } });
  const two = await startServer({ self: 2, peers: { ...NOWHERE, 3: three.network.address } });
  const one = await startServer({
    self: 1,
    peers: { 1: "127.0.0.1:1", 2: two.network.address, 3: three.network.address },
  });
  await connected(one, two);
  await connected(two, three);
  const streams = [one, two, three].map(({ network }) => network.stats().map((s) => s.streams));
  expect(streams).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
});

test.each<[string, Hello, status, RegExp]>([
  ["another cluster", { clusterId: "b" }, status.FAILED_PRECONDITION, /cluster mismatch/],
  ["another server", { toServer: 3 }, status.FAILED_PRECONDITION, /wrong server/],
  ["a server that is no peer", { fromServer: 7 }, status.PERMISSION_DENIED, /unknown peer/],
  ["the server itself", { fromServer: 2 }, status.PERMISSION_DENIED, /unknown peer/],
  ["another protocol", { protocolVersion: 2 }, status.FAILED_PRECONDITION, /protocol 2/],
  ["server 0", { fromServer: 0 }, status.INVALID_ARGUMENT, /fromServer/],
])("a Hello of %s is refused by name, logged once, and nothing is delivered", async (...row) => {
  const [, change, code, details] = row;
  const two = await startServer({ self: 2, peers: NOWHERE });
  for (let attempt = 0; attempt < 3; attempt++) {
    const stream = rawStream(two);
    stream.write({ hello: { ...HELLO, ...change } });
    stream.write({ batch: { envelopes: [envelopeToProto(heartbeat(1))] } });
    await until("it is refused", () => stream.error() !== undefined);
    expect(stream.error()?.code).toBe(code);
    expect(stream.error()?.details).toMatch(details);
    expect(stream.frames).toMatchObject([{ refusal: { details: stream.error()?.details } }]);
  }
  expect([two.received, two.told]).toEqual([[], []]);
  expect(two.log.map(({ event }) => event)).toEqual(["peerRefused"]);
});

test("a Hello from a peer that should be dialled is refused", async () => {
  const one = await startServer({ self: 1, peers: { 2: "127.0.0.1:1" } });
  const stream = rawStream(one);
  stream.write({ hello: { ...HELLO, fromServer: 2, toServer: 1 } });
  await until("it is refused", () => stream.error() !== undefined);
  expect(stream.error()?.details).toMatch(/wrong direction/);
});

test("a stream that begins with a batch is refused and delivers nothing", async () => {
  const two = await startServer({ self: 2, peers: NOWHERE });
  const stream = rawStream(two);
  stream.write({ batch: { envelopes: [envelopeToProto(heartbeat(1))] } });
  await until("it is refused", () => stream.error() !== undefined);
  expect(stream.error()?.code).toBe(status.INVALID_ARGUMENT);
  expect(two.received).toEqual([]);
});

test("a dialing server of another cluster says why it is refused, once", async () => {
  const two = await startServer({ self: 2, peers: NOWHERE });
  const tuning = { backoffMsMin: 5, backoffMsMax: 5 };
  const peers = { 2: two.network.address };
  const one = await startServer({ self: 1, clusterId: "cluster-b", peers, tuning });
  await until("it is told", () => one.told.length > 0);
  await until("it was refused again", () => two.log.length > 0 && one.log.length > 1);
  expect(one.told).toEqual(["unreachable 2"]);
  const [refused] = one.log.filter(({ event }) => event === "refusedByPeer");
  expect(refused?.fields["details"]).toMatch(/cluster mismatch/);
});

test("a new Hello replaces the old stream, whose late data are dropped", async () => {
  const two = await startServer({ self: 2, peers: NOWHERE });
  const old = rawStream(two);
  old.write({ hello: HELLO });
  await until("the Hello is answered", () => old.frames.length > 0);
  const young = rawStream(two);
  young.write({ hello: { ...HELLO, attempt: 2 } });
  await until("the Hello is answered", () => young.frames.length > 0);
  old.write({ batch: { envelopes: [envelopeToProto(heartbeat(1))] } });
  young.write({ batch: { envelopes: [envelopeToProto(heartbeat(2))] } });
  await until("the new stream's message arrives", () => two.received.length > 0);
  await until("the old stream is cut", () => old.error() !== undefined);
  expect(two.received.map((r) => r.envelope)).toEqual([heartbeat(2)]);
  expect(two.told).toEqual(["reachable 1", "unreachable 1", "reachable 1"]);
});

test("an older stream of the same process does not replace a newer one", async () => {
  const two = await startServer({ self: 2, peers: NOWHERE });
  const young = rawStream(two);
  young.write({ hello: { ...HELLO, attempt: 2 } });
  await until("the Hello is answered", () => young.frames.length > 0);
  const late = rawStream(two);
  late.write({ hello: HELLO });
  await until("it is refused", () => late.error() !== undefined);
  expect(late.error()?.details).toMatch(/late/);
  const restarted = rawStream(two);
  restarted.write({ hello: { ...HELLO, bootNonce: "another process" } });
  await until("the Hello is answered", () => restarted.frames.length > 0);
});

test("a malformed message is dropped and counted, its neighbours are delivered", async () => {
  const two = await startServer({ self: 2, peers: NOWHERE });
  const stream = rawStream(two);
  stream.write({ hello: HELLO });
  const bad = { ...envelopeToProto(heartbeat(2)), toReplica: 0 };
  const envelopes = [envelopeToProto(heartbeat(1)), bad, envelopeToProto(heartbeat(3))];
  stream.write({ batch: { envelopes } });
  await until("the others arrive", () => two.received.length === 2);
  expect(two.network.stats()[0]?.messagesInvalid).toBe(1);
  const [line] = two.log.filter(({ event }) => event === "peerMessageInvalid");
  expect(line?.fields["problem"]).toBe("toReplica: is below 1");
});

test("what is sent while there is no stream is dropped, not kept for later", async () => {
  const one = await startServer({ self: 1, peers: { 2: "127.0.0.1:1" } });
  one.network.transport.send(id.server(2), heartbeat(1));
  one.network.transport.send(id.server(5), heartbeat(1));
  expect(one.network.stats()[0]).toMatchObject({ droppedUnreachable: 1, messagesQueued: 0 });
});

test("a peer whose address changes is dialled there", async () => {
  const one = await startServer({ self: 1, peers: { 2: "127.0.0.1:1" } });
  await until("it is unreachable", () => one.told.length === 1);
  const two = await startServer({ self: 2, peers: NOWHERE });
  one.network.setPeers(peerList({ 2: two.network.address }));
  await connected(one, two);
  one.network.setPeers([]);
  await until("the break is seen", () => two.told.at(-1) === "unreachable 1");
  expect(one.network.stats()).toEqual([]);
});

test("frames of every size arrive whole, up to the largest entry", async () => {
  const { one, two } = await startPair();
  const sizes = [0, 1, 65_535, 65_536, 262_144, 524_288];
  const sent = sizes.map((bytes, i) => append(i, [bytes]));
  for (const message of sent) one.network.transport.send(id.server(2), message);
  await until("all arrive", () => two.received.length === sizes.length);
  // Compared as hashes: an element by element comparison of a megabyte takes seconds.
  expect(two.received.map((r) => payloadHashes(r.envelope))).toEqual(sent.map(payloadHashes));
});

function payloadHashes({ message }: Envelope): string[] {
  if (message.kind !== "appendEntries") return [];
  return message.entries.map(({ payload }) => `${payload.length} ${crc32c(payload)}`);
}

test("groups share the stream, and their ids arrive unchanged", async () => {
  const { one, two } = await startPair();
  const message = heartbeat(1).message;
  for (let group = 0; group < 50; group++) {
    one.network.transport.send(id.server(2), envelope(message, group));
  }
  await until("all arrive", () => two.received.length === 50);
  expect(two.received.map((r) => r.envelope.group)).toEqual(
    Array.from({ length: 50 }, (_, i) => i),
  );
  expect(two.network.stats()[0]?.streams).toBe(1);
});

test("closing twice is closing once, and nothing is delivered afterwards", async () => {
  const { one, two } = await startPair();
  const closed = two.network.close();
  one.network.transport.send(id.server(2), heartbeat(1));
  two.network.transport.send(id.server(1), heartbeat(1));
  await Promise.all([closed, two.network.close()]);
  expect([one.received, two.received]).toEqual([[], []]);
});
