/**
 * Log time: the leader's clock for the entries it appends (law 7).
 *
 * On winning, the base is the time of the log's last entry and the stopwatch starts. Within one
 * tick it advances by at most two tick intervals, so a jump or a freeze of the host's clock can
 * only slow log time down; a reading that goes back advances it by nothing.
 */

import { assert } from "../base/assert.ts";
import type { LogTimeMs, MonotonicMs } from "../base/brands.ts";

/** Most tick intervals that one tick may add. Two: a late tick is made good, a stall is not. */
export const TICK_ADVANCE_MAX = 2;

export class LogTimeClock {
  readonly #advanceMaxMs: number;
  /** Time of the last entry plus what the stopwatch has counted; fractions are kept here only. */
  #timeMs: number;
  #readAtMs: MonotonicMs;
  /** How much of this tick's allowance is used. */
  #advancedMs = 0;

  constructor(start: { lastTimeMs: LogTimeMs; nowMs: MonotonicMs; tickMs: number }) {
    this.#timeMs = start.lastTimeMs;
    this.#readAtMs = start.nowMs;
    this.#advanceMaxMs = TICK_ADVANCE_MAX * start.tickMs;
  }

  /** Counts the time since the last reading. */
  read(nowMs: MonotonicMs): void {
    const elapsedMs = Math.max(0, nowMs - this.#readAtMs);
    const allowedMs = Math.min(elapsedMs, this.#advanceMaxMs - this.#advancedMs);
    assert(allowedMs >= 0, "log time never goes back (R3)");
    this.#readAtMs = nowMs;
    this.#timeMs += allowedMs;
    this.#advancedMs += allowedMs;
  }

  /** A tick has ended: the next one has its own allowance. */
  startTick(): void {
    this.#advancedMs = 0;
  }

  /** What an entry that is appended now carries. */
  get timeMs(): LogTimeMs {
    return Math.floor(this.#timeMs) as LogTimeMs;
  }

  /** The state as numbers, for the canonical form. */
  get parts(): readonly number[] {
    return [this.#timeMs, this.#readAtMs, this.#advancedMs];
  }

  clone(): LogTimeClock {
    const copy = new LogTimeClock({
      lastTimeMs: 0 as LogTimeMs,
      nowMs: this.#readAtMs,
      tickMs: this.#advanceMaxMs / TICK_ADVANCE_MAX,
    });
    copy.#timeMs = this.#timeMs;
    copy.#advancedMs = this.#advancedMs;
    return copy;
  }
}
