import { expect, test } from "vitest";
import { InvariantError } from "../../../src/base/assert.ts";
import { failed, ok, type Result } from "../../../src/base/result.ts";
import type { Refusal, WatchFrame } from "../../../src/wire/api.ts";
import { refusal } from "../../../src/wire/refusal.ts";
import { frameOf, nextNumber, numberOf, pause, startHarness, until, WATCH } from "./harness.ts";

type Frames = AsyncGenerator<Result<WatchFrame, Refusal>, void>;

/** Counts up for ever; frame numbers are also the count of pulls. */
class Source {
  pulls = 0;
  isClosed = false;

  async *frames(bytes: number, limit = Infinity): Frames {
    try {
      while (this.pulls < limit) {
        this.pulls++;
        yield ok(frameOf(this.pulls, bytes));
      }
    } finally {
      this.isClosed = true;
    }
  }
}

/** One frame, then silence until the signal. */
async function* quiet(signal: AbortSignal | undefined, onClosed: () => void): Frames {
  try {
    yield ok(frameOf(1));
    await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
  } finally {
    onClosed();
  }
}

test("frames arrive in order and the stream ends with the service's refusal", async () => {
  const end = refusal("COMPACTED", "the token is too old; start anew", {
    metadata: { oldest: "9" },
  });
  const { channel, server } = await startHarness({
    directory: {
      async *watch() {
        for (let i = 1; i <= 100; i++) yield ok(frameOf(i));
        yield failed(end);
      },
    },
  });
  const numbers: number[] = [];
  let last: Refusal | undefined;
  for await (const frame of channel().services.directory.watch(WATCH, {})) {
    if (frame.ok) numbers.push(numberOf(frame));
    else last = frame.error;
  }
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  expect(last).toEqual(end);
  await until(() => server.load().watches === 0);
});

test("a service that ends its stream without a word is reported as TRANSIENT", async () => {
  const source = new Source();
  const { channel } = await startHarness({ directory: { watch: () => source.frames(4, 2) } });
  const iterator = channel().services.directory.watch(WATCH, {})[Symbol.asyncIterator]();
  expect(await nextNumber(iterator)).toBe(1);
  expect(await nextNumber(iterator)).toBe(2);
  expect(await iterator.next()).toMatchObject({ value: { error: { reason: "TRANSIENT" } } });
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
});

test("a bad filter is refused with its field, before the service is asked", async () => {
  const source = new Source();
  const { channel } = await startHarness({ directory: { watch: () => source.frames(4) } });
  const request = { ...WATCH, nodeId: "a b" };
  const iterator = channel().services.directory.watch(request, {})[Symbol.asyncIterator]();
  expect(await iterator.next()).toMatchObject({
    value: { ok: false, error: { reason: "INVALID", field: "node_id" } },
  });
  expect(source.pulls).toBe(0);
});

test("a reader that stops reading stops the server's pulls after a bounded number of frames", async () => {
  const source = new Source();
  const frameBytes = 60_000;
  const { channel } = await startHarness({ directory: { watch: () => source.frames(frameBytes) } });
  const iterator = channel().services.directory.watch(WATCH, {})[Symbol.asyncIterator]();
  expect(await nextNumber(iterator)).toBe(1);
  let before = -1;
  while (before !== source.pulls) {
    before = source.pulls;
    await pause(150);
  }
  expect(source.pulls * frameBytes).toBeLessThan(4 * 1024 * 1024);
  for (let number = 2; number <= 200; number++) {
    expect(await nextNumber(iterator)).toBe(number);
  }
  expect(source.pulls).toBeLessThan(300);
  await iterator.return?.();
  await until(() => source.isClosed);
});

test("returning early closes the service's stream, even while it waits for a change", async () => {
  let closed = 0;
  const { channel, server } = await startHarness({
    directory: { watch: (_, { signal }) => quiet(signal, () => closed++) },
  });
  const { directory } = channel().services;
  for await (const frame of directory.watch(WATCH, {})) {
    expect(numberOf(frame)).toBe(1);
    break;
  }
  await until(() => closed === 1 && server.load().watches === 0);

  const iterator = directory.watch(WATCH, {})[Symbol.asyncIterator]();
  await iterator.next();
  const waiting = iterator.next();
  await iterator.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  await until(() => closed === 2 && server.load().watches === 0);
});

test("the signal closes the stream on both sides", async () => {
  let closed = 0;
  const { channel } = await startHarness({
    directory: { watch: (_, { signal }) => quiet(signal, () => closed++) },
  });
  const controller = new AbortController();
  const { signal } = controller;
  const { directory } = channel().services;
  const iterator = directory.watch(WATCH, { signal })[Symbol.asyncIterator]();
  await iterator.next();
  const waiting = iterator.next();
  controller.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  await until(() => closed === 1);

  const late = directory.watch(WATCH, { signal })[Symbol.asyncIterator]();
  expect(await late.next()).toEqual({ done: true, value: undefined });
});

test("closing the server ends its watches with a refusal that says to resume elsewhere", async () => {
  let closed = 0;
  const { channel, server } = await startHarness({
    directory: { watch: (_, { signal }) => quiet(signal, () => closed++) },
  });
  const iterator = channel().services.directory.watch(WATCH, {})[Symbol.asyncIterator]();
  await iterator.next();
  const waiting = iterator.next();
  await server.close(2_000);
  const goodbye = "this server is shutting down; resume at another one";
  expect(await waiting).toMatchObject({
    value: {
      ok: false,
      error: { reason: "TRANSIENT", message: goodbye },
    },
  });
  expect(closed).toBe(1);
});

test("closing the server is not held up by a reader that does not read", async () => {
  const source = new Source();
  const { channel, server } = await startHarness({
    directory: { watch: () => source.frames(60_000) },
  });
  const iterator = channel().services.directory.watch(WATCH, {})[Symbol.asyncIterator]();
  await iterator.next();
  await pause(200);
  await server.close(100);
  await until(() => source.isClosed);
});

test("closing the channel ends its watches as if the connection were lost", async () => {
  let closed = 0;
  const { channel } = await startHarness({
    directory: { watch: (_, { signal }) => quiet(signal, () => closed++) },
  });
  const own = channel();
  const iterator = own.services.directory.watch(WATCH, {})[Symbol.asyncIterator]();
  await iterator.next();
  const waiting = iterator.next();
  own.close();
  own.close();
  expect(await waiting).toMatchObject({ value: { ok: false, error: { reason: "TRANSIENT" } } });
  await until(() => closed === 1);
});

test("watches have slots of their own", async () => {
  const { channel } = await startHarness(
    { directory: { watch: (_, { signal }) => quiet(signal, () => {}) } },
    { limits: { watchesMax: 1 } },
  );
  const { directory } = channel().services;
  const first = directory.watch(WATCH, {})[Symbol.asyncIterator]();
  expect(await first.next()).toMatchObject({ value: { ok: true } });
  const second = directory.watch(WATCH, {})[Symbol.asyncIterator]();
  expect(await second.next()).toMatchObject({
    value: { ok: false, error: { reason: "OVERLOADED", retryAfterMs: 200 } },
  });
});

test("a stream that throws ends with INTERNAL, and a broken invariant is fatal", async () => {
  const harness = await startHarness({
    directory: {
      async *watch() {
        yield ok(frameOf(1));
        throw new InvariantError("a revision was skipped");
      },
    },
  });
  const iterator = harness.channel().services.directory.watch(WATCH, {})[Symbol.asyncIterator]();
  await iterator.next();
  expect(await iterator.next()).toMatchObject({ value: { error: { reason: "INTERNAL" } } });
  expect(harness.fatal).toHaveLength(1);
});
