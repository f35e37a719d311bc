import { expect, test } from "vitest";
import { failed, ok } from "../../../src/base/result.ts";
import { HealthService } from "../../../src/server/services/health.ts";
import { Drain } from "../../../src/server/services/news.ts";

const SERVICE = "cadastre.v1.Directory";
const [SERVING, NOT_SERVING, UNKNOWN] = [ok("serving"), ok("notServing"), ok("serviceUnknown")];

interface Bench {
  readonly health: HealthService;
  /** What the checks of /readyz say. The service is told of it at the next look. */
  isReady: boolean;
  readonly drain: () => void;
}

function bench(): Bench {
  const drain = new AbortController();
  const own: Bench = {
    health: new HealthService({
      services: [SERVICE],
      isReady: () => own.isReady && !drain.signal.aborted,
      drain: new Drain(drain.signal),
    }),
    isReady: true,
    drain: () => drain.abort(),
  };
  return own;
}

type Stream = ReturnType<HealthService["watch"]>;

/** The next state, or undefined while the stream waits. */
async function nextOf(stream: Stream): Promise<{ readonly current: () => unknown }> {
  let current: unknown;
  void stream.next().then((next) => (current = next.done === true ? "end" : next.value));
  await settle();
  return { current: () => current };
}

/** Lets all that was promised come to rest. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test("a check says what readiness is at that moment, for the server and for each service", async () => {
  const own = bench();
  for (const service of ["", SERVICE]) {
    own.isReady = true;
    expect(await own.health.check({ service })).toEqual(SERVING);
    own.isReady = false;
    expect(await own.health.check({ service })).toEqual(NOT_SERVING);
  }
});

test("a check of a service that is not served here is NOT_FOUND and names those that are", async () => {
  const answer = await bench().health.check({ service: "cadastre.peer.v1.Peer" });
  expect(answer).toMatchObject(failed({ reason: "NOT_FOUND" }));
  expect(JSON.stringify(answer)).toContain(SERVICE);
});

test("a list holds the server and every service, all in one state", async () => {
  const own = bench();
  const all = (status: string): unknown =>
    ok(
      new Map([
        ["", status],
        [SERVICE, status],
      ]),
    );
  expect(await own.health.list()).toEqual(all("serving"));
  own.isReady = false;
  expect(await own.health.list()).toEqual(all("notServing"));
});

test("a draining server serves nobody", async () => {
  const own = bench();
  own.drain();
  expect(await own.health.check({ service: "" })).toEqual(NOT_SERVING);
});

test("a watch gets the present state at once, and then one message per change", async () => {
  const own = bench();
  const stream = own.health.watch({ service: SERVICE }, {});
  expect((await nextOf(stream)).current()).toEqual(SERVING);
  const waiting = await nextOf(stream);
  expect(waiting.current()).toBeUndefined();
  own.health.refresh();
  await settle();
  expect(waiting.current(), "nothing has changed").toBeUndefined();
  own.isReady = false;
  own.health.refresh();
  await settle();
  expect(waiting.current()).toEqual(NOT_SERVING);
  const again = await nextOf(stream);
  own.isReady = true;
  own.health.refresh();
  await settle();
  expect(again.current()).toEqual(SERVING);
});

test("a watch that begins sees the moment, not what the last look found, and misses no later change", async () => {
  const own = bench();
  const first = own.health.watch({ service: "" }, {});
  expect((await nextOf(first)).current()).toEqual(SERVING);
  const waiting = await nextOf(first);
  own.isReady = false;
  const second = own.health.watch({ service: "" }, {});
  expect((await nextOf(second)).current()).toEqual(NOT_SERVING);
  expect(waiting.current(), "the older watch is told as well").toEqual(NOT_SERVING);
  const later = await nextOf(second);
  own.isReady = true;
  own.health.refresh();
  await settle();
  expect(later.current()).toEqual(SERVING);
});

test("a reader that is slow gets the latest state, and nothing when that is what it has", async () => {
  const own = bench();
  const stream = own.health.watch({ service: "" }, {});
  expect((await nextOf(stream)).current()).toEqual(SERVING);
  for (const isReady of [false, true, false]) {
    own.isReady = isReady;
    own.health.refresh();
  }
  expect((await nextOf(stream)).current()).toEqual(NOT_SERVING);
  for (const isReady of [true, false]) {
    own.isReady = isReady;
    own.health.refresh();
  }
  expect((await nextOf(stream)).current()).toBeUndefined();
});

test("a watch of a service that is not served here says so once and stays open", async () => {
  const own = bench();
  const stream = own.health.watch({ service: "cadastre.v1.Nothing" }, {});
  expect((await nextOf(stream)).current()).toEqual(UNKNOWN);
  const waiting = await nextOf(stream);
  own.isReady = false;
  own.health.refresh();
  await settle();
  expect(waiting.current()).toBeUndefined();
  own.drain();
  await settle();
  expect(waiting.current()).toBe("end");
});

test("a drain is told to a watch as its last word, whether it waits, is slow, or begins then", async () => {
  const own = bench();
  const streams = [own.health.watch({ service: "" }, {}), own.health.watch({ service: "" }, {})];
  for (const stream of streams) expect((await nextOf(stream)).current()).toEqual(SERVING);
  const [waiting, slow] = streams as [Stream, Stream];
  const last = await nextOf(waiting);
  own.drain();
  await settle();
  expect(last.current()).toEqual(NOT_SERVING);
  for (const stream of [slow, own.health.watch({ service: "" }, {})]) {
    expect((await nextOf(stream)).current()).toEqual(NOT_SERVING);
    expect((await nextOf(stream)).current()).toBe("end");
  }
  expect((await nextOf(waiting)).current()).toBe("end");
});

test("a drain of a server that was not ready ends a watch without a further word", async () => {
  const own = bench();
  own.isReady = false;
  const stream = own.health.watch({ service: "" }, {});
  expect((await nextOf(stream)).current()).toEqual(NOT_SERVING);
  const waiting = await nextOf(stream);
  own.drain();
  await settle();
  expect(waiting.current()).toBe("end");
});

test("a watch that nobody reads any more ends by its signal", async () => {
  const { health } = bench();
  const reader = new AbortController();
  const stream = health.watch({ service: "" }, { signal: reader.signal });
  await nextOf(stream);
  const waiting = await nextOf(stream);
  reader.abort();
  await settle();
  expect(waiting.current()).toBe("end");
});
