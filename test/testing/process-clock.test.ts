// The time of one simulated process: its own rate, and a gate that holds everything back.
import { expect, test } from "vitest";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";

test("a clock runs at its own rate, and its timers are never early by it", async () => {
  const world = new VirtualClock();
  const clock = new ProcessClock(world, { rate: 0.5, startMs: 1_000 });
  const ranAt: number[] = [];
  clock.after(100, () => ranAt.push(clock.nowMs()));
  await world.advance(199);
  expect(ranAt).toEqual([]);
  await world.advance(2);
  expect(ranAt).toHaveLength(1);
  expect(ranAt[0]).toBeGreaterThanOrEqual(1_100);
  expect(clock.nowMs()).toBeCloseTo(1_100.5);
});

test("what comes while a process is paused comes in its order when it goes on", async () => {
  const world = new VirtualClock();
  const clock = new ProcessClock(world);
  const ran: string[] = [];
  clock.after(20, () => ran.push("timer"));
  clock.pause();
  clock.enter(() => ran.push("message"));
  await world.advance(50);
  expect(ran).toEqual([]);
  expect(clock.nowMs()).toBe(50);
  clock.resume();
  await world.settle();
  await world.advance(0);
  expect(ran).toEqual(["message", "timer"]);
});

test("a suspended machine's clock stands still, and its timers wait for it", async () => {
  const world = new VirtualClock();
  const clock = new ProcessClock(world);
  const ranAt: number[] = [];
  clock.after(20, () => ranAt.push(world.nowMs()));
  await world.advance(10);
  clock.suspend();
  await world.advance(1_000);
  expect(clock.nowMs()).toBe(10);
  clock.resume();
  await world.advance(9);
  expect(ranAt).toEqual([]);
  await world.advance(2);
  expect(ranAt).toHaveLength(1);
});

test("after a change of the rate or a jump the clock goes on from where it was", async () => {
  const world = new VirtualClock();
  const clock = new ProcessClock(world);
  await world.advance(10);
  clock.setRate(3);
  expect(clock.nowMs()).toBe(10);
  await world.advance(10);
  expect(clock.nowMs()).toBe(40);
  clock.jump(60);
  expect(clock.nowMs()).toBe(100);
});

test("nothing reaches a killed process, held back or new", async () => {
  const world = new VirtualClock();
  const clock = new ProcessClock(world);
  const ran: string[] = [];
  clock.after(5, () => ran.push("timer"));
  clock.soon(() => ran.push("soon"));
  clock.pause();
  clock.enter(() => ran.push("held"));
  clock.kill();
  clock.resume();
  await world.advance(10);
  expect(ran).toEqual([]);
});
