/**
 * The real clock and timers of a process. Everything below server/ gets them as ports.
 * Nothing here reads the wall clock.
 */

import { performance } from "node:perf_hooks";
import type { MonotonicMs } from "../base/brands.ts";
import type { Clock, Timers } from "../replica/ports.ts";

/** CLOCK_MONOTONIC, from the start of the process. Stops while the machine is suspended. */
export const systemClock: Clock = {
  nowMs: () => performance.now() as MonotonicMs,
};

export const systemTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  // What lay in the sockets when the loop came back is read in the poll phase between the two.
  afterReading: (run) => {
    setImmediate(() => setImmediate(run));
  },
  soon: (run) => {
    queueMicrotask(run);
  },
};

/** Whether `work` was done in time, on the real clock; a failure of it passes through. */
export async function within(timeoutMs: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([work.then(() => true), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
