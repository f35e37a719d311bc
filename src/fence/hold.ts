/**
 * One range held under one epoch by this incarnation: states and deadlines (laws 10 and 12).
 *   granted   seen as ours; not accepted, or without a deadline yet: not served
 *   held      accepted, deadline ahead: served
 *   suspect   as held, but two renewals are overdue: served, time to shed long requests
 *   draining  asked to hand over: nothing new is admitted, what was admitted may end
 *   closed    drained, or out of time: nothing is made of it any more, while it is given up
 *   expired   the deadline has passed here; the service may still hold the lease for us: not served
 *   ended     over at the service, or given up: never served again under this epoch
 *
 * Requests are admitted in held and suspect only (law 6), and may end in draining, too (law 12).
 */

import { assert } from "../base/assert.ts";
import type { Epoch, MonotonicMs, Revision } from "../base/brands.ts";
import { CLOCK_RATE_ERROR, GUARD_MS } from "../base/lease-timing.ts";
import type { RangeRecord } from "../wire/api.ts";

/** The shortest lease that a keyspace may have (proto/cadastre/v1/keyspaces.proto). */
const LEASE_DURATION_MS_MIN = 1_500;
assert(
  deadlineOf(0 as MonotonicMs, LEASE_DURATION_MS_MIN) > (2 / 3) * LEASE_DURATION_MS_MIN,
  "the shortest lease outlasts two renewal intervals of a third each",
);

export type HoldKind =
  | ("granted" | "held" | "suspect" | "draining")
  | ("closed" | "expired" | "ended");

/** The owner was asked to give the range up to a successor (law 12). */
export interface AskedHandOver {
  /** Names the request. */
  readonly revision: Revision;
  readonly successorId: string;
  /** The guard is closed, and the directory may be told. */
  readonly isDrained: boolean;
}

/** A range that is to be handed over, as the request for it names it. */
export interface AskedRange {
  readonly rangeId: string;
  readonly epoch: Epoch;
  readonly revision: Revision;
}

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
  readonly handOver: AskedHandOver | undefined;
  /** Requests for a hand-over up to this one are over: taken back, or refused. */
  readonly handOversOver: Revision;
}

/**
 * The moment from which the owner no longer serves (law 10). `firstSentMs` was read before the
 * first transmission of the request that was answered.
 */
export function deadlineOf(firstSentMs: MonotonicMs, durationMs: number): MonotonicMs {
  const ownMs = (durationMs * (1 - CLOCK_RATE_ERROR)) / (1 + CLOCK_RATE_ERROR);
  return (firstSentMs + ownMs - GUARD_MS) as MonotonicMs;
}

/** What a hold is at a moment. Time alone leads from held or draining over suspect to expired. */
export function holdKindAt(
  hold: Pick<Hold, "kind" | "accepted" | "deadlineMs" | "suspectAtMs" | "handOver">,
  nowMs: MonotonicMs,
): HoldKind {
  if (hold.kind === "ended") return "ended";
  if (hold.handOver?.isDrained === true) return "closed";
  if (!hold.accepted || hold.deadlineMs === undefined) return "granted";
  if (nowMs >= hold.deadlineMs) return "expired";
  if (hold.handOver !== undefined) return "draining";
  return hold.suspectAtMs !== undefined && nowMs >= hold.suspectAtMs ? "suspect" : "held";
}

/** Whether a request may be admitted at this moment. */
export function isServable(hold: Hold, nowMs: MonotonicMs): boolean {
  const kind = holdKindAt(hold, nowMs);
  return kind === "held" || kind === "suspect";
}

/** Whether what was admitted may end at this moment, and its result leave. */
export function isHolding(hold: Hold, nowMs: MonotonicMs): boolean {
  return isServable(hold, nowMs) || holdKindAt(hold, nowMs) === "draining";
}

/**
 * The hold after a record of it, as of a revision: asked to hand over by a newer request, or, if
 * the guard has not closed for it yet, no longer asked.
 */
export function withAsked(hold: Hold, record: RangeRecord, asOf: Revision): Hold {
  const { handOver, handOversOver } = hold;
  const { handOverRevision: revision, successor } = record;
  if (revision > (handOver?.revision ?? handOversOver) && successor !== undefined) {
    const isDrained = handOver?.isDrained === true;
    return { ...hold, handOver: { revision, successorId: successor.nodeId, isDrained } };
  }
  const isTakenBack =
    handOver !== undefined &&
    !handOver.isDrained &&
    asOf >= handOver.revision &&
    revision !== handOver.revision;
  return isTakenBack ? { ...hold, handOver: undefined, handOversOver: handOver.revision } : hold;
}
