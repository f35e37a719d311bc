/**
 * The invariants of a metadata shard, by their numbers in SPEC.md. Checked after every entry of
 * every test; a broken one is a bug and throws. The delta checks compare with a picture that was
 * taken before the entry.
 */

import { assert, defined } from "../../base/assert.ts";
import { GRACE_MS } from "../../base/lease-timing.ts";
import { bytesEqual, bytesToHex, compareBytes } from "../../base/bytes.ts";
import { isValidSpan } from "../../base/span.ts";
import {
  flawOfMemory,
  lossOfMemory,
  type MemoryPicture,
  pictureOfMemory,
} from "../common/request-checks.ts";
import type { ShardResult } from "./answers.ts";
import { nextDueMs } from "./due.ts";
import type { RecordChange, ShardEvent } from "./events.ts";
import { effectiveMs, type Grace, outlasts } from "./grace.ts";
import { deadlineMs, latestOf, sessionOf } from "./leases.ts";
import { isClosed } from "./ranges.ts";
import type { Keyspace, NewestIncarnation, Session, ShardState } from "./state.ts";
import { type Owner, type RangeRecord, type RangeSlot, sameOwner } from "./types.ts";

/** The state before an entry, as far as the delta checks look at it. */
export interface ShardPicture {
  readonly revision: number;
  readonly timeMs: number;
  readonly grace: Grace;
  readonly requests: MemoryPicture<ShardResult>;
  /** By range id. */
  readonly ranges: ReadonlyMap<string, RangePicture>;
  /** By node id. */
  readonly incarnations: ReadonlyMap<string, NewestIncarnation>;
}

export interface RangePicture {
  readonly record: RangeRecord;
  /** undefined without an owner. */
  readonly lease: LeasePicture | undefined;
}

/** When a lease ends as things stand, and the latest that graces may move that to. */
interface LeasePicture {
  readonly endMs: number;
  readonly capMs: number;
}

export function pictureOfShard(state: ShardState): ShardPicture {
  const ranges = new Map<string, RangePicture>();
  for (const [rangeId, slot] of state.rangesById) {
    const isOwned = slot.record.owner !== undefined;
    const lease = isOwned ? leasePicture(state, slot) : undefined;
    ranges.set(rangeId, { record: slot.record, lease });
  }
  const { revision, timeMs, grace } = state;
  const incarnations = new Map(state.incarnations.entries());
  const requests = pictureOfMemory(state.requests);
  return { revision, timeMs, grace, requests, ranges, incarnations };
}

function leasePicture(state: ShardState, slot: RangeSlot): LeasePicture {
  const { capMs } = latestOf(sessionOf(state, slot), slot);
  return { endMs: deadlineMs(state, slot), capMs };
}

export function checkShard(state: ShardState): void {
  let rangeCount = 0;
  const intended = new Map<string, number>();
  for (const keyspace of state.keyspaces.values()) {
    rangeCount += keyspace.ranges.size;
    checkTiling(keyspace);
    checkRanges(state, keyspace, intended);
  }
  assert(rangeCount === state.rangesById.size, "MS2: every range is found by its id");
  assert(intended.size === state.intendedCounts.size, "MS7: intended ranges are counted");
  for (const [nodeId, count] of intended) {
    assert(state.intendedCounts.get(nodeId) === count, "MS7: intended ranges are counted");
  }
  for (const session of state.sessions.values()) checkSession(state, session);
  for (const staging of state.imports.values()) {
    assert(staging.deadlineMs > state.timeMs, "MS5: no staged import is overdue");
  }
  const flaw = flawOfMemory(state.requests, state.revision);
  assert(flaw === undefined, `MS20: ${flaw}`);
}

function checkTiling(keyspace: Keyspace): void {
  let expected: Uint8Array | undefined = new Uint8Array(0);
  for (const [startKey, { record }] of keyspace.ranges.entries()) {
    assert(bytesEqual(startKey, record.startKey), "MS1: a range is found at its start");
    assert(isValidSpan(record), "MS1: no range is empty");
    const meets = expected !== undefined && bytesEqual(expected, startKey);
    assert(meets, "MS1: a range starts where the one before ends");
    expected = record.endKey;
  }
  assert(expected === undefined, "MS1: the last range ends at +inf");
}

function checkRanges(state: ShardState, keyspace: Keyspace, intended: Map<string, number>): void {
  let unowned = 0;
  for (const slot of keyspace.ranges.values()) {
    const { record } = slot;
    const { rangeId, epoch, acceptedEpoch, descriptorRevision, owner, successor } = record;
    assert(state.rangesById.get(rangeId) === slot, "MS2: a range is found by its id");
    assert(acceptedEpoch <= epoch, "MS3: only an epoch that was granted is accepted");
    assert(epoch <= descriptorRevision, "MS3: a grant changes the descriptor");
    assert(descriptorRevision <= state.revision, "MS3: revisions are of the past");
    assert(epoch === 0 || keyspace.everGranted, "MS7: a grant is remembered");
    if (record.intendedNodeId !== undefined) {
      assert(owner === undefined, "MS9: an intended range is unowned");
      const session = state.sessions.get(record.intendedNodeId);
      const isAbsent = session === undefined || session.supersededUntilMs > 0;
      const isOver = isAbsent || isClosed(state, session);
      assert(isOver, "MS9: an intended owner is not here, or only a process before it");
      intended.set(record.intendedNodeId, (intended.get(record.intendedNodeId) ?? 0) + 1);
    }
    const asked = record.handOverRevision;
    if (asked !== 0) {
      assert(successor !== undefined, "MS22: a range is handed over to a successor");
      assert(asked > epoch && asked <= state.revision, "MS22: the present owner was asked");
    }
    if (owner === undefined) {
      unowned++;
      assert(successor === undefined, "MS8: an unowned range waits for nobody");
      continue;
    }
    assert(!sameOwner(owner, successor), "MS8: nobody succeeds itself");
    const session = state.sessions.get(owner.nodeId);
    assert(session?.incarnation === owner.incarnation, "MS4: an owner's session is open");
    const held = session.held.get(record.keyspaceId)?.get(record.startKey);
    assert(held === slot, "MS4: an owned range is listed as held");
    const deadline = deadlineMs(state, slot);
    assert(deadline > state.timeMs, "MS5: no lease is overdue");
    const due = nextDueMs(state);
    assert(due !== undefined && due <= deadline, "MS5: a reminder comes in time");
  }
  assert(unowned === keyspace.unownedCount, "MS7: unowned ranges are counted");
}

function checkSession(state: ShardState, session: Session): void {
  const newest = state.incarnations.get(session.nodeId);
  assert(
    newest?.incarnation === session.incarnation,
    "MS18: a session is the newest incarnation's",
  );
  assert(session.standings.size > 0, "MS4: a session has a standing");
  for (const standing of session.standings.values()) {
    const deadline = effectiveMs(standing, state.grace);
    assert(deadline > state.timeMs, "MS5: no standing is overdue");
    assert(standing.deadlineMs <= standing.capMs, "MS6: no deadline is beyond its cap");
    const due = nextDueMs(state);
    assert(due !== undefined && due <= deadline, "MS5: a reminder comes in time");
  }
  for (const [keyspaceId, held] of session.held.entries()) {
    const standing = session.standings.get(keyspaceId);
    for (const [startKey, slot] of held.entries()) {
      assert(standing !== undefined, "MS4: what is held has a standing");
      const { record } = slot;
      const isListed = bytesEqual(startKey, record.startKey) && record.keyspaceId === keyspaceId;
      assert(isListed, "MS4: what is held is listed at its start");
      assert(sameOwner(record.owner, session), "MS4: what is held is owned");
      const lease = latestOf(session, slot);
      assert(lease.deadlineMs <= lease.capMs, "MS6: no deadline is beyond its cap");
      assert(outlasts(standing, lease), "MS6: a standing outlasts leases, whatever the grace");
    }
  }
  let last = session.changesFloor as number;
  for (const { revision } of session.changes) {
    assert(revision >= last && revision > session.changesFloor, "MS10: changes are in order");
    last = revision;
  }
  assert(last <= state.revision, "MS10: changes are of the past");
}

/** What the entry was, and what its own command may have done to leases that still run. */
export interface EntryFacts {
  /** A leader's noop. */
  readonly isNoop: boolean;
  /** Whose sessions it renewed. */
  readonly renewedNodeIds: ReadonlySet<string>;
  readonly releasedRangeIds: ReadonlySet<string>;
  /** By node: all its incarnations from this one on but the one that opens are proven dead. */
  readonly provenSince: ReadonlyMap<string, number>;
}

export function checkShardDelta(
  before: ShardPicture,
  state: ShardState,
  events: readonly ShardEvent[],
  facts: EntryFacts,
): void {
  assert(state.revision === before.revision + 1, "MS11: the revision goes up by one");
  assert(state.timeMs >= before.timeMs, "MS11: log time never goes back");
  const { untilMs } = state.grace;
  const wanted = facts.isNoop ? state.timeMs + GRACE_MS : before.grace.untilMs;
  assert(untilMs === wanted, "MS17: a leader's noop gives grace, nothing else");
  assert(untilMs >= before.grace.untilMs, "MS17: and never takes it back");
  const loss = lossOfMemory(before.requests, state.requests);
  assert(loss === undefined, `MS21: ${loss}`);
  checkEvents(before, state, events);
  for (const [rangeId, earlier] of before.ranges) {
    const slot = state.rangesById.get(rangeId);
    if (slot === undefined) continue;
    checkEpoch(earlier.record, slot.record, state.revision);
    checkLease(before, earlier, state, { rangeId, facts });
    const isGranted = slot.record.epoch !== earlier.record.epoch;
    const mayBeGranted = !wasClosed(before, slot.record.owner);
    assert(!isGranted || mayBeGranted, "MS19: a closed incarnation is granted nothing");
  }
  checkKeys(before, state);
  checkIncarnations(before, state);
}

function wasClosed(before: ShardPicture, owner: Owner | undefined): boolean {
  const known = owner && before.incarnations.get(owner.nodeId);
  return known?.incarnation === owner?.incarnation && known?.isClosed === true;
}

function checkIncarnations(before: ShardPicture, state: ShardState): void {
  for (const [nodeId, earlier] of before.incarnations) {
    const now = state.incarnations.get(nodeId);
    assert(now !== undefined, "MS18: incarnations are remembered for good");
    assert(now.incarnation >= earlier.incarnation, "MS18: an older one never opens a session");
    if (now.incarnation !== earlier.incarnation) continue;
    assert(now.isClosed || !earlier.isClosed, "MS19: what is closed stays closed");
    const sequence = now.lastRenewal?.sequence ?? 0;
    assert(sequence >= (earlier.lastRenewal?.sequence ?? 0), "MS19: renewals never go back");
  }
}

/**
 * The events, replayed on the ranges before, give the ranges after. Only they show what an entry
 * did to a range in between.
 */
function checkEvents(before: ShardPicture, state: ShardState, events: readonly ShardEvent[]): void {
  const replayed = new Map<string, RangeRecord>();
  for (const [rangeId, { record }] of before.ranges) replayed.set(rangeId, record);
  const granted = new Set<string>();
  for (const { changes } of events) {
    for (const change of changes) {
      const { rangeId } = defined(change.before ?? change.after, "MS14: a change has a record");
      assert(replayed.get(rangeId) === change.before, "MS14: a change starts from what was");
      if (isGrant(change)) {
        assert(!granted.has(rangeId), "MS12: an entry grants a range once, or epochs are shared");
        granted.add(rangeId);
      }
      if (change.after === undefined) replayed.delete(rangeId);
      else replayed.set(rangeId, change.after);
    }
  }
  assert(replayed.size === state.rangesById.size, "MS14: events tell of every range");
  for (const [rangeId, record] of replayed) {
    assert(state.rangesById.get(rangeId)?.record === record, "MS14: events tell every change");
  }
}

/** Of a range, to whomever: its epoch or its owner is new. */
function isGrant({ before, after }: RecordChange): boolean {
  if (after?.owner === undefined) return false;
  return before?.epoch !== after.epoch || !sameOwner(before.owner, after.owner);
}

function checkEpoch(earlier: RangeRecord, now: RangeRecord, revision: number): void {
  const isGranted = now.epoch !== earlier.epoch;
  if (isGranted) {
    assert(now.epoch > earlier.epoch, "MS12: an epoch never goes down");
    assert(now.epoch === (revision as number), "MS12: an epoch is the grant's revision");
    assert(now.owner !== undefined, "MS12: a granted range has an owner");
  } else if (!sameOwner(earlier.owner, now.owner)) {
    assert(now.owner === undefined, "MS12: a new owner has a new epoch");
  }
  const isCachedChange =
    isGranted ||
    !sameOwner(earlier.owner, now.owner) ||
    now.replicas !== earlier.replicas ||
    compareBytes(earlier.startKey, now.startKey) !== 0;
  const expected = isCachedChange ? revision : earlier.descriptorRevision;
  assert(
    now.descriptorRevision === expected,
    "MS13: a descriptor revision changes with what clients cache, and with nothing else",
  );
}

function checkLease(
  before: ShardPicture,
  earlier: RangePicture,
  state: ShardState,
  { rangeId, facts }: { readonly rangeId: string; readonly facts: EntryFacts },
): void {
  const { lease, record } = earlier;
  const { owner } = record;
  if (owner === undefined || lease === undefined) return;
  const slot = defined(state.rangesById.get(rangeId), "the caller has looked");
  if (sameOwner(owner, slot.record.owner) && slot.record.epoch === record.epoch) {
    const now = leasePicture(state, slot);
    assert(now.endMs >= lease.endMs, "MS16: a deadline never goes back");
    if (facts.renewedNodeIds.has(owner.nodeId) && !wasClosed(before, owner)) return;
    assert(now.capMs <= lease.capMs, "MS16: only a renewal moves a cap");
    const isGraced = facts.isNoop && now.endMs <= Math.min(state.grace.untilMs, lease.capMs);
    assert(now.endMs === lease.endMs || isGraced, "MS16: only a renewal or grace moves a deadline");
    return;
  }
  const isOver = lease.endMs <= state.timeMs;
  const isDead = owner.incarnation >= (facts.provenSince.get(owner.nodeId) ?? Infinity);
  const mayEndEarly = isDead || facts.releasedRangeIds.has(rangeId);
  const mayEnd = isOver || (mayEndEarly && !wasClosed(before, owner));
  assert(mayEnd, "MS15: no running lease is cut short");
}

/** Law 3 holds for keys, whatever ranges they were in. */
function checkKeys(before: ShardPicture, state: ShardState): void {
  for (const { record: earlier } of before.ranges.values()) {
    const found = state.keyspaces.get(earlier.keyspaceId)?.ranges.floor(earlier.startKey);
    assert(found !== undefined, "MS1: every key has a range");
    const [, { record: now }] = found;
    const key = bytesToHex(earlier.startKey);
    assert(now.epoch >= earlier.epoch, `MS12: the epoch of key ${key} never goes down`);
  }
}
