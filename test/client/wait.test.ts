// Waiting leaves nothing behind: no timer, no listener.
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { limited, linkAborts, sleep, Waker } from "../../src/client/wait.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}

test("a pause ends by time or by its signal, and then forgets both", async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const ended: string[] = [];
  const pause = sleep;
  void pause(clock, 100, controller.signal).then(() => ended.push("by time"));
  void pause(clock, 500, controller.signal).then(() => ended.push("by signal"));
  await clock.advance(100);
  controller.abort();
  await clock.settle();
  expect(ended).toEqual(["by time", "by signal"]);
  expect(clock.pendingCount).toBe(0);
  expect(listeners(controller.signal)).toBe(0);
});

test("however many wait for a signal, it has one listener: Node takes eleven for a leak", async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const { signal } = controller;
  const pause = sleep;
  let ended = 0;
  for (let at = 0; at < 20; at++) {
    void pause(clock, 100 + at, signal).then(() => ended++);
    void limited(new Promise(() => {}), clock, 100 + at, signal).then(() => ended++);
    void new Waker().pause(clock, 100 + at, signal).then(() => ended++);
  }
  const linked = linkAborts(signal);
  expect(listeners(signal)).toBe(1);
  await clock.advance(109);
  expect(ended).toBe(30);
  expect(listeners(signal)).toBe(1);
  controller.abort();
  await clock.settle();
  expect(ended).toBe(60);
  expect(linked.signal.aborted).toBe(true);
  linked.release();
  expect(listeners(signal)).toBe(0);
  expect(clock.pendingCount).toBe(0);
});

test("a limited wait answers whichever comes first", async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const never = new Promise<number>(() => {});
  expect(await limited(Promise.resolve(7), clock, 10)).toEqual({ kind: "answered", value: 7 });
  const late = limited(never, clock, 10, controller.signal);
  await clock.advance(10);
  expect(await late).toEqual({ kind: "timedOut" });
  const cancelled = limited(never, clock, 10, controller.signal);
  controller.abort();
  expect(await cancelled).toEqual({ kind: "aborted" });
  expect(await limited(never, clock, 10, controller.signal)).toEqual({ kind: "aborted" });
  await expect(limited(Promise.reject(new Error("a bug")), clock, 10)).rejects.toThrow("a bug");
  expect(clock.pendingCount).toBe(0);
  expect(listeners(controller.signal)).toBe(0);
});

test("a linked abort follows each of its signals until it is released", () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const linked = linkAborts(one.signal, undefined, two.signal);
  const released = linkAborts(one.signal);
  released.release();
  two.abort();
  one.abort();
  expect(linked.signal.aborted).toBe(true);
  expect(released.signal.aborted).toBe(false);
  linked.release();
  expect(listeners(one.signal) + listeners(two.signal)).toBe(0);
  expect(linkAborts(one.signal).signal.aborted).toBe(true);
});

test("a wake-up that comes before the sleep is not lost, and counts once", async () => {
  const clock = new VirtualClock();
  const { signal } = new AbortController();
  const waker = new Waker();
  const slept: number[] = [];
  waker.wake();
  for (const delayMs of [100, 100, undefined]) {
    const rest = waker.pause(clock, delayMs, signal).then(() => slept.push(clock.nowMs()));
    await clock.advance(100);
    if (delayMs === undefined) waker.wake();
    await rest;
  }
  expect(slept).toEqual([0, 200, 300]);
});
