import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { type IncomingCall, openScope, timeLeftMs } from "../../../src/server/grpc/call-context.ts";

class FakeCall extends EventEmitter implements IncomingCall {
  getDeadline(): number {
    return Infinity;
  }
}

test.each([
  ["no deadline gets the default", Infinity, 5_000],
  ["one that is no number, too", NaN, 5_000],
  ["a near one is kept", 1_250, 250],
  ["a far one is cut", 10 ** 9, 60_000],
  ["a past one is negative", 400, -600],
])("%s", (_, deadline, expected) => {
  expect(timeLeftMs(deadline, 1_000)).toBe(expected);
});

test("the signal tells of a cancellation before and after it is asked for", () => {
  const early = new FakeCall();
  const earlyScope = openScope(early);
  early.emit("cancelled");
  expect(earlyScope.context.signal.aborted).toBe(true);

  const late = new FakeCall();
  const { signal } = openScope(late).context;
  expect(signal.aborted).toBe(false);
  late.emit("cancelled");
  expect(signal.aborted).toBe(true);
});

test("a copy of the context keeps the signal", () => {
  const call = new FakeCall();
  const copy = { ...openScope(call).context, timeoutMs: 1 };
  call.emit("cancelled");
  expect(copy.signal.aborted).toBe(true);
});

test("what grpc-js calls a cancellation after the answer aborts nothing", () => {
  const call = new FakeCall();
  const scope = openScope(call);
  const { signal } = scope.context;
  scope.settle();
  call.emit("cancelled");
  expect(signal.aborted).toBe(false);
});
