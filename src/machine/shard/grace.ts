/**
 * Deadlines and the grace that a new leader gives (law 11). What has a deadline keeps two numbers
 * as its renewal or grant has set them. A change of leaders touches none of them: it changes one
 * value of the shard. So it costs the same however many leases there are, and leaves their ends as
 * far apart as the renewals were.
 *
 * Two rules bound it. A cap: elections that follow one another give grace again and again, but only
 * a renewal moves a cap, so that no lease is immortal. And nothing is revived: where several
 * renewals have set deadlines for one lease, each that was over stays over.
 */

import { GRACE_MS } from "../../base/lease-timing.ts";
import type { LogTimeMs } from "../../base/brands.ts";

/** Until when something lasts, in log time; D is the one in force at its renewal or grant. */
export interface Deadline {
  /** The renewal's or grant's time plus D. */
  readonly deadlineMs: number;
  /** The same plus 2D: no grace reaches beyond it. */
  readonly capMs: number;
}

/** Until when no lease ends that was alive when it began. Immutable. */
export interface Grace {
  /** The first noop of those each of which came before the grace of the one before was over. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export const NO_GRACE: Grace = { fromMs: 0, untilMs: 0 };

/** The deadline in all laws: over when log time reaches it, and then for ever. Never goes back. */
export function effectiveMs({ deadlineMs, capMs }: Deadline, grace: Grace): number {
  // What was over before the grace began is over.
  if (deadlineMs <= grace.fromMs) return deadlineMs;
  return Math.min(Math.max(deadlineMs, grace.untilMs), capMs);
}

/** What a renewal or a grant at a time gives. */
export function deadlineAfter(timeMs: number, durationMs: number): Deadline {
  return { deadlineMs: timeMs + durationMs, capMs: timeMs + 2 * durationMs };
}

/** The later of each: never over before any of the two, whatever graces come. */
export function latest(a: Deadline, b: Deadline): Deadline {
  return {
    deadlineMs: Math.max(a.deadlineMs, b.deadlineMs),
    capMs: Math.max(a.capMs, b.capMs),
  };
}

/** Whether `a` is never over before `b`, whatever graces come. */
export function outlasts(a: Deadline, b: Deadline): boolean {
  return a.deadlineMs >= b.deadlineMs && a.capMs >= b.capMs;
}

/** After a leader's noop at a time at which what is due has ended already: that stays ended. */
export function graceAfter(grace: Grace, noopMs: LogTimeMs): Grace {
  const isInForce = grace.untilMs > noopMs;
  return { fromMs: isInForce ? grace.fromMs : noopMs, untilMs: noopMs + GRACE_MS };
}
