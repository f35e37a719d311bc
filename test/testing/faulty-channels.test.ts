// Channels with faults: what a client is told when a call, its answer or its stream is lost.
import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.ts";
import { failed, ok } from "../../src/base/result.ts";
import {
  type ChannelQuality,
  FaultyChannels,
  PERFECT_CHANNELS,
  type ServingProcess,
} from "../../src/testing/faulty-channels.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import type { ApiServices } from "../../src/wire/api-services.ts";
import { onVirtualTime } from "./virtual-time.ts";

const ADDRESS = "server-1:1";
const CALL = { keyspace: "k", key: new Uint8Array(0), read: { kind: "local" } } as const;

interface Bench {
  readonly clock: VirtualClock;
  readonly channels: FaultyChannels;
  readonly party: { readonly name: string; readonly clock: ProcessClock };
  readonly server: ServingProcess;
  /** Calls that the service has run. */
  served(): number;
  lookup(timeoutMs?: number): Promise<string>;
}

function newBench(quality: Partial<ChannelQuality> = {}, framesMax = 3): Bench {
  const clock = new VirtualClock();
  let served = 0;
  const frames = async function* (): AsyncGenerator<unknown> {
    for (let revision = 1; revision <= framesMax; revision++) {
      yield ok({ header: { revision }, kind: "progress" });
    }
    await new Promise(() => {});
  };
  const lookup = (): Promise<unknown> => {
    served++;
    return Promise.resolve(ok({ header: { revision: served } }));
  };
  const services = { directory: { lookup, watch: frames } } as unknown as ApiServices;
  const server: ServingProcess = { clock: new ProcessClock(clock), services };
  const channels = new FaultyChannels({
    world: clock,
    prng: Prng.fromSeed(3),
    quality: { ...PERFECT_CHANNELS, ...quality },
    serverAt: (address) => (address === ADDRESS && !server.clock.isKilled ? server : undefined),
    onBug: (error) => expect.fail(String(error)),
  });
  const party = { name: "client", clock: new ProcessClock(clock) };
  const { directory } = channels.factory(party)(ADDRESS).services;
  return {
    clock,
    channels,
    party,
    server,
    served: () => served,
    lookup: async (timeoutMs = 1_000) => {
      const answer = await onVirtualTime(clock, directory.lookup(CALL, { timeoutMs }));
      return answer.ok ? "ok" : answer.error.reason;
    },
  };
}

test("a call over a whole link is answered", async () => {
  const bench = newBench();
  expect(await bench.lookup()).toBe("ok");
  expect(bench.served()).toBe(1);
});

test("a lost call and a lost answer look the same, and only one of them took effect", async () => {
  const lost = newBench({ loss: 1 });
  expect(await lost.lookup()).toBe("UNCERTAIN");
  expect(lost.served()).toBe(0);
  const unanswered = newBench({ answerLoss: 1 });
  expect(await unanswered.lookup()).toBe("UNCERTAIN");
  expect(unanswered.served()).toBe(1);
});

test("a repeated call is carried out twice and answered once", async () => {
  const bench = newBench({ duplication: 1 });
  expect(await bench.lookup()).toBe("ok");
  await bench.clock.advance(100);
  expect(bench.served()).toBe(2);
});

test("a refusal of one copy is no answer while the other may yet take effect", async () => {
  const clock = new VirtualClock();
  const told: string[] = [];
  const waitsMs = [50, 1];
  const lookup = async (): Promise<unknown> => {
    const isFirst = waitsMs.length === 2;
    await new Promise<void>((resolve) => void clock.after(waitsMs.shift() ?? 0, resolve));
    told.push(isFirst ? "ok" : "refused");
    return isFirst ? ok({ header: { revision: 1 } }) : failed({ reason: "OVERLOADED" });
  };
  const services = { directory: { lookup } } as unknown as ApiServices;
  const server = { clock: new ProcessClock(clock), services };
  const channels = new FaultyChannels({
    world: clock,
    prng: Prng.fromSeed(3),
    quality: { ...PERFECT_CHANNELS, duplication: 1 },
    serverAt: () => server,
    onBug: (error) => expect.fail(String(error)),
  });
  const party = { name: "client", clock: new ProcessClock(clock) };
  const { directory } = channels.factory(party)(ADDRESS).services;
  const answer = await onVirtualTime(clock, directory.lookup(CALL, { timeoutMs: 1_000 }));
  expect(told).toEqual(["refused", "ok"]);
  expect(answer.ok).toBe(true);
});

test("a refused link says that nothing was sent, a silent one nothing at all", async () => {
  const bench = newBench();
  bench.channels.cut(bench.party, ADDRESS, "refused");
  expect(await bench.lookup()).toBe("TRANSIENT");
  bench.channels.cut(bench.party, ADDRESS, "silent");
  expect(await bench.lookup()).toBe("UNCERTAIN");
  bench.channels.heal(bench.party, ADDRESS);
  expect(await bench.lookup()).toBe("ok");
  expect(bench.served()).toBe(1);
});

test("a server that stands still answers when it goes on, a dead one never", async () => {
  const bench = newBench();
  bench.server.clock.pause();
  expect(await bench.lookup(50)).toBe("UNCERTAIN");
  bench.server.clock.resume();
  expect(await bench.lookup()).toBe("ok");
  bench.server.clock.kill();
  expect(await bench.lookup()).toBe("TRANSIENT");
});

test("a stream ends with its server, and falls silent with its link", async () => {
  for (const end of ["server", "link"] as const) {
    const bench = newBench();
    const { directory } = bench.channels.factory(bench.party)(ADDRESS).services;
    const request = { resumeToken: undefined } as unknown as Parameters<typeof directory.watch>[0];
    const stream = directory.watch(request, {})[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const result = await onVirtualTime(bench.clock, stream.next());
      if (result.done === true) return "done";
      return result.value.ok ? "frame" : "refused";
    };
    for (let frame = 1; frame <= 3; frame++) expect(await next()).toBe("frame");
    if (end === "server") {
      bench.server.clock.kill();
      bench.channels.serverGone(ADDRESS);
      expect(await next()).toBe("refused");
    } else {
      bench.channels.cut(bench.party, ADDRESS, "silent");
      await expect(next()).rejects.toThrow("nothing more happens");
    }
  }
});

test("a reader that reads nothing makes its sender wait", async () => {
  const bench = newBench({}, 1_000);
  let given = 0;
  const watching = new FaultyChannels({
    world: bench.clock,
    prng: Prng.fromSeed(3),
    quality: PERFECT_CHANNELS,
    serverAt: () => bench.server,
    onFrame: () => given++,
    onBug: (error) => expect.fail(String(error)),
  });
  const { directory } = watching.factory(bench.party)(ADDRESS).services;
  const request = { resumeToken: undefined } as unknown as Parameters<typeof directory.watch>[0];
  directory.watch(request, {})[Symbol.asyncIterator]();
  await bench.clock.advance(1_000);
  expect(given).toBeLessThan(100);
  expect(given).toBeGreaterThan(0);
});
