import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { InvariantError } from "../../../src/base/assert.ts";
import { failed, ok } from "../../../src/base/result.ts";
import { METHODS, methodRows } from "../../../src/wire/methods.ts";
import { refusal } from "../../../src/wire/refusal.ts";
import { SAMPLES, samplesOf } from "../../wire/arbitraries.ts";
import {
  COMMIT_IMPORT,
  LOOKUP,
  openChannel,
  pause,
  sample,
  startHarness,
  until,
} from "./harness.ts";

const CONTEXT = { timeoutMs: 5_000 };
const lookupAnswer = sample(SAMPLES.directory.lookup.answer);
const commitAnswer = sample(SAMPLES.keyspaces.commitImport.answer);

/** A promise that a service waits for, and its resolve. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

function rawClient(address: string): Client {
  return new Client(address, credentials.createInsecure(), { "grpc.enable_http_proxy": 0 });
}

function rawCall(client: Client, bytes: Buffer, deadline?: number): Promise<ServiceError | Buffer> {
  const asIs = (value: Buffer): Buffer => value;
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      METHODS.directory.lookup.path,
      asIs,
      asIs,
      bytes,
      new Metadata(),
      deadline === undefined ? {} : { deadline },
      (error, answer) => resolve(error ?? answer ?? Buffer.alloc(0)),
    );
  });
}

const UNARY = methodRows().filter(({ row }) => row.kind === "unary");

test.each(UNARY.map(({ service, method }) => ({ service, method })))(
  "$method: the request reaches its service and the answer comes back",
  async ({ service, method }) => {
    const samples = samplesOf(service, method);
    const request = sample(samples.request);
    const answer = sample(samples.answer);
    const received: unknown[] = [];
    const fake = (got: unknown): unknown => {
      received.push(got);
      return Promise.resolve(ok(answer));
    };
    const harness = await startHarness({ [service]: { [method]: fake } });
    const services = harness.channel().services as unknown as Record<
      string,
      Record<string, (request: unknown, context: unknown) => Promise<unknown>>
    >;
    expect(await services[service]?.[method]?.(request, CONTEXT)).toEqual(ok(answer));
    expect(received).toEqual([request]);
  },
);

test("a refusal arrives whole, descriptors and delay included", async () => {
  const sent = refusal("STALE_EPOCH", "the epoch is 7; refresh the range", {
    metadata: { epoch: "7" },
    retryAfterMs: 30,
    descriptors: [sample(SAMPLES.directory.lookup.answer).route.descriptor],
  });
  const { channel } = await startHarness({ directory: { lookup: async () => failed(sent) } });
  expect(await channel().services.directory.lookup(LOOKUP, CONTEXT)).toEqual(failed(sent));
});

test("a request out of bounds never reaches the service, and the refusal names its field", async () => {
  let calls = 0;
  const { channel } = await startHarness({
    directory: {
      lookup: async () => {
        calls++;
        return ok(lookupAnswer);
      },
    },
  });
  const key = new Uint8Array(5_000);
  const answer = await channel().services.directory.lookup({ ...LOOKUP, key }, CONTEXT);
  expect(answer).toMatchObject({ ok: false, error: { reason: "INVALID", field: "key" } });
  expect(calls).toBe(0);
});

test("when the deadline passes the service's signal aborts; a mutation's outcome is unknown, a read's is none", async () => {
  const aborted: string[] = [];
  const wait = (name: string, signal: AbortSignal | undefined): Promise<never> => {
    signal?.addEventListener("abort", () => aborted.push(name));
    return new Promise(() => {});
  };
  const { channel } = await startHarness({
    directory: { lookup: (_, { signal }) => wait("lookup", signal) },
    keyspaces: { commitImport: (_, { signal }) => wait("commitImport", signal) },
  });
  const { services } = channel();
  const [read, mutation] = await Promise.all([
    services.directory.lookup(LOOKUP, { timeoutMs: 150 }),
    services.keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 150 }),
  ]);
  expect(read).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  expect(mutation).toMatchObject({ ok: false, error: { reason: "UNCERTAIN" } });
  await until(() => aborted.length === 2);
});

test("a service learns the time that its caller has left: the default without one, and never above the cap", async () => {
  const seen: number[] = [];
  const { server, channel } = await startHarness({
    directory: {
      lookup: async (_, { timeoutMs }) => {
        seen.push(timeoutMs);
        return ok(lookupAnswer);
      },
    },
  });
  await channel().services.directory.lookup(LOOKUP, { timeoutMs: 2_000 });
  await channel().services.directory.lookup(LOOKUP, { timeoutMs: 10 ** 9 });
  const client = rawClient(server.address);
  const bytes = METHODS.directory.lookup.encodeRequest(LOOKUP);
  await rawCall(client, bytes);
  await rawCall(client, bytes, Date.now() + 10 ** 7);
  client.close();
  expect(seen[0]).toBeGreaterThan(1_000);
  expect(seen[0]).toBeLessThanOrEqual(2_000);
  expect(seen[1]).toBeGreaterThan(59_000);
  expect(seen[1]).toBeLessThanOrEqual(60_000);
  expect(seen.slice(1)).toEqual([seen[1], 5_000, 60_000]);
});

test("a caller that gives up aborts the service's signal and gets its answer at once", async () => {
  const started = gate();
  let isAborted = false;
  const { channel } = await startHarness({
    directory: {
      lookup: (_, { signal }) => {
        signal?.addEventListener("abort", () => (isAborted = true));
        started.open();
        return new Promise(() => {});
      },
    },
  });
  const controller = new AbortController();
  const call = channel().services.directory.lookup(LOOKUP, {
    timeoutMs: 60_000,
    signal: controller.signal,
  });
  await started.opened;
  controller.abort();
  expect(await call).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  await until(() => isAborted);
});

test("an answered call aborts nothing", async () => {
  const signals: AbortSignal[] = [];
  const { channel } = await startHarness({
    directory: {
      lookup: async (_, { signal }) => {
        if (signal !== undefined) signals.push(signal);
        return ok(lookupAnswer);
      },
    },
  });
  const { services } = channel();
  for (let i = 0; i < 3; i++) await services.directory.lookup(LOOKUP, CONTEXT);
  await pause(20);
  expect(signals.map((signal) => signal.aborted)).toEqual([false, false, false]);
});

test("a call whose time is over, or whose caller has gone, is not sent", async () => {
  const { channel } = await startHarness({});
  const { keyspaces } = channel().services;
  for (const context of [
    { timeoutMs: 0 },
    { timeoutMs: -1 },
    { timeoutMs: 1_000, signal: AbortSignal.abort() },
  ]) {
    const answer = await keyspaces.commitImport(COMMIT_IMPORT, context);
    expect(answer).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  }
});

test("an answer of 3 MiB arrives, one above 4 MiB is an INTERNAL refusal and a line in the log", async () => {
  const rangesOf = (count: number) => {
    const { route } = lookupAnswer;
    const key = new Uint8Array(4_000);
    const descriptor = { ...route.descriptor, span: { startKey: key, endKey: undefined } };
    const range = {
      descriptor,
      successor: undefined,
      intendedNodeId: undefined,
      acceptedEpoch: 0,
      handOverRevision: 0,
    };
    const ranges = Array.from({ length: count }, () => range as never);
    return { ...lookupAnswer, header: lookupAnswer.header, ranges, nextPageToken: "" };
  };
  const harness = await startHarness({
    directory: { listRanges: async ({ pageSize }) => ok(rangesOf(pageSize)) },
  });
  const request = {
    keyspace: "orders",
    span: { startKey: new Uint8Array(0), endKey: undefined },
    nodeId: undefined,
    unownedOnly: false,
    pageToken: "",
    read: { kind: "local" },
  } as const;
  const { directory } = harness.channel().services;
  const answer = await directory.listRanges({ ...request, pageSize: 760 }, CONTEXT);
  expect(answer.ok && answer.value.ranges.length).toBe(760);
  const tooLarge = await directory.listRanges({ ...request, pageSize: 1_300 }, CONTEXT);
  expect(tooLarge).toMatchObject({ ok: false, error: { reason: "INTERNAL" } });
  expect(harness.logged).toEqual(["answerTooLarge"]);
});

test("an oversize request is INVALID at our client, and refused by the server to any other", async () => {
  const { server, channel } = await startHarness({});
  const keys = Array.from({ length: 300 }, () => new Uint8Array(4_000));
  const request = { keyspace: "orders", keys, read: { kind: "local" } } as const;
  const answer = await channel().services.directory.lookupBatch(request, CONTEXT);
  expect(answer).toMatchObject({ ok: false, error: { reason: "INVALID" } });
  if (!answer.ok) expect(answer.error.metadata["bytes"]).toMatch(/^1\d{6}$/);
  const client = rawClient(server.address);
  const error = await rawCall(client, Buffer.alloc(1_100_000));
  client.close();
  expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
});

test("a full server refuses at once with a delay, and keeps slots for owners who keep their ranges", async () => {
  const release = gate();
  let started = 0;
  const harness = await startHarness(
    {
      directory: {
        lookup: async () => {
          started++;
          await release.opened;
          return ok(lookupAnswer);
        },
      },
      ownership: {
        openSession: async () => {
          started++;
          await release.opened;
          return ok({ header: lookupAnswer.header, alreadyOpen: true, durations: [] });
        },
      },
    },
    { limits: { inFlightMax: 4, inFlightReserved: 2 } },
  );
  const { directory, ownership } = harness.channel().services;
  const openSession = sample(SAMPLES.ownership.openSession.request);
  const lookups = [directory.lookup(LOOKUP, CONTEXT), directory.lookup(LOOKUP, CONTEXT)];
  await until(() => started === 2);
  const refused = { ok: false, error: { reason: "OVERLOADED", retryAfterMs: 200 } };
  expect(await directory.lookup(LOOKUP, CONTEXT)).toMatchObject(refused);
  const sessions = [
    ownership.openSession(openSession, CONTEXT),
    ownership.openSession(openSession, CONTEXT),
  ];
  await until(() => started === 4);
  expect(harness.server.load()).toEqual({ calls: 4, watches: 0 });
  expect(await ownership.openSession(openSession, CONTEXT)).toMatchObject(refused);
  release.open();
  for (const answer of await Promise.all([...lookups, ...sessions])) expect(answer.ok).toBe(true);
  expect(harness.server.load()).toEqual({ calls: 0, watches: 0 });
  expect(await directory.lookup(LOOKUP, CONTEXT)).toMatchObject({ ok: true });
});

test("a service that throws is INTERNAL and a line in the log; a broken invariant goes to the fatal handler", async () => {
  const broken = new InvariantError("two owners");
  const harness = await startHarness({
    directory: { lookup: () => Promise.reject(new TypeError("oops")) },
    keyspaces: {
      commitImport: () => {
        throw broken;
      },
    },
  });
  const { services } = harness.channel();
  const internal = { ok: false, error: { reason: "INTERNAL" } };
  expect(await services.directory.lookup(LOOKUP, CONTEXT)).toMatchObject(internal);
  expect(harness.fatal).toEqual([]);
  expect(await services.keyspaces.commitImport(COMMIT_IMPORT, CONTEXT)).toMatchObject(internal);
  expect(harness.fatal).toEqual([broken]);
  expect(harness.logged).toEqual(["serviceFailed", "serviceFailed"]);
});

test("closing lets a call under way finish, refuses new connections, and frees the port", async () => {
  const started = gate();
  const release = gate();
  const harness = await startHarness({
    keyspaces: {
      commitImport: async () => {
        started.open();
        await release.opened;
        return ok(commitAnswer);
      },
    },
  });
  const { address } = harness.server;
  const call = harness.channel().services.keyspaces.commitImport(COMMIT_IMPORT, CONTEXT);
  await started.opened;
  const closed = harness.server.close(5_000);
  expect(harness.server.close(1)).toBe(closed);
  const late = await openChannel(address).services.directory.lookup(LOOKUP, { timeoutMs: 500 });
  expect(late).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  release.open();
  expect(await call).toEqual(ok(commitAnswer));
  await closed;
  await startHarness({}, { listen: address });
});

test("a call that outlasts the grace is cut, and its caller told that the outcome is unknown", async () => {
  const started = gate();
  const harness = await startHarness({
    keyspaces: {
      commitImport: () => {
        started.open();
        return new Promise(() => {});
      },
    },
  });
  const call = harness.channel().services.keyspaces.commitImport(COMMIT_IMPORT, {
    timeoutMs: 60_000,
  });
  await started.opened;
  await harness.server.close(50);
  expect(await call).toMatchObject({ ok: false, error: { reason: "UNCERTAIN" } });
});

test("a port in use is one line with cause and remedy", async () => {
  const { server } = await startHarness({});
  const cause = `cannot listen for clients on ${server.address}: another process uses the port`;
  await expect(startHarness({}, { listen: server.address })).rejects.toMatchObject({
    code: "addressInUse",
    message: `${cause}; stop it, or give another port in listen.grpc`,
  });
  await expect(startHarness({}, { listen: "nowhere" })).rejects.toMatchObject({
    code: "badAddress",
  });
});
