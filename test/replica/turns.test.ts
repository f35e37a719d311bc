/** One at a time, in order. */

import { expect, test } from "vitest";
import { Turns } from "../../src/replica/turns.ts";

const NEVER = new AbortController().signal;

test("a turn is given to one at a time, in the order of asking", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const visit = async (name: string): Promise<() => void> => {
    const giveBack = await turns.take(NEVER);
    order.push(name);
    if (giveBack === undefined) throw new Error("nobody has given up");
    return giveBack;
  };
  const first = await visit("a");
  const second = visit("b");
  const third = visit("c");
  await Promise.resolve();
  expect(order).toEqual(["a"]);
  first();
  (await second)();
  (await third)();
  expect(order).toEqual(["a", "b", "c"]);
  expect(typeof (await visit("d"))).toBe("function");
});

test("who gives up waiting is passed over, and holds up nobody", async () => {
  const turns = new Turns();
  const first = await turns.take(NEVER);
  const abort = new AbortController();
  const second = turns.take(abort.signal);
  const third = turns.take(NEVER);
  abort.abort();
  expect(await second).toBeUndefined();
  first?.();
  expect(await third).toBeDefined();
  expect(await turns.take(abort.signal)).toBeUndefined();
});
