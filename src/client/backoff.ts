/**
 * Delays between attempts: 50 ms doubling to 1 s, each with jitter, so that many clients that
 * failed together don't come back together.
 */

import type { Prng } from "../base/prng.ts";

const FIRST_MS = 50;
const MAX_MS = 1_000;

export class Backoff {
  readonly #prng: Prng;
  #nextMs = FIRST_MS;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  /** Between half and all of the present step; never less than `atLeastMs`, plus some jitter. */
  nextMs(atLeastMs = 0): number {
    const stepMs = this.#nextMs * (0.5 + this.#prng.nextFraction() / 2);
    this.#nextMs = Math.min(MAX_MS, this.#nextMs * 2);
    return Math.max(stepMs, atLeastMs + this.#prng.nextFraction() * Math.min(FIRST_MS, atLeastMs));
  }

  /** Something succeeded: start again from the first step. */
  reset(): void {
    this.#nextMs = FIRST_MS;
  }
}
