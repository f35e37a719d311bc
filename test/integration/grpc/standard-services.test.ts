import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { HEALTH } from "../../../src/wire/standard/health.ts";
import { REFLECTION_PATHS } from "../../../src/wire/standard/reflection.ts";
import { type Harness, LOOKUP, pause, startHarness, until } from "./harness.ts";
import { type RawCall, rawCall } from "./raw-call.ts";

const [SERVING, NOT_SERVING, UNKNOWN] = ["0801", "0802", "0803"];
const REFLECTION = REFLECTION_PATHS[0] ?? "";
/** list_services, with a text that is `length` long. */
const question = (length: number): Buffer =>
  Buffer.concat([
    Buffer.from([0x3a, 0x80 | (length & 0x7f), length >> 7]),
    Buffer.alloc(length, 65),
  ]);
const NO_FILE = Buffer.from("1a0178", "hex");

function health(
  { server }: Harness,
  method: keyof typeof HEALTH,
  service = "",
  windowBytes?: number,
): RawCall {
  const call = rawCall(server.address, HEALTH[method].path, windowBytes);
  void call.send(HEALTH.check.encodeRequest({ service }));
  call.stream.end();
  return call;
}

function reflection({ server }: Harness, windowBytes?: number): RawCall {
  return rawCall(server.address, REFLECTION, windowBytes);
}

test("a server that refuses everything else as overloaded answers health and reflection", async () => {
  const harness = await startHarness(
    { directory: { lookup: () => new Promise(() => {}) } },
    { limits: { inFlightMax: 1, inFlightReserved: 0, watchesMax: 0 } },
  );
  const { directory } = harness.channel().services;
  void directory.lookup(LOOKUP, { timeoutMs: 60_000 });
  await until(() => harness.server.load().calls === 1);
  expect(await directory.lookup(LOOKUP, { timeoutMs: 60_000 })).toMatchObject({
    error: { reason: "OVERLOADED" },
  });
  const check = health(harness, "check");
  expect(await check.end()).toBe(status.OK);
  expect(check.messages).toEqual([SERVING]);
  expect(await health(harness, "list").end()).toBe(status.OK);
  const watch = health(harness, "watch");
  const asked = reflection(harness);
  void asked.send(NO_FILE);
  await until(() => watch.messages.length === 1 && asked.messages.length === 1);
  expect(harness.server.load()).toEqual({ calls: 1, watches: 0 });
});

test("health of an unknown service is NOT_FOUND to a check and SERVICE_UNKNOWN to a watch", async () => {
  const harness = await startHarness({});
  expect(await health(harness, "check", "cadastre.peer.v1.Peer").end()).toBe(status.NOT_FOUND);
  const watch = health(harness, "watch", "cadastre.peer.v1.Peer");
  await until(() => watch.messages.length === 1);
  expect(watch.messages).toEqual([UNKNOWN]);
  expect(watch.status()).toBeUndefined();
});

test("a health watch that takes nothing costs one message, and then gets the latest state", async () => {
  const harness = await startHarness({});
  const slow = health(harness, "watch", "", 0);
  const quick = health(harness, "watch");
  await until(() => quick.messages.length === 1);
  for (let change = 1; change <= 100; change++) {
    harness.setReady(change % 2 === 0);
    await until(() => quick.messages.length === 1 + change);
  }
  harness.setReady(false);
  await until(() => quick.messages.length === 102);
  expect(slow.messages).toEqual([]);
  slow.read();
  await until(() => slow.messages.length > 0);
  await pause(50);
  expect(slow.messages).toEqual([SERVING, NOT_SERVING]);
});

test("at the drain a watch gets NOT_SERVING and ends well, before the server closes", async () => {
  const harness = await startHarness({});
  const [watch, unknown] = [health(harness, "watch"), health(harness, "watch", "nothing")];
  await until(() => watch.messages.length === 1 && unknown.messages.length === 1);
  harness.drain();
  expect([await watch.end(), await unknown.end()]).toEqual([status.OK, status.OK]);
  expect(watch.messages).toEqual([SERVING, NOT_SERVING]);
  expect(unknown.messages).toEqual([UNKNOWN]);
  const late = health(harness, "watch");
  expect(await late.end()).toBe(status.OK);
  expect(late.messages).toEqual([NOT_SERVING]);
});

test("closing the server is not held up by a health watch that takes nothing", async () => {
  const harness = await startHarness({});
  health(harness, "watch", "", 0);
  const other = health(harness, "watch");
  await until(() => other.messages.length === 1);
  harness.drain();
  await harness.server.close(100);
});

test("health watches are bounded, and one that its reader leaves makes room", async () => {
  const harness = await startHarness({}, { limits: { healthWatchesMax: 2 } });
  const watches = [health(harness, "watch"), health(harness, "watch")];
  await until(() => watches.every(({ messages }) => messages.length === 1));
  expect(await health(harness, "watch").end()).toBe(status.RESOURCE_EXHAUSTED);
  watches[0]?.stream.close();
  let next = health(harness, "watch");
  const endMs = Date.now() + 2_000;
  while (next.messages.length === 0 && Date.now() < endMs) {
    await pause(20);
    if (next.status() !== undefined) next = health(harness, "watch");
  }
  expect(next.messages).toEqual([SERVING]);
});

test("an error of reflection is an answer, the stream goes on, and ends well when the client ends it", async () => {
  const call = reflection(await startHarness({}));
  for (const message of [NO_FILE, Buffer.from("ffff", "hex"), question(1_000)])
    await call.send(message);
  await until(() => call.messages.length === 3);
  expect(call.status()).toBeUndefined();
  call.stream.end();
  expect(await call.end()).toBe(status.OK);
});

test("a client that asks and takes no answers is not read any further, and loses nothing", async () => {
  const questions = 600;
  const call = reflection(await startHarness({}), 0);
  let taken = 0;
  const asking = (async () => {
    for (; taken < questions; taken++) await call.send(question(10_000));
    call.stream.end();
  })();
  let before = 0;
  while (taken === 0 || before !== taken) {
    before = taken;
    await pause(200);
  }
  expect(taken, "a window, and what grpc-js reads ahead").toBeLessThan(60);
  expect(call.messages).toEqual([]);
  call.read();
  await asking;
  expect(await call.end()).toBe(status.OK);
  expect(call.messages).toHaveLength(questions);
});

/** The status of a stream that asks once and ends. */
async function tryOne(harness: Harness): Promise<number> {
  const call = reflection(harness);
  await call.send(NO_FILE);
  call.stream.end();
  return call.end();
}

test("reflection streams are bounded, and end with the server", async () => {
  const harness = await startHarness({}, { limits: { reflectionsMax: 1 } });
  const first = reflection(harness);
  await first.send(NO_FILE);
  await until(() => first.messages.length === 1);
  expect(await reflection(harness).end()).toBe(status.RESOURCE_EXHAUSTED);
  first.stream.end();
  expect(await first.end()).toBe(status.OK);
  // One that waits for its reader, and is left by it.
  const second = reflection(harness, 0);
  await second.send(NO_FILE);
  let refused = false;
  while (!refused) refused = (await tryOne(harness)) === status.RESOURCE_EXHAUSTED;
  second.stream.close();
  let third = reflection(harness);
  void third.send(NO_FILE);
  await until(() => {
    if (third.status() !== undefined) void (third = reflection(harness)).send(NO_FILE);
    return third.messages.length === 1;
  });
  await harness.server.close(1_000);
  expect(third.status()).toBe(status.UNAVAILABLE);
});
