/** Slices and rests of long work. */

import { expect, test } from "vitest";
import { Pace } from "../../src/replica/pace.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { watchOutcome } from "./lone-replica.ts";

function paceOf(clock: VirtualClock, restShare: number): { pace: Pace; abort: AbortController } {
  const abort = new AbortController();
  const { signal } = abort;
  return { pace: new Pace({ clock, timers: clock, sliceMs: 3, restShare, signal }), abort };
}

test("a slice is over when its time is used up, and begins anew after the rest", async () => {
  const clock = new VirtualClock();
  const { pace } = paceOf(clock, 0);
  expect(pace.isSliceOver).toBe(false);
  clock.freeze(3);
  expect(pace.isSliceOver).toBe(true);
  const rest = watchOutcome(pace.rest().then(() => "rested"));
  await clock.settle();
  expect(rest.value).toBe("rested");
  expect(pace.isSliceOver).toBe(false);
});

test("a rest is as long as the work before it, so that half of the thread is left", async () => {
  const clock = new VirtualClock();
  const { pace } = paceOf(clock, 1);
  clock.freeze(8);
  const rest = watchOutcome(pace.rest().then(() => "rested"));
  await clock.advance(7);
  expect(rest.value).toBeUndefined();
  await clock.advance(1);
  expect(rest.value).toBe("rested");
});

test("work that a stalled disk held up for long rests for a bounded time", async () => {
  const clock = new VirtualClock();
  const { pace } = paceOf(clock, 1);
  clock.freeze(30_000);
  const rest = watchOutcome(pace.rest().then(() => "rested"));
  await clock.advance(100);
  expect(rest.value).toBe("rested");
});

test("an abort ends a rest at once, and leaves no timer behind", async () => {
  const clock = new VirtualClock();
  const { pace, abort } = paceOf(clock, 1);
  clock.freeze(50);
  const rest = watchOutcome(pace.rest().then(() => "rested"));
  await clock.settle();
  expect(rest.value).toBeUndefined();
  abort.abort();
  await clock.settle();
  expect(rest.value).toBe("rested");
  expect(clock.pendingCount).toBe(0);
  const another = watchOutcome(pace.rest().then(() => "rested"));
  await clock.settle();
  expect(another.value).toBe("rested");
});
