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
 * Cutting a range loose (an exception, a successor) first captures the deadline that it has.
 */

import { defined } from "../../base/assert.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { OrderedMap } from "../../base/ordered-map.ts";
import { changeSlot } from "./slots.ts";
import type { EntryScope, Extension, Session, ShardState, Standing } from "./state.ts";
import type { RangeSlot } from "./types.ts";
import { BASE_DURATION_MS, BASE_KEYSPACE_ID, heldRanges } from "./state.ts";

/** The session that owns a range. An owned range always has one. */
export function sessionOf(state: ShardState, slot: RangeSlot): Session {
  const owner = defined(slot.record.owner, "an owned range has an owner");
  return defined(state.sessions.get(owner.nodeId), "an owner has an open session");
}

/** The range's lease ends when log time reaches this. The range must be owned. */
export function deadlineMs(session: Session, slot: RangeSlot): number {
  let latest = slot.ownDeadlineMs;
  if (slot.record.successor !== undefined) return latest;
  const standing = session.standings.get(slot.record.keyspaceId);
  for (const extension of standing?.extensions ?? []) {
    if (countsFor(extension, slot) && extension.deadlineMs > latest) latest = extension.deadlineMs;
  }
  return latest;
}

/** How long the range's lease lasts at most from the entry's time on, in ms of log time. */
export function remainingMs(state: ShardState, slot: RangeSlot): number {
  if (slot.record.owner === undefined) return 0;
  return Math.max(0, deadlineMs(sessionOf(state, slot), slot) - state.timeMs);
}

/** Starts a lease for a range that `session` was just granted. */
export function startLease(
  state: ShardState,
  scope: EntryScope,
  session: Session,
  slot: RangeSlot,
): void {
  const { keyspaceId, startKey } = slot.record;
  const durationMs = durationOf(state, keyspaceId);
  changeSlot(state, slot, {
    ownDeadlineMs: scope.timeMs + durationMs,
    detachedOrder: nextLeaseOrder(state),
  });
  remindOfRange(state, slot);
  heldOf(session, keyspaceId).set(startKey, slot);
  raiseStanding(state, session, standingOf(session, keyspaceId), slot.ownDeadlineMs);
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
  changeSlot(state, slot, { ownDeadlineMs: deadlineMs(session, slot), detachedOrder: order });
  remindOfRange(state, slot);
}

/** Reminds of everything that a restored standing may end by. */
export function remindOfStanding(state: ShardState, session: Session, standing: Standing): void {
  remind(state, session, standing, standing.deadlineMs);
  for (const extension of standing.extensions) {
    if (extension.deadlineMs === standing.deadlineMs) continue;
    remind(state, session, standing, extension.deadlineMs);
  }
}

/**
 * Puts a restored range under its session's standing, which exists. Its own deadline needs a
 * reminder only if no extension is later: an extension's deadline never goes back.
 */
export function resumeLease(state: ShardState, session: Session, slot: RangeSlot): void {
  const { keyspaceId, startKey } = slot.record;
  heldOf(session, keyspaceId).set(startKey, slot);
  if (deadlineMs(session, slot) === slot.ownDeadlineMs) remindOfRange(state, slot);
}

/** Extends one standing by a renewal: its order, and up to where its view was complete. */
export function extend(
  state: ShardState,
  scope: EntryScope,
  session: Session,
  keyspaceId: number,
  { order, asOf }: Omit<Extension, "deadlineMs">,
): void {
  const standing = standingOf(session, keyspaceId);
  const deadline = scope.timeMs + durationOf(state, keyspaceId);
  const extension: Extension = { order, asOf, deadlineMs: deadline };
  const others = standing.extensions.filter(
    (earlier) => earlier.asOf > asOf || earlier.deadlineMs > deadline,
  );
  standing.extensions = [...others, extension];
  // The extension may run out before a standing that a later grant has raised.
  if (deadline <= standing.deadlineMs) remind(state, session, standing, deadline);
  else raiseStanding(state, session, standing, deadline);
}

/** D of a keyspace, as in force now. */
export function durationOf(state: ShardState, keyspaceId: number): number {
  if (keyspaceId === BASE_KEYSPACE_ID) return BASE_DURATION_MS;
  const keyspace = defined(state.keyspaces.get(keyspaceId), "a standing's keyspace exists");
  return keyspace.terms.leaseDurationMs;
}

function countsFor(extension: Extension, slot: RangeSlot): boolean {
  return extension.asOf >= slot.record.epoch && extension.order > slot.detachedOrder;
}

function heldOf(session: Session, keyspaceId: number): OrderedMap<Bytes, RangeSlot> {
  const known = session.held.get(keyspaceId);
  if (known !== undefined) return known;
  const held = heldRanges();
  session.held.set(keyspaceId, held);
  return held;
}

function standingOf(session: Session, keyspaceId: number): Standing {
  const known = session.standings.get(keyspaceId);
  if (known !== undefined) return known;
  const standing: Standing = { keyspaceId, deadlineMs: 0, extensions: [] };
  session.standings.set(keyspaceId, standing);
  return standing;
}

function raiseStanding(
  state: ShardState,
  session: Session,
  standing: Standing,
  deadline: number,
): void {
  if (deadline <= standing.deadlineMs) return;
  standing.deadlineMs = deadline;
  remind(state, session, standing, deadline);
}

function remindOfRange(state: ShardState, slot: RangeSlot): void {
  const { rangeId, epoch } = slot.record;
  state.due.add({ kind: "range", deadlineMs: slot.ownDeadlineMs, rangeId, epoch });
}

function remind(state: ShardState, session: Session, standing: Standing, deadline: number): void {
  const { nodeId, incarnation } = session;
  const { keyspaceId } = standing;
  state.due.add({ kind: "standing", deadlineMs: deadline, nodeId, incarnation, keyspaceId });
}
