/**
 * Property 19: log time runs no faster along the committed log than (1 + rho) times true time
 * between the stampings.
 */

import { CLOCK_RATE_ERROR } from "../../../src/base/lease-timing.ts";
import type { MadeEntry } from "../group-history.ts";
import { must } from "../must.ts";

/** Stamps are whole ms. */
const ROUNDING_MS = 1;

export class LogTimeChecker {
  /** The least of log time less (1 + rho) times true time, over the entries so far. */
  #lowestMs = Number.POSITIVE_INFINITY;

  /** The next committed entry. */
  onCommitted({ entry, stampedMs }: MadeEntry): void {
    const aheadMs = entry.timeMs - (1 + CLOCK_RATE_ERROR) * stampedMs;
    const gainedMs = aheadMs - this.#lowestMs;
    must(!(gainedMs > ROUNDING_MS), 19, `log time has gained ${gainedMs} ms at ${entry.index}`);
    this.#lowestMs = Math.min(this.#lowestMs, aheadMs);
  }
}
