/**
 * One range held under one epoch by this incarnation: its states, and the arithmetic of deadlines.
 *
 *   granted   seen as ours; not accepted, or without a deadline yet: not served
 *   held      accepted, deadline ahead: served
 *   suspect   as held, but two renewals are overdue: served, time to shed long requests
 *   expired   the deadline has passed here; the service may still hold the lease for us: not served
 *   ended     over at the service, or given up: never served again under this epoch
 *
 * A range is served in held and suspect only (law 6). Proof of the deadline: research, section 6.
 */

import { assert } from "../base/assert.ts";
import type { Epoch, MonotonicMs } from "../base/brands.ts";
import { CLOCK_RATE_ERROR, GUARD_MS } from "../base/lease-timing.ts";
import type { RangeRecord } from "../wire/api.ts";

/** The shortest lease that a keyspace may have (proto/cadastre/v1/keyspaces.proto). */
const LEASE_DURATION_MS_MIN = 1_500;
assert(
  deadlineOf(0 as MonotonicMs, LEASE_DURATION_MS_MIN) > (2 / 3) * LEASE_DURATION_MS_MIN,
  "the shortest lease outlasts two renewal intervals of a third each",
);

export type HoldKind = "granted" | "held" | "suspect" | "expired" | "ended";

/** What a hold consists of; `kind` and `number` are kept by the lease keeper. */
export interface Hold {
  /** The newest record seen under this epoch. */
  readonly record: RangeRecord;
  readonly epoch: Epoch;
  /** Counts this process's holds: another number means that a lapse lay between. */
  readonly number: number;
  /** As of the last input; {@link holdKindAt} says what it is now. */
  readonly kind: HoldKind;
  /** Accept of this epoch has committed, its high-water being durable here. */
  readonly accepted: boolean;
  /** By this process's clock; undefined: no request of ours has set one yet. */
  readonly deadlineMs: MonotonicMs | undefined;
  /** When two renewals will be overdue; before the deadline. */
  readonly suspectAtMs: MonotonicMs | undefined;
}

/**
 * The moment from which the owner no longer serves (law 10). `firstSentMs` was read before the
 * first transmission of the request that was answered.
 */
export function deadlineOf(firstSentMs: MonotonicMs, durationMs: number): MonotonicMs {
  const ownMs = (durationMs * (1 - CLOCK_RATE_ERROR)) / (1 + CLOCK_RATE_ERROR);
  return (firstSentMs + ownMs - GUARD_MS) as MonotonicMs;
}

/** What a hold is at a moment. Time alone leads from held over suspect to expired. */
export function holdKindAt(
  hold: Pick<Hold, "kind" | "accepted" | "deadlineMs" | "suspectAtMs">,
  nowMs: MonotonicMs,
): HoldKind {
  if (hold.kind === "ended") return "ended";
  if (!hold.accepted || hold.deadlineMs === undefined) return "granted";
  if (nowMs >= hold.deadlineMs) return "expired";
  return hold.suspectAtMs !== undefined && nowMs >= hold.suspectAtMs ? "suspect" : "held";
}

/** Whether the range may be served at this moment. */
export function isServable(hold: Hold, nowMs: MonotonicMs): boolean {
  const kind = holdKindAt(hold, nowMs);
  return kind === "held" || kind === "suspect";
}
