/**
 * The time of one simulated process: a clock that runs at a rate of its own, and a gate through
 * which everything reaches the process. While it is paused whatever comes (timers, answers, frames)
 * waits, in order; once it is killed nothing comes any more.
 *
 * It implements Clock and Timers over the true time of a VirtualClock.
 */

import { assert } from "../base/assert.ts";
import type { MonotonicMs } from "../base/brands.ts";
import type { Clock, Timers } from "../replica/ports.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Timers are never early by the process's own clock, whatever the rounding. */
const LATE_MS = 0.001;

export class ProcessClock implements Clock, Timers {
  readonly #world: VirtualClock;
  #rate: number;
  /** A moment at which both readings are known; the rate holds from there on. */
  #anchor: { readonly worldMs: number; readonly ownMs: number };
  #state: "running" | "paused" | "suspended" | "killed" = "running";
  #held: (() => void)[] = [];
  readonly #onRan: () => void;

  /**
   * A clock that shows `startMs` now and advances `rate` ms in each ms of true time. `onRan` is
   * called whenever something has run in the process; its promises may not have settled yet.
   */
  constructor(
    world: VirtualClock,
    options: {
      readonly rate?: number;
      readonly startMs?: number;
      readonly onRan?: () => void;
    } = {},
  ) {
    this.#world = world;
    this.#onRan = options.onRan ?? ((): void => {});
    this.#rate = options.rate ?? 1;
    this.#anchor = { worldMs: world.nowMs(), ownMs: options.startMs ?? world.nowMs() };
  }

  /** How fast it runs against true time. */
  get rate(): number {
    return this.#rate;
  }

  /** Neither its callbacks nor its promises run now. */
  get isPaused(): boolean {
    return this.#state === "paused" || this.#state === "suspended";
  }

  get isKilled(): boolean {
    return this.#state === "killed";
  }

  nowMs(): MonotonicMs {
    const { worldMs, ownMs } = this.#anchor;
    const elapsedMs = this.#state === "suspended" ? 0 : this.#world.nowMs() - worldMs;
    return (ownMs + elapsedMs * this.#rate) as MonotonicMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const dueMs = this.nowMs() + delayMs;
    let isCancelled = false;
    let cancel: () => void = () => {};
    const arm = (waitMs: number): void => {
      cancel = this.#world.after(waitMs / this.#rate + LATE_MS, () => this.enter(fire));
    };
    const fire = (): void => {
      if (isCancelled) return;
      const leftMs = dueMs - this.nowMs();
      // The clock has been slowed down or suspended meanwhile.
      if (leftMs > 0) arm(leftMs);
      else run();
    };
    arm(delayMs);
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
    if (this.isPaused) {
      this.#held.push(run);
      return;
    }
    if (this.#state !== "running") return;
    run();
    this.#onRan();
  }

  /** Stands still while its clock runs on, as after SIGSTOP. */
  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  /** Stands still together with its clock: a suspended machine. */
  suspend(): void {
    if (this.#state !== "running") return;
    this.#moveAnchor(0);
    this.#state = "suspended";
  }

  /** What was held back comes in the order in which it would have, one thing after the other. */
  resume(): void {
    if (!this.isPaused) return;
    const isSuspended = this.#state === "suspended";
    if (isSuspended) this.#anchor = { ...this.#anchor, worldMs: this.#world.nowMs() };
    this.#state = "running";
    for (const run of this.#held.splice(0)) this.#world.after(0, () => this.enter(run));
  }

  /** From now on it runs at another rate. */
  setRate(rate: number): void {
    assert(rate > 0, "clocks never run backwards");
    this.#moveAnchor(0);
    this.#rate = rate;
  }

  /** Shows so much more from now on than it would have. */
  jump(forwardMs: number): void {
    assert(forwardMs >= 0, "a monotonic clock never goes back");
    this.#moveAnchor(forwardMs);
  }

  kill(): void {
    this.#state = "killed";
    this.#held = [];
  }

  #moveAnchor(forwardMs: number): void {
    this.#anchor = { worldMs: this.#world.nowMs(), ownMs: this.nowMs() + forwardMs };
  }
}
