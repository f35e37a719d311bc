import { expect, test } from "vitest";
import { ok } from "../../../src/base/result.ts";
import { gatedServices } from "../../../src/server/services/abstention.ts";
import type { Abstention } from "../../../src/wire/api.ts";
import type { ApiServices } from "../../../src/wire/api-services.ts";
import { reasonRow } from "../../../src/wire/errors.ts";
import { methodRows } from "../../../src/wire/methods.ts";

type Loose = Record<string, Record<string, (request: unknown, context: object) => unknown>>;

const QUARANTINE: Abstention = { reason: "regressed", details: "it fell back: replace it" };
const CLUSTER = {
  getStatus: () => Promise.resolve(ok("status")),
} as unknown as ApiServices["cluster"];

/** Services that answer their own name; their streams wait for the test after a first frame. */
function namedServices() {
  const services: Loose = {};
  const closed: string[] = [];
  const pending: (() => void)[] = [];
  for (const { service, method, row } of methodRows()) {
    const name = `${service}.${method}`;
    const stream = () => ({
      [Symbol.asyncIterator]: () => {
        let frames = 0;
        return {
          next: () =>
            new Promise((resolve) => {
              const frame = { done: false, value: ok(`${name} ${frames}`) };
              if (frames++ === 0) resolve(frame);
              else pending.push(() => resolve(frame));
            }),
          return: () => {
            closed.push(name);
            for (const release of pending.splice(0)) release();
            return Promise.resolve({ done: true, value: undefined });
          },
        };
      },
    });
    const unary = () => Promise.resolve(ok(name));
    (services[service] ??= {})[method] = row.kind === "unary" ? unary : stream;
  }
  return { services: services as unknown as ApiServices, closed, pending };
}

function gated(abstention: () => Abstention | undefined) {
  const named = namedServices();
  const services = gatedServices(named.services, CLUSTER, abstention) as unknown as Loose;
  return { ...named, services };
}

type Frames = AsyncIterator<{
  readonly ok: boolean;
  readonly error?: { readonly message: string };
}>;

function watch(services: Loose): Frames {
  const frames = services["directory"]?.["watch"]?.({}, {}) as AsyncIterable<never>;
  return frames[Symbol.asyncIterator]() as Frames;
}

const refusal = expect.objectContaining({
  reason: "TRANSIENT",
  message: expect.stringMatching(
    /takes no part \(regressed\).*ask another; details: it fell back/,
  ) as string,
  metadata: { cause: "regressed" },
}) as unknown;

test("a server that takes part answers everything as its services do", async () => {
  const { services } = gated(() => undefined);
  for (const { service, method, row } of methodRows()) {
    if (row.kind !== "unary" || service === "cluster") continue;
    expect(await services[service]?.[method]?.({}, {})).toEqual(ok(`${service}.${method}`));
  }
  expect(await watch(services).next()).toMatchObject({ value: ok("directory.watch 0") });
});

test("a server that takes no part refuses all but its status, and sends clients elsewhere", async () => {
  const { services } = gated(() => QUARANTINE);
  for (const { service, method, row } of methodRows()) {
    if (row.kind !== "unary") continue;
    const answer = await services[service]?.[method]?.({}, {});
    if (service === "cluster") expect(answer).toEqual(ok("status"));
    else expect(answer).toEqual({ ok: false, error: refusal });
  }
  const frames = watch(services);
  expect(await frames.next()).toEqual({ done: false, value: { ok: false, error: refusal } });
  expect(await frames.next()).toMatchObject({ done: true });
  expect(reasonRow("TRANSIENT")).toMatchObject({ retry: "otherServer", outcome: "notApplied" });
});

test("a stream that was open ends with the refusal, and is closed behind it", async () => {
  const state: { abstention?: Abstention } = {};
  const { services, closed, pending } = gated(() => state.abstention);
  const frames = watch(services);
  await frames.next();
  const next = frames.next();
  await Promise.resolve();
  state.abstention = QUARANTINE;
  for (const release of pending.splice(0)) release();
  expect(await next).toEqual({ done: false, value: { ok: false, error: refusal } });
  expect(closed).toEqual(["directory.watch"]);
});

test("a stream that is closed while it waits closes what is behind it at once", async () => {
  const { services, closed } = gated(() => undefined);
  const frames = watch(services);
  await frames.next();
  const next = frames.next();
  await Promise.resolve();
  await frames.return?.();
  await next;
  expect(closed).toEqual(["directory.watch"]);
  expect(await frames.next()).toMatchObject({ done: true });
});
