/**
 * Long work on the one thread, in short slices: between two of them the sockets are read, messages
 * leave, and what is due runs. Whoever works asks after each piece whether the slice is over, and
 * rests if it is.
 *
 * Waiting for the disk counts as work, so that a rest in proportion leaves a busy disk to the log.
 */

import type { Clock, Timers } from "./ports.ts";

/** A stalled disk must not put a checkpoint to sleep for as long as it stalled. */
const REST_MS_MAX = 100;

export interface PaceOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly sliceMs: number;
  /** How long a rest is, as a share of the work before it; 0: until the sockets were read. */
  readonly restShare: number;
  /** Ends a rest at once; the worker looks at it after every wait. */
  readonly signal: AbortSignal;
}

export class Pace {
  readonly #options: PaceOptions;
  #sliceStartMs: number;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#sliceStartMs = options.clock.nowMs();
  }

  get isSliceOver(): boolean {
    return this.#workedMs() >= this.#options.sliceMs;
  }

  rest(): Promise<void> {
    const { clock, timers, restShare, signal } = this.#options;
    const restMs = Math.min(this.#workedMs() * restShare, REST_MS_MAX);
    return new Promise((resolve) => {
      let cancelTimer = (): void => {};
      const end = (): void => {
        signal.removeEventListener("abort", end);
        cancelTimer();
        this.#sliceStartMs = clock.nowMs();
        resolve();
      };
      if (signal.aborted) end();
      else {
        signal.addEventListener("abort", end);
        const read = (): void => timers.afterReading(end);
        if (restMs > 0) cancelTimer = timers.after(restMs, read);
        else read();
      }
    });
  }

  #workedMs(): number {
    return this.#options.clock.nowMs() - this.#sliceStartMs;
  }
}
