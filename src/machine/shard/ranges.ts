/**
 * Changes to single ranges: granted, ended, given a successor, and whole maps put in place. Each
 * records what happened in the events, in the owner's change list and in the counters together.
 */

import { assert, defined } from "../../base/assert.ts";
import { type Revision, revisionToEpoch } from "../../base/brands.ts";
import { bytesMap, numberMap } from "../../base/ordered-map.ts";
import type { HoldChange } from "./answers.ts";
import type { RecordChange } from "./events.ts";
import { detach, sessionOf, startLease } from "./leases.ts";
import type { MapDraft } from "./map-draft.ts";
import { changeSlot } from "./slots.ts";
import type { EntryScope, Keyspace, Session, ShardState } from "./state.ts";
import type { RangeSlot } from "./types.ts";
import type { KeyspaceTerms, Owner, RangeRecord } from "./types.ts";

/** Changes that a session keeps for renewals; a renewal with an older view must refresh it. */
const HOLD_CHANGES_MAX = 4_096;

export function keyspaceOf(state: ShardState, slot: RangeSlot): Keyspace {
  return defined(state.keyspaces.get(slot.record.keyspaceId), "a range's keyspace exists");
}

/** Grants an unowned range. The new epoch is the revision of this entry (law 3). */
export function grantRange(
  state: ShardState,
  scope: EntryScope,
  slot: RangeSlot,
  session: Session,
): RecordChange {
  const before = slot.record;
  assert(before.owner === undefined, "only an unowned range is granted");
  const keyspace = keyspaceOf(state, slot);
  forgetIntended(state, before);
  const after: RangeRecord = {
    ...before,
    epoch: revisionToEpoch(scope.revision),
    owner: ownerOf(session),
    successor: undefined,
    handOverRevision: 0 as Revision,
    intendedNodeId: undefined,
    descriptorRevision: scope.revision,
  };
  changeSlot(state, slot, { record: after });
  keyspace.unownedCount--;
  keyspace.everGranted = true;
  startLease(state, scope, session, slot);
  noteHold(session, scope, "granted", slot.record);
  return { before, after: slot.record };
}

/**
 * Ends the present owner's lease. The range keeps its epoch and its successor. When the lease has
 * run out and a newer process of the owner's node waits for that, the range is intended for it.
 */
export function endOwnership(
  state: ShardState,
  scope: EntryScope,
  slot: RangeSlot,
  why: "released" | "expired" | "restarted",
): RecordChange {
  const before = slot.record;
  const session = sessionOf(state, slot);
  session.held.get(before.keyspaceId)?.delete(before.startKey);
  const isAwaited = why === "expired" && isSuperseded(state, session);
  const intendedNodeId = isAwaited ? session.nodeId : undefined;
  if (isAwaited) countIntended(state, session.nodeId, 1);
  const descriptorRevision = scope.revision;
  const after: RangeRecord = { ...before, owner: undefined, intendedNodeId, descriptorRevision };
  changeSlot(state, slot, { record: after });
  keyspaceOf(state, slot).unownedCount++;
  // Of a session that is over nobody asks any more.
  if (why !== "restarted") noteHold(session, scope, why, before);
  return { before, after: slot.record };
}

/**
 * Grants ranges that have just lost their owner to their recorded successors, as far as those are
 * still alive; the others' records are dropped (laws 9 and 12).
 */
export function grantToSuccessors(
  state: ShardState,
  scope: EntryScope,
  slots: readonly RangeSlot[],
): void {
  const granted: RecordChange[] = [];
  const lifted: RecordChange[] = [];
  let keyspaceId: number | undefined;
  const flush = (): void => {
    if (keyspaceId === undefined) return;
    scope.emit("successorLifted", keyspaceId, lifted.splice(0));
    scope.emit("granted", keyspaceId, granted.splice(0));
  };
  for (const slot of slots) {
    const { successor } = slot.record;
    if (successor === undefined) continue;
    if (slot.record.keyspaceId !== keyspaceId) flush();
    keyspaceId = slot.record.keyspaceId;
    const session = liveSuccessor(state, successor);
    if (session === undefined) lifted.push(changeSuccessor(state, slot, undefined));
    else granted.push(grantRange(state, scope, slot, session));
  }
  flush();
}

/**
 * Records who is next, and whether the owner is asked to hand over. From now on renewals no longer
 * extend the present lease (law 8).
 */
export function setSuccessor(
  state: ShardState,
  scope: EntryScope,
  slot: RangeSlot,
  { successor, handOver }: { readonly successor: Owner; readonly handOver: boolean },
): RecordChange {
  const session = sessionOf(state, slot);
  detach(state, session, slot);
  const handOverRevision = handOver ? scope.revision : (0 as Revision);
  const change = changeSuccessor(state, slot, successor, handOverRevision);
  noteHold(session, scope, "successorSet", slot.record);
  return change;
}

/** Takes the successor back. Renewals from now on extend the lease again. */
export function liftSuccessor(state: ShardState, scope: EntryScope, slot: RangeSlot): RecordChange {
  const session = sessionOf(state, slot);
  detach(state, session, slot);
  const change = changeSuccessor(state, slot, undefined);
  noteHold(session, scope, "successorLifted", slot.record);
  return change;
}

/** Two processes were found to be its incarnation: nothing is granted to it or given up by it. */
export function isClosed(state: ShardState, { nodeId, incarnation }: Owner): boolean {
  const newest = state.incarnations.get(nodeId);
  return newest?.incarnation === incarnation && newest.isClosed;
}

/** A newer incarnation of its node waits for its end; nothing more is granted to it. */
export function isSuperseded(state: ShardState, session: Session): boolean {
  return state.timeMs < session.supersededUntilMs;
}

/** The session to which a range may be granted that was recorded for it. */
export function liveSuccessor(state: ShardState, successor: Owner): Session | undefined {
  const session = liveSession(state, successor);
  return session !== undefined && isClosed(state, session) ? undefined : session;
}

/** The open session of exactly this incarnation. */
export function liveSession(state: ShardState, owner: Owner): Session | undefined {
  const session = state.sessions.get(owner.nodeId);
  return session?.incarnation === owner.incarnation ? session : undefined;
}

export function ownerOf(session: Session): Owner {
  return { nodeId: session.nodeId, incarnation: session.incarnation };
}

/** A new keyspace, without ranges yet. */
export function newKeyspace(state: ShardState, terms: KeyspaceTerms): Keyspace {
  const keyspace: Keyspace = {
    terms,
    ranges: bytesMap(),
    everGranted: false,
    unownedCount: 0,
    importedBy: undefined,
  };
  state.keyspaces.set(terms.keyspaceId, keyspace);
  return keyspace;
}

/**
 * Puts a finished draft in the place of the whole map of a keyspace in which nothing was ever
 * granted. The old ranges' ids are retired.
 */
export function publishMap(
  state: ShardState,
  scope: EntryScope,
  keyspace: Keyspace,
  draft: MapDraft,
): RecordChange[] {
  assert(!keyspace.everGranted, "only a map without grants is replaced");
  const changes: RecordChange[] = [];
  for (const slot of keyspace.ranges.values()) {
    forgetIntended(state, slot.record);
    state.rangesById.delete(slot.record.rangeId);
    changes.push({ before: slot.record, after: undefined });
  }
  for (const record of draft.finish(scope.revision)) {
    changes.push({ before: undefined, after: record });
  }
  for (const slot of draft.ranges.values()) state.rangesById.set(slot.record.rangeId, slot);
  for (const [nodeId, count] of draft.intendedCounts.entries()) {
    countIntended(state, nodeId, count);
  }
  keyspace.ranges = draft.ranges;
  keyspace.unownedCount = draft.rowCount;
  return changes;
}

/** Grants every unowned range that is intended for the session's node. */
export function grantIntended(state: ShardState, scope: EntryScope, session: Session): number {
  const { nodeId } = session;
  const count = state.intendedCounts.get(nodeId) ?? 0;
  const slots: RangeSlot[] = [];
  for (const keyspace of count === 0 ? [] : state.keyspaces.values()) {
    for (const slot of keyspace.ranges.values()) {
      if (slot.record.intendedNodeId === nodeId) slots.push(slot);
      if (slots.length === count) break;
    }
  }
  return grantAll(state, scope, session, slots);
}

/** Grants unowned ranges to one session, and answers how many there were. */
export function grantAll(
  state: ShardState,
  scope: EntryScope,
  session: Session,
  slots: readonly RangeSlot[],
): number {
  const byKeyspace = numberMap<number, RecordChange[]>();
  for (const slot of slots) {
    const { keyspaceId } = slot.record;
    const changes = byKeyspace.get(keyspaceId) ?? [];
    changes.push(grantRange(state, scope, slot, session));
    byKeyspace.set(keyspaceId, changes);
  }
  for (const [keyspaceId, changes] of byKeyspace.entries()) {
    scope.emit("granted", keyspaceId, changes);
  }
  return slots.length;
}

function changeSuccessor(
  state: ShardState,
  slot: RangeSlot,
  successor: Owner | undefined,
  handOverRevision: Revision = 0 as Revision,
): RecordChange {
  const before = slot.record;
  changeSlot(state, slot, { record: { ...before, successor, handOverRevision } });
  return { before, after: slot.record };
}

function forgetIntended(state: ShardState, record: RangeRecord): void {
  const { intendedNodeId } = record;
  if (intendedNodeId === undefined) return;
  countIntended(state, intendedNodeId, -1);
}

function countIntended(state: ShardState, nodeId: string, more: number): void {
  const count = (state.intendedCounts.get(nodeId) ?? 0) + more;
  assert(count >= 0, "intended ranges are counted");
  if (count === 0) state.intendedCounts.delete(nodeId);
  else state.intendedCounts.set(nodeId, count);
}

/** Adds to the session's change list, which is cut at its bound by whole revisions. */
function noteHold(
  session: Session,
  scope: EntryScope,
  kind: HoldChange["kind"],
  range: RangeRecord,
): void {
  if (session.changesFloor >= scope.revision) return;
  session.changes.push({ revision: scope.revision, kind, range });
  if (session.changes.length <= HOLD_CHANGES_MAX) return;
  const keptFrom = session.changes[session.changes.length >> 1] as HoldChange;
  const floor = keptFrom.revision;
  session.changes = session.changes.filter((change) => change.revision > floor);
  session.changesFloor = floor as Revision;
}
