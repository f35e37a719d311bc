// The time of one process in the simulation: a clock that runs at a rate of its own, and a gate
// through which everything reaches the process. While it is paused the clock runs on and whatever
// comes (timers, answers, frames) waits; once it is killed nothing comes any more.
import type { MonotonicMs } from "../../src/base/brands.ts";
import type { Clock, Timers } from "../../src/replica/ports.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";

/** Timers are never early, whatever the rounding. */
const LATE_MS = 0.001;

export class ProcessClock implements Clock, Timers {
  /** How fast it runs against true time. */
  readonly rate: number;
  readonly #world: VirtualClock;
  readonly #offsetMs: number;
  #state: "running" | "paused" | "killed" = "running";
  #held: (() => void)[] = [];

  constructor(world: VirtualClock, rate: number, offsetMs = 0) {
    this.#world = world;
    this.rate = rate;
    this.#offsetMs = offsetMs;
  }

  get isPaused(): boolean {
    return this.#state === "paused";
  }

  nowMs(): MonotonicMs {
    return (this.#offsetMs + this.#world.nowMs() * this.rate) as MonotonicMs;
  }

  after(delayMs: number, run: () => void): () => void {
    let isCancelled = false;
    const once = (): void => {
      if (!isCancelled) run();
    };
    const cancel = this.#world.after(delayMs / this.rate + LATE_MS, () => this.enter(once));
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  afterReading(run: () => void): void {
    this.#world.afterReading(() => this.enter(run));
  }

  soon(run: () => void): void {
    this.#world.soon(() => this.enter(run));
  }

  /** Resolves when so much time has passed for the process. */
  passing(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Runs in the process: now, or when it goes on, or never. */
  enter(run: () => void): void {
    if (this.#state === "paused") this.#held.push(run);
    else if (this.#state === "running") run();
  }

  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  /** What was held back comes in the order in which it would have, one thing after the other. */
  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    for (const run of this.#held.splice(0)) this.#world.after(0, () => this.enter(run));
  }

  kill(): void {
    this.#state = "killed";
    this.#held = [];
  }
}
