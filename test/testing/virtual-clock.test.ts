// Virtual time: in order, to the end, and not a moment further.
import { expect, test } from "vitest";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";

test("timers run at their own moment, in order of time and then of making", async () => {
  const clock = new VirtualClock(100);
  const ran: string[] = [];
  const note = (name: string) => () => ran.push(`${name}@${clock.nowMs()}`);
  clock.after(20, note("late"));
  clock.after(10, note("first"));
  clock.after(10, note("second"));
  const cancel = clock.after(15, note("never"));
  clock.after(10, () => clock.after(5, note("nested")));
  clock.after(31, note("beyond"));
  cancel();
  await clock.advance(30);
  expect(ran).toEqual(["first@110", "second@110", "nested@115", "late@120"]);
  expect(clock.nowMs()).toBe(130);
  expect(clock.pendingCount).toBe(1);
});

test("promises settle between two timers, and soon runs before what is after reading", async () => {
  const clock = new VirtualClock();
  const ran: string[] = [];
  clock.after(1, () => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => ran.push("promise"));
    clock.afterReading(() => ran.push("after reading"));
    clock.soon(() => ran.push("soon"));
    ran.push("timer");
  });
  clock.after(1, () => ran.push("next timer"));
  await clock.advance(1);
  expect(ran).toEqual(["timer", "promise", "soon", "after reading", "next timer"]);
});

test("a frozen process finds its timers overdue", async () => {
  const clock = new VirtualClock();
  const ran: number[] = [];
  clock.after(10, () => ran.push(clock.nowMs()));
  clock.freeze(500);
  expect(ran).toEqual([]);
  await clock.advance(0);
  expect(ran).toEqual([500]);
});
