// What is under way, by hold (law 12).
import { expect, test } from "vitest";
import { WorkInHand } from "../../src/fence/work.ts";

test("work is counted by hold, and each piece ends once", () => {
  const work = new WorkInHand();
  const [first, second, other] = [work.begin(1), work.begin(1), work.begin(2)];
  first();
  first();
  expect([work.count(1), work.count(2)]).toEqual([1, 1]);
  second();
  other();
  expect([work.count(1), work.count(2)]).toEqual([0, 0]);
});

test("who waits for a hold to be idle is called once, when it is", () => {
  const work = new WorkInHand();
  const called: string[] = [];
  work.whenIdle(1, () => called.push("at once"));
  const end = work.begin(1);
  work.whenIdle(1, () => called.push("replaced"));
  work.whenIdle(1, () => called.push("later"));
  work.begin(2)();
  expect(called).toEqual(["at once"]);
  end();
  work.begin(1)();
  expect(called).toEqual(["at once", "later"]);
});
