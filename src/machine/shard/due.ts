/**
 * What is due ends first (law 9): session standings, then single ranges, then recorded successors
 * that are still alive are granted. Runs before the own effect of every entry, whatever it is.
 */

import { compareBytes } from "../../base/bytes.ts";
import { compareStrings } from "../../base/ordered-map.ts";
import { effectiveMs } from "./grace.ts";
import { deadlineMs, leaseEndMs, ownEndMs } from "./leases.ts";
import type { RecordChange } from "./events.ts";
import type { Reminder } from "./due-queue.ts";
import { endOwnership, grantToSuccessors } from "./ranges.ts";
import { heldIn } from "./sessions.ts";
import type { EntryScope, Session, ShardState, Standing } from "./state.ts";
import type { RangeSlot } from "./types.ts";

/** The log time at which the next thing will be due, if nothing is renewed before. */
export function nextDueMs(state: ShardState): number | undefined {
  return state.due.nextMs((reminder) => dueMsOf(state, reminder));
}

export function endDue(state: ShardState, scope: EntryScope): void {
  const due = collectDue(state, scope);
  const vacated: RangeSlot[] = [];
  for (const [session, standing] of due.standings) {
    vacated.push(...endStanding(state, scope, session, standing));
  }
  const singles = due.slots.filter((slot) => slot.record.owner !== undefined);
  endSingles(state, scope, singles);
  vacated.push(...singles);
  grantToSuccessors(state, scope, vacated.toSorted(compareSlots));
  for (const importId of due.imports) state.imports.delete(importId);
}

interface Due {
  readonly standings: readonly (readonly [Session, Standing])[];
  readonly slots: readonly RangeSlot[];
  readonly imports: readonly string[];
}

/** Everything whose time has come, in the order of names and keys, not of the heap. */
function collectDue(state: ShardState, scope: EntryScope): Due {
  const standings = new Map<Standing, Session>();
  const slots = new Set<RangeSlot>();
  const imports = new Set<string>();
  for (;;) {
    const reminder = state.due.takeUpTo(scope.timeMs, (one) => dueMsOf(state, one));
    if (reminder === undefined) break;
    switch (reminder.kind) {
      case "standing": {
        const session = state.sessions.get(reminder.nodeId);
        const standing = session?.standings.get(reminder.keyspaceId);
        if (session === undefined || standing === undefined) continue;
        if (effectiveMs(standing, state.grace) <= scope.timeMs) {
          standings.set(standing, session);
          break;
        }
        endExtensions(state, session, standing, slots);
        const dueMs = dueMsOf(state, reminder);
        if (dueMs !== undefined) state.due.add(reminder, dueMs);
        break;
      }
      case "range": {
        const slot = state.rangesById.get(reminder.rangeId);
        if (slot !== undefined && deadlineMs(state, slot) <= scope.timeMs) slots.add(slot);
        break;
      }
      case "import":
        imports.add(reminder.importId);
        break;
    }
  }
  const byName = [...standings].map(([standing, session]) => [session, standing] as const);
  return {
    standings: byName.toSorted(
      ([a, x], [b, y]) => compareStrings(a.nodeId, b.nodeId) || x.keyspaceId - y.keyspaceId,
    ),
    slots: [...slots].toSorted(compareSlots),
    imports: [...imports].toSorted(compareStrings),
  };
}

/** Drops extensions that have run out, and finds the ranges that none of the others covers. */
function endExtensions(
  state: ShardState,
  session: Session,
  standing: Standing,
  into: Set<RangeSlot>,
): void {
  const { grace, timeMs } = state;
  for (const slot of heldIn(session, standing.keyspaceId).values()) {
    if (leaseEndMs(session, slot, grace) <= timeMs) into.add(slot);
  }
  standing.extensions = standing.extensions.filter(
    (extension) => effectiveMs(extension, grace) > timeMs,
  );
}

/** Ends a standing and all leases under it: one event. The session ends with its last standing. */
function endStanding(
  state: ShardState,
  scope: EntryScope,
  session: Session,
  standing: Standing,
): RangeSlot[] {
  const { keyspaceId } = standing;
  const slots = [...heldIn(session, keyspaceId).values()];
  const changes = slots.map((slot) => endOwnership(state, scope, slot, "expired"));
  scope.emit("expired", keyspaceId, changes);
  session.standings.delete(keyspaceId);
  session.held.delete(keyspaceId);
  if (session.standings.size === 0) state.sessions.delete(session.nodeId);
  return slots;
}

function endSingles(state: ShardState, scope: EntryScope, slots: readonly RangeSlot[]): void {
  let changes: RecordChange[] = [];
  for (const [at, slot] of slots.entries()) {
    changes.push(endOwnership(state, scope, slot, "expired"));
    const { keyspaceId } = slot.record;
    if (slots[at + 1]?.record.keyspaceId === keyspaceId) continue;
    scope.emit("expired", keyspaceId, changes);
    changes = [];
  }
}

/** When what the reminder is for is due; undefined: it has been moved on, or is gone. */
function dueMsOf(state: ShardState, reminder: Reminder): number | undefined {
  switch (reminder.kind) {
    case "standing": {
      const session = state.sessions.get(reminder.nodeId);
      if (session?.incarnation !== reminder.incarnation) return undefined;
      const standing = session.standings.get(reminder.keyspaceId);
      if (standing?.reminder !== reminder) return undefined;
      let dueMs = effectiveMs(standing, state.grace);
      for (const extension of standing.extensions) {
        dueMs = Math.min(dueMs, effectiveMs(extension, state.grace));
      }
      return dueMs;
    }
    case "range": {
      const slot = state.rangesById.get(reminder.rangeId);
      if (slot?.record.owner === undefined || slot.record.epoch !== reminder.epoch) {
        return undefined;
      }
      return slot.ownDeadlineMs === reminder.deadlineMs ? ownEndMs(state, slot) : undefined;
    }
    case "import": {
      const staging = state.imports.get(reminder.importId);
      return staging?.deadlineMs === reminder.deadlineMs ? staging.deadlineMs : undefined;
    }
  }
}

function compareSlots(a: RangeSlot, b: RangeSlot): number {
  return (
    a.record.keyspaceId - b.record.keyspaceId || compareBytes(a.record.startKey, b.record.startKey)
  );
}
