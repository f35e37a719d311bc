// The peer network with faults: without them it is a network, with them each does its harm.
import { expect, test } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import {
  FaultyNetwork,
  type LinkQuality,
  type NetworkHarm,
  PERFECT_LINKS,
} from "../../src/testing/faulty-network.ts";
import { volatileStanding } from "../../src/net/standing.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import {
  type ConformanceServer,
  recordingEvents,
  REFUSE_FORWARD,
  transportConformance,
} from "../conformance/transport.ts";
import { heartbeat, id } from "../integration/net/support.ts";
import { onVirtualTime } from "./virtual-time.ts";

interface TestNetwork {
  readonly clock: VirtualClock;
  readonly network: FaultyNetwork;
  readonly harm: Map<NetworkHarm, number>;
  readonly servers: readonly [ConformanceServer, ConformanceServer, ConformanceServer];
  rounds(to: number): number[];
}

function newNetwork(quality: Partial<LinkQuality> = {}): TestNetwork {
  const clock = new VirtualClock();
  const harm = new Map<NetworkHarm, number>();
  const network = new FaultyNetwork({
    world: clock,
    prng: Prng.fromSeed(7),
    quality: { ...PERFECT_LINKS, ...quality },
    onHarm: (what) => harm.set(what, (harm.get(what) ?? 0) + 1),
  });
  const join = (number: number): ConformanceServer => {
    const self = id.server(number);
    const events = recordingEvents();
    const server = { self, ...events, onForward: REFUSE_FORWARD };
    const { transport, forwarder } = network.join({
      self,
      clock: new ProcessClock(clock),
      bootNonce: `process-${number}`,
      standing: volatileStanding(`store-${number}`),
      events,
      onForward: (from, call) => joined.onForward(from, call),
    });
    const joined: ConformanceServer = { ...server, transport, forwarder };
    return joined;
  };
  const servers = [join(1), join(2), join(3)] as const;
  const rounds = (to: number): number[] =>
    (servers[to - 1]?.received ?? []).map(({ envelope: { message } }) =>
      message.kind === "heartbeat" ? message.round : 0,
    );
  return { clock, network, harm, servers, rounds };
}

transportConformance(async () => {
  const { clock, network, servers } = newNetwork();
  let isOver = false;
  // All dialling is over.
  await clock.advance(1_000);
  void (async () => {
    while (!isOver) await clock.advance(1);
  })();
  return {
    servers,
    stop: async (self) => network.leave(self),
    close: async () => {
      isOver = true;
    },
  };
});

const [ONE, TWO] = [1 as ServerId, 2 as ServerId];

function sendRounds({ servers: [one] }: TestNetwork, count: number): void {
  for (let round = 1; round <= count; round++) one.transport.send(TWO, heartbeat(round));
}

test("a link with losses, repeats and reordering does each, and says so", async () => {
  const net = newNetwork({ loss: 0.2, duplication: 0.2, reordering: 0.2, delayMsMax: 20 });
  await net.clock.advance(1_000);
  sendRounds(net, 200);
  await net.clock.advance(500);
  const rounds = net.rounds(2);
  expect(new Set(rounds).size).toBe(200 - (net.harm.get("messagesLost") ?? 0));
  expect(rounds).toHaveLength(new Set(rounds).size + (net.harm.get("messagesRepeated") ?? 0));
  expect(net.harm.get("messagesLost")).toBeGreaterThan(10);
  expect(net.harm.get("messagesReordered")).toBeGreaterThan(10);
  expect(rounds).not.toEqual(rounds.toSorted((a, b) => a - b));
});

test("a cut of one direction leaves the other whole; what was under way is lost", async () => {
  const net = newNetwork();
  const [one, two] = net.servers;
  await net.clock.advance(1_000);
  sendRounds(net, 1);
  net.network.cut(ONE, TWO, "refused");
  sendRounds(net, 2);
  two.transport.send(ONE, heartbeat(9));
  await net.clock.advance(100);
  expect(net.rounds(2)).toEqual([]);
  expect(net.rounds(1)).toEqual([9]);
  expect(one.told.at(-1)).toBe("unreachable 2");
  net.network.heal(ONE, TWO);
  await net.clock.advance(1_000);
  expect(one.told.at(-1)).toBe("reachable 2");
  sendRounds(net, 3);
  await net.clock.advance(100);
  expect(net.rounds(2)).toEqual([1, 2, 3]);
});

test("a silent cut is noticed late, and a forwarded command's outcome is unknown", async () => {
  const net = newNetwork();
  const [one] = net.servers;
  await net.clock.advance(1_000);
  net.network.cut(ONE, TWO, "silent");
  await net.clock.advance(500);
  expect(one.told.at(-1)).not.toBe("unreachable 2");
  const call = { group: id.group(1), command: new Uint8Array(1), timeoutMs: 200 };
  const answer = await onVirtualTime(net.clock, one.forwarder.forward(TWO, call));
  expect(answer).toMatchObject({ outcome: "unknown" });
  await net.clock.advance(2_000);
  expect(one.told.at(-1)).toBe("unreachable 2");
});

test("an old message comes again, to whatever process is there by then", async () => {
  const net = newNetwork();
  await net.clock.advance(1_000);
  sendRounds(net, 1);
  await net.clock.advance(100);
  net.network.repeatOldMessage();
  expect(net.rounds(2)).toEqual([1, 1]);
  expect(net.harm.get("oldMessages")).toBe(1);
});
