/** Pauses between attempts. */

import { expect, test } from "vitest";
import { Backoff } from "../../src/replica/backoff.ts";

test("pauses double up to their bound, and begin anew after a success", () => {
  const backoff = new Backoff(100, 500);
  expect(backoff.isFresh).toBe(true);
  expect([1, 2, 3, 4, 5].map(() => backoff.take())).toEqual([100, 200, 400, 500, 500]);
  expect(backoff.isFresh).toBe(false);
  backoff.reset();
  expect(backoff.isFresh).toBe(true);
  expect(backoff.take()).toBe(100);
});
