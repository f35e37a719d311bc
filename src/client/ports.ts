/**
 * What the client library needs from the world beside channels: a clock and timers. The shapes are
 * those of replica/ports, so that one adapter, and one virtual clock, serves both.
 */

import type { MonotonicMs } from "../base/brands.ts";

/** A reading of a monotonic clock, in ms (fractions allowed); meaningless in other processes. */
export interface Clock {
  nowMs(): MonotonicMs;
}

/** Timers of the host. Callbacks never run inside the call that set them. */
export interface Timers {
  /** Runs once after about delayMs; the answer cancels it. May run late, never trust it. */
  after(delayMs: number, run: () => void): () => void;
  /** Runs after everything that is already readable from sockets was read. */
  afterReading(run: () => void): void;
  /** Runs soon, after the present callback, before timers. */
  soon(run: () => void): void;
}
