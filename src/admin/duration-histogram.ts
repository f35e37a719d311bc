// Counts durations in buckets, for the snapshots of the metrics port. One observation is a short
// scan and an addition, so that it may stand on the path of a write.
import { assert } from "../base/assert.ts";
import type { HistogramSnapshot } from "./port.ts";

/** From a fast local disk to one that stands still; 0.5 s and 1 s are where alerts look. */
const SYNC_BOUNDS_SECONDS = [
  0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.25, 0.5, 1, 2, 4,
] as const;

export class DurationHistogram {
  readonly #boundsSeconds: readonly number[];
  readonly #counts: number[];
  #sumSeconds = 0;

  constructor(boundsSeconds: readonly number[] = SYNC_BOUNDS_SECONDS) {
    const isAscending = boundsSeconds.every((bound, i) => bound > (boundsSeconds[i - 1] ?? 0));
    assert(isAscending, "the bounds of a histogram ascend from above zero");
    this.#boundsSeconds = boundsSeconds;
    this.#counts = Array.from({ length: boundsSeconds.length + 1 }, () => 0);
  }

  observeMs(durationMs: number): void {
    const seconds = durationMs / 1_000;
    const found = this.#boundsSeconds.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? this.#boundsSeconds.length : found;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumSeconds += seconds;
  }

  snapshot(): HistogramSnapshot {
    return {
      boundsSeconds: this.#boundsSeconds,
      counts: [...this.#counts],
      sumSeconds: this.#sumSeconds,
    };
  }
}
