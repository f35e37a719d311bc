/**
 * Leases: what a range's deadline is, and how grants and renewals move it (laws 8, 10, 11).
 *
 * A renewal covers any number of ranges in constant time: it is one Extension of the standing, and
 * a range's deadline is the latest of its own and of the extensions that count for it:
 *
 *   an extension counts when asOf >= the range's epoch (it was in the owner's view), and its order
 *   is above the range's detachedOrder (it came after the range was granted or cut loose), and the
 *   range has no recorded successor.
 *
 * Cutting a range loose (an exception, a successor) first captures its latest deadline and cap.
 */

import { defined } from "../../base/assert.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { OrderedMap } from "../../base/ordered-map.ts";
import { changeSlot } from "./slots.ts";
import {
  type Deadline,
  deadlineAfter,
  effectiveMs,
  type Grace,
  latest,
  outlasts,
} from "./grace.ts";
import type { EntryScope, Extension, Session, ShardState, Standing } from "./state.ts";
import type { RangeSlot } from "./types.ts";
import { BASE_DURATION_MS, BASE_KEYSPACE_ID, heldRanges } from "./state.ts";

/** The session that owns a range. An owned range always has one. */
export function sessionOf(state: ShardState, slot: RangeSlot): Session {
  const owner = defined(slot.record.owner, "an owned range has an owner");
  return defined(state.sessions.get(owner.nodeId), "an owner has an open session");
}

/** The range's lease ends when log time reaches this (law 11). The range must be owned. */
export function deadlineMs(state: ShardState, slot: RangeSlot): number {
  return leaseEndMs(sessionOf(state, slot), slot, state.grace);
}

/** The same, for a range of that session. */
export function leaseEndMs(session: Session, slot: RangeSlot, grace: Grace): number {
  let endMs = effectiveMs(ownDeadline(slot), grace);
  for (const extension of extensionsOf(session, slot)) {
    endMs = Math.max(endMs, effectiveMs(extension, grace));
  }
  return endMs;
}

/** When the range's own deadline is due; undefined: an extension outlasts it, whatever comes. */
export function ownEndMs(state: ShardState, slot: RangeSlot): number | undefined {
  const own = ownDeadline(slot);
  const extensions = extensionsOf(sessionOf(state, slot), slot);
  if (extensions.some((extension) => outlasts(extension, own))) return undefined;
  return effectiveMs(own, state.grace);
}

/** The latest of all deadlines and of all caps that count for the range. */
export function latestOf(session: Session, slot: RangeSlot): Deadline {
  let lease = ownDeadline(slot);
  for (const extension of extensionsOf(session, slot)) lease = latest(lease, extension);
  return lease;
}

/** How long the range's lease lasts at most from the entry's time on, in ms of log time. */
export function remainingMs(state: ShardState, slot: RangeSlot): number {
  if (slot.record.owner === undefined) return 0;
  return Math.max(0, deadlineMs(state, slot) - state.timeMs);
}

/** Starts a lease for a range that `session` was just granted. */
export function startLease(
  state: ShardState,
  scope: EntryScope,
  session: Session,
  slot: RangeSlot,
): void {
  const { keyspaceId, startKey } = slot.record;
  const lease = deadlineAfter(scope.timeMs, durationOf(state, keyspaceId));
  changeSlot(state, slot, { ...toOwn(lease), detachedOrder: nextLeaseOrder(state) });
  remindOfRange(state, slot);
  heldOf(session, keyspaceId).set(startKey, slot);
  raiseStanding(state, session, standingOf(session, keyspaceId), lease);
}

/** A fresh position among all renewals, grants and detachments. */
export function nextLeaseOrder(state: ShardState): number {
  return ++state.leaseOrder;
}

/**
 * Cuts a range loose from its session's renewals up to and including `order`; it keeps the deadline
 * that it has.
 */
export function detach(
  state: ShardState,
  session: Session,
  slot: RangeSlot,
  order: number = nextLeaseOrder(state),
): void {
  changeSlot(state, slot, { ...toOwn(latestOf(session, slot)), detachedOrder: order });
  remindOfRange(state, slot);
}

/** Reminds of everything that a restored standing may end by. */
export function remindOfStanding(state: ShardState, session: Session, standing: Standing): void {
  const deadlines = [standing, ...standing.extensions].map((subject) => subject.deadlineMs);
  remind(state, session, standing, Math.min(...deadlines));
}

/**
 * Puts a restored range under its session's standing, which exists. Its own deadline needs a
 * reminder only if it is not over and no extension outlasts it.
 */
export function resumeLease(state: ShardState, session: Session, slot: RangeSlot): void {
  const { keyspaceId, startKey } = slot.record;
  heldOf(session, keyspaceId).set(startKey, slot);
  const endMs = ownEndMs(state, slot);
  if (endMs !== undefined && endMs > state.timeMs) remindOfRange(state, slot);
}

/** Extends one standing by a renewal: its order, and up to where its view was complete. */
export function extend(
  state: ShardState,
  scope: EntryScope,
  session: Session,
  keyspaceId: number,
  { order, asOf }: Omit<Extension, keyof Deadline>,
): void {
  const standing = standingOf(session, keyspaceId);
  const given = deadlineAfter(scope.timeMs, durationOf(state, keyspaceId));
  const others = standing.extensions.filter(
    (earlier) => earlier.asOf > asOf || !outlasts(given, earlier),
  );
  standing.extensions = [...others, { order, asOf, ...given }];
  // The extension may run out before a standing that a later grant has raised.
  if (given.deadlineMs <= standing.deadlineMs) remind(state, session, standing, given.deadlineMs);
  raiseStanding(state, session, standing, given);
}

/** D of a keyspace, as in force now. */
export function durationOf(state: ShardState, keyspaceId: number): number {
  if (keyspaceId === BASE_KEYSPACE_ID) return BASE_DURATION_MS;
  const keyspace = defined(state.keyspaces.get(keyspaceId), "a standing's keyspace exists");
  return keyspace.terms.leaseDurationMs;
}

function ownDeadline(slot: RangeSlot): Deadline {
  return { deadlineMs: slot.ownDeadlineMs, capMs: slot.ownCapMs };
}

function heldOf(session: Session, keyspaceId: number): OrderedMap<Bytes, RangeSlot> {
  const known = session.held.get(keyspaceId);
  if (known !== undefined) return known;
  const held = heldRanges();
  session.held.set(keyspaceId, held);
  return held;
}

function toOwn({
  deadlineMs: atMs,
  capMs,
}: Deadline): Pick<RangeSlot, "ownDeadlineMs" | "ownCapMs"> {
  return { ownDeadlineMs: atMs, ownCapMs: capMs };
}

/** The extensions that count for the range. */
function extensionsOf(session: Session, slot: RangeSlot): readonly Extension[] {
  const { epoch, keyspaceId, successor } = slot.record;
  if (successor !== undefined) return NO_EXTENSIONS;
  const extensions = session.standings.get(keyspaceId)?.extensions ?? NO_EXTENSIONS;
  return extensions.filter(({ asOf, order }) => asOf >= epoch && order > slot.detachedOrder);
}

const NO_EXTENSIONS: readonly Extension[] = [];

function standingOf(session: Session, keyspaceId: number): Standing {
  const known = session.standings.get(keyspaceId);
  if (known !== undefined) return known;
  const standing: Standing = { keyspaceId, deadlineMs: 0, capMs: 0, extensions: [] };
  session.standings.set(keyspaceId, standing);
  return standing;
}

function raiseStanding(
  state: ShardState,
  session: Session,
  standing: Standing,
  to: Deadline,
): void {
  standing.capMs = Math.max(standing.capMs, to.capMs);
  if (to.deadlineMs <= standing.deadlineMs) return;
  standing.deadlineMs = to.deadlineMs;
  remind(state, session, standing, to.deadlineMs);
}

function remindOfRange(state: ShardState, slot: RangeSlot): void {
  const { rangeId, epoch } = slot.record;
  const deadline = slot.ownDeadlineMs;
  state.due.add({ kind: "range", deadlineMs: deadline, rangeId, epoch }, deadline);
}

/** One that comes earlier will do: it moves on to what is due then. */
function remind(state: ShardState, session: Session, standing: Standing, deadline: number): void {
  const queuedMs = standing.reminder?.queuedMs;
  if (queuedMs !== undefined && queuedMs <= deadline) return;
  const { nodeId, incarnation } = session;
  const { keyspaceId } = standing;
  standing.reminder = { kind: "standing", nodeId, incarnation, keyspaceId, queuedMs: undefined };
  state.due.add(standing.reminder, deadline);
}
