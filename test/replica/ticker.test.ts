/** Ticks: a beat that is kept, a stall that counts once, and sockets that are read before. */

import { expect, test } from "vitest";
import type { Timers } from "../../src/replica/ports.ts";
import { startTicker } from "../../src/replica/ticker.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";

function beat(tickMs = 100): { clock: VirtualClock; ticks: number[]; stop: () => void } {
  const clock = new VirtualClock();
  const ticks: number[] = [];
  const onTick = (): void => void ticks.push(clock.nowMs());
  const ticker = startTicker({ tickMs, clock, timers: clock, onTick });
  return { clock, ticks, stop: () => ticker.stop() };
}

test("ticks come at every interval", async () => {
  const { clock, ticks } = beat();
  await clock.advance(350);
  expect(ticks).toEqual([100, 200, 300]);
});

test("a tick that is a little late does not shift the beat", async () => {
  const { clock, ticks } = beat();
  await clock.settle();
  clock.freeze(130);
  await clock.advance(0);
  await clock.advance(170);
  expect(ticks).toEqual([130, 200, 300]);
});

test("a stall of many intervals counts as one tick, and the next is a whole interval later", async () => {
  const { clock, ticks } = beat();
  await clock.advance(100);
  clock.freeze(1_000);
  await clock.advance(0);
  expect(ticks).toEqual([100, 1_100]);
  await clock.advance(99);
  expect(ticks).toEqual([100, 1_100]);
  await clock.advance(101);
  expect(ticks).toEqual([100, 1_100, 1_200, 1_300]);
});

test("a tick that is exactly one interval late is a stall as well", async () => {
  const { clock, ticks } = beat();
  await clock.settle();
  clock.freeze(200);
  await clock.advance(0);
  expect(ticks).toEqual([200]);
});

test("a due timer leaves the tick to what runs after the sockets were read", async () => {
  const clock = new VirtualClock();
  const order: string[] = [];
  const timers: Timers = {
    after: (delayMs, run) => clock.after(delayMs, run),
    soon: (run) => clock.soon(run),
    afterReading: (run) => {
      order.push("reading");
      clock.soon(run);
    },
  };
  startTicker({ tickMs: 100, clock, timers, onTick: () => void order.push("tick") });
  await clock.advance(200);
  expect(order).toEqual(["reading", "tick", "reading", "tick"]);
});

test("a stopped ticker is silent, also when its timer has fired already", async () => {
  const { clock, ticks, stop } = beat();
  await clock.advance(100);
  stop();
  await clock.advance(500);
  expect(ticks).toEqual([100]);
  expect(clock.pendingCount).toBe(0);
});
