// Simulated servers meet as real ones do, and judge each other's stores by the same rules (law 30).
import { expect, test } from "vitest";
import type { GroupId, LogIndex, ServerId, Term } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import { type OpenedLog, type Standing, volatileStanding } from "../../src/net/standing.ts";
import type { Envelope, Message } from "../../src/raft/messages.ts";
import { FaultyNetwork, PERFECT_LINKS } from "../../src/testing/faulty-network.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { REFUSE_FORWARD } from "../conformance/transport.ts";
import { envelope } from "../integration/net/support.ts";

const [ONE, TWO] = [1 as ServerId, 2 as ServerId];
const GROUP = 1 as GroupId;

interface Joined {
  readonly clock: ProcessClock;
  readonly received: Envelope[];
  readonly disowned: string[];
  readonly rememberedBy: ServerId[];
  readonly send: (message: Message) => void;
}

class Bench {
  readonly clock = new VirtualClock();
  readonly network = new FaultyNetwork({
    world: this.clock,
    prng: Prng.fromSeed(5),
    quality: PERFECT_LINKS,
  });
  #processes = 0;

  /** A server's next process, on its store of this name; what it sends goes to the other one. */
  join(self: ServerId, storeUuid: string, changes: Partial<Standing> = {}): Joined {
    const clock = new ProcessClock(this.clock);
    const received: Envelope[] = [];
    const disowned: string[] = [];
    const rememberedBy: ServerId[] = [];
    const { transport } = this.network.join({
      self,
      clock,
      bootNonce: `process ${++this.#processes}`,
      standing: {
        ...volatileStanding(storeUuid),
        onDisowned: (what) => disowned.push(what),
        onRemembered: (peer) => rememberedBy.push(peer),
        ...changes,
      },
      events: {
        onEnvelope: (_from, one) => received.push(one),
        onPeerReachable: () => {},
        onPeerUnreachable: () => {},
      },
      onForward: REFUSE_FORWARD,
    });
    const other = self === ONE ? TWO : ONE;
    const send = (message: Message): void => transport.send(other, envelope(message));
    return { clock, received, disowned, rememberedBy, send };
  }

  end(self: ServerId, { clock }: Joined): void {
    clock.kill();
    this.network.leave(self);
  }
}

const accepted: Message = {
  kind: "appendEntriesReply",
  term: 2 as Term,
  result: { kind: "accepted", matchIndex: 9 as LogIndex },
};

function logUpTo(lastIndex: number): ReadonlyMap<GroupId, OpenedLog> {
  const log = { term: 2 as Term, votedFor: undefined, lastIndex: lastIndex as LogIndex };
  return new Map([[GROUP, log]]);
}

test("nothing is heard before two processes have met, and each has remembered the other", async () => {
  const bench = new Bench();
  const one = bench.join(ONE, "a");
  const two = bench.join(TWO, "b");
  two.send(accepted);
  await bench.clock.advance(1_000);
  expect(one.received).toEqual([]);
  expect([one.rememberedBy, two.rememberedBy]).toEqual([[TWO], [ONE]]);
  two.send(accepted);
  await bench.clock.advance(10);
  expect(one.received).toHaveLength(1);
});

test("who missed the word that it is remembered gets it over the next connection", async () => {
  const bench = new Bench();
  bench.join(ONE, "a");
  const two = bench.join(TWO, "b");
  while (!bench.network.haveMet(ONE, TWO)) await bench.clock.advance(0.01);
  bench.network.cut(ONE, TWO, "refused");
  await bench.clock.advance(1_000);
  expect(two.rememberedBy).toEqual([]);
  bench.network.heal(ONE, TWO);
  await bench.clock.advance(1_000);
  expect(two.rememberedBy).toEqual([ONE]);
});

test("who has not remembered a store for good does not meet its server", async () => {
  const bench = new Bench();
  bench.join(ONE, "a", { isRemembered: () => false, remember: () => new Promise(() => {}) });
  const two = bench.join(TWO, "b");
  await bench.clock.advance(1_000);
  expect(bench.network.haveMet(ONE, TWO)).toBe(false);
  expect(two.rememberedBy).toEqual([]);
});

test.each([
  ["called", ONE, TWO],
  ["dialling", TWO, ONE],
])("another store under a known id is told so, whichever end it is: %s", async (_, known, lost) => {
  const bench = new Bench();
  const stays = bench.join(known, "a");
  const first = bench.join(lost, "b");
  await bench.clock.advance(1_000);
  bench.end(lost, first);
  const second = bench.join(lost, "c");
  await bench.clock.advance(1_000);
  expect(second.disowned.join()).toMatch(`server ${known} says: another store`);
  second.send(accepted);
  await bench.clock.advance(100);
  expect(stays.received).toEqual([]);
});

test.each([
  ["less than it acknowledged", 8, true],
  ["all that it acknowledged", 9, false],
])("a store that comes back with %s is told what was seen", async (_, lastIndex, isLost) => {
  const bench = new Bench();
  bench.join(ONE, "a");
  const before = bench.join(TWO, "b");
  await bench.clock.advance(1_000);
  before.send(accepted);
  await bench.clock.advance(100);
  bench.end(TWO, before);
  const after = bench.join(TWO, "b", { opened: logUpTo(lastIndex) });
  await bench.clock.advance(1_000);
  expect(after.disowned.length > 0).toBe(isLost);
  expect(bench.network.haveMet(ONE, TWO)).toBe(!isLost);
});

test("one that takes no part any more is not heard, until another process of it is met", async () => {
  const bench = new Bench();
  const one = bench.join(ONE, "a");
  const two = bench.join(TWO, "b");
  await bench.clock.advance(1_000);
  bench.network.abstain(TWO);
  two.send(accepted);
  await bench.clock.advance(100);
  expect(one.received).toEqual([]);
  bench.end(TWO, two);
  bench.join(TWO, "b");
  await bench.clock.advance(1_000);
  expect(bench.network.haveMet(ONE, TWO)).toBe(true);
});
