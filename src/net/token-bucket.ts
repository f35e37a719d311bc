/**
 * How fast bytes may leave: a level that fills with time up to the burst, and what is taken beyond
 * it is waited for. Whoever takes more than there is goes into debt, so the long-run rate holds
 * whatever sizes are taken.
 */

import { assert } from "../base/assert.ts";
import type { MonotonicMs } from "../base/brands.ts";

export class TokenBucket {
  readonly #bytesPerMs: number;
  readonly #burstBytes: number;
  #levelBytes: number;
  #filledAtMs: MonotonicMs;

  constructor(options: {
    readonly bytesPerSecond: number;
    readonly burstBytes: number;
    readonly nowMs: MonotonicMs;
  }) {
    assert(options.bytesPerSecond > 0, "a bucket fills");
    this.#bytesPerMs = options.bytesPerSecond / 1_000;
    this.#burstBytes = options.burstBytes;
    this.#levelBytes = options.burstBytes;
    this.#filledAtMs = options.nowMs;
  }

  /** Takes the bytes now; how long to wait until they may leave. */
  take(bytes: number, nowMs: MonotonicMs): number {
    const filledBytes = (nowMs - this.#filledAtMs) * this.#bytesPerMs;
    this.#levelBytes = Math.min(this.#burstBytes, this.#levelBytes + filledBytes) - bytes;
    this.#filledAtMs = nowMs;
    return Math.max(0, -this.#levelBytes / this.#bytesPerMs);
  }
}
