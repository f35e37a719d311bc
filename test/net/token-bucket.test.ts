/** The rate at which snapshots leave. */

import { expect, test } from "vitest";
import type { MonotonicMs } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import { TokenBucket } from "../../src/net/token-bucket.ts";

const START = { bytesPerSecond: 1_000, burstBytes: 500, nowMs: 0 as MonotonicMs };

function at(ms: number): MonotonicMs {
  return ms as MonotonicMs;
}

test("a burst leaves at once, and what comes after it waits for its share", () => {
  const bucket = new TokenBucket(START);
  expect(bucket.take(500, at(0))).toBe(0);
  expect(bucket.take(100, at(0))).toBe(100);
  expect(bucket.take(100, at(50))).toBe(150);
});

test("a pause is saved up to the burst, and no further", () => {
  const bucket = new TokenBucket(START);
  bucket.take(500, at(0));
  expect(bucket.take(200, at(200))).toBe(0);
  expect(bucket.take(500, at(60_000))).toBe(0);
  expect(bucket.take(1, at(60_000))).toBe(1);
});

test("however much is taken at once, the rate holds in the long run", () => {
  const prng = Prng.fromSeed(1);
  const bucket = new TokenBucket(START);
  let nowMs = 0;
  let taken = 0;
  while (nowMs < 100_000) {
    const bytes = prng.nextInteger(1, 2_000);
    taken += bytes;
    nowMs += bucket.take(bytes, at(nowMs)) + (prng.chance(0.1) ? prng.nextInteger(0, 400) : 0);
    expect(taken).toBeLessThanOrEqual(nowMs + 500 + 0.001);
  }
  expect(taken).toBeGreaterThan(80_000);
});
