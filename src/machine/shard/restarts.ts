/**
 * Opening a session, and what becomes of the incarnations of the node before it (law 13): proven
 * dead, their leases end at once and go to the new one; otherwise it waits for that session to end.
 */

import { type LeaseTerm, refused, type Refused, type ShardResult } from "./answers.ts";
import type { OpenSession } from "./commands.ts";
import { type Revision, revisionToEpoch } from "../../base/brands.ts";
import { numberMap } from "../../base/ordered-map.ts";
import { extend, nextLeaseOrder } from "./leases.ts";
import { endOwnership, grantAll, grantIntended, grantToSuccessors } from "./ranges.ts";
import { sessionRemainingMs, toLeaseTerm } from "./sessions.ts";
import {
  BASE_DURATION_MS,
  BASE_KEYSPACE_ID,
  type EntryScope,
  type Session,
  type ShardState,
} from "./state.ts";
import type { RangeSlot } from "./types.ts";

/**
 * Opens a session. An older incarnation than has ever opened one here is refused for ever. A newer
 * one than the present ends that one's session at once if it is proven dead: its ranges go to their
 * recorded successors, and else to the new incarnation, by this entry and under new epochs. Without
 * a proof, or if that session was closed, it waits until the session has ended; ranges whose leases
 * end meanwhile become intended for the node, and the entry that opens the new one grants them.
 */
export function openSession(
  state: ShardState,
  scope: EntryScope,
  command: OpenSession,
): ShardResult {
  const { nodeId, incarnation } = command;
  const newest = state.incarnations.get(nodeId);
  if (newest !== undefined && incarnation < newest.incarnation) {
    return refused("staleIncarnation", nodeId);
  }
  const isAgain = newest?.incarnation === incarnation;
  if (isAgain && newest.isClosed) return refused("sessionClosed", nodeId);
  const present = state.sessions.get(nodeId);
  if (present?.incarnation === incarnation) {
    const durations = leaseTerms(state);
    return { kind: "sessionOpened", alreadyOpen: true, durations, grantedCount: 0 };
  }
  // One process of a closed incarnation may be dead, but there were two.
  const isDead = present !== undefined && present.incarnation >= command.provenSince;
  if (present !== undefined && (!isDead || newest?.isClosed === true)) {
    return waitFor(state, scope, present);
  }
  // As a successor it was granted something by this very entry, which can't be granted on under the
  // same epoch (law 3): by the next entry it can.
  if (present !== undefined && wasGrantedNow(scope, present)) {
    return { ...waitFor(state, scope, present), waitMs: 0 };
  }
  const inherited = present === undefined ? [] : endRestarted(state, scope, present);
  const session: Session = {
    nodeId,
    incarnation,
    openedRevision: scope.revision,
    addresses: command.addresses,
    supersededUntilMs: 0,
    standings: numberMap(),
    held: numberMap(),
    changes: [],
    // Before its first session it held nothing: that view is complete, too. But not before a second
    // one, by whose very entry the first may have ended, ranges and all.
    changesFloor: isAgain ? scope.revision : ((scope.revision - 1) as Revision),
  };
  state.sessions.set(nodeId, session);
  if (!isAgain) {
    state.incarnations.set(nodeId, { incarnation, lastRenewal: undefined, isClosed: false });
  }
  const order = nextLeaseOrder(state);
  extend(state, scope, session, BASE_KEYSPACE_ID, { order, asOf: scope.revision });
  const grantedCount =
    grantAll(state, scope, session, inherited) + grantIntended(state, scope, session);
  const durations = leaseTerms(state);
  return { kind: "sessionOpened", alreadyOpen: false, durations, grantedCount };
}

/**
 * While one waits (it comes back after the time that it is told), the older keeps what it has and
 * gets what it was recorded for before, no more: grants to a dead process would keep its session,
 * and the new one waiting, for as long as they go on.
 */
function waitFor(state: ShardState, scope: EntryScope, present: Session): Refused {
  const waitMs = sessionRemainingMs(state, present);
  present.supersededUntilMs = scope.timeMs + waitMs + BASE_DURATION_MS;
  return refused("sessionLive", present.nodeId, { waitMs });
}

function wasGrantedNow(scope: EntryScope, { held }: Session): boolean {
  for (const slots of held.values()) {
    for (const { record } of slots.values()) {
      if (record.epoch === revisionToEpoch(scope.revision)) return true;
    }
  }
  return false;
}

/**
 * Ends the session of an incarnation that is proven dead, and all its leases, whose time has not
 * run out: nobody serves under them. Answers the ranges that no successor was waiting for.
 */
function endRestarted(state: ShardState, scope: EntryScope, dead: Session): RangeSlot[] {
  const vacated: RangeSlot[] = [];
  for (const [keyspaceId, held] of dead.held.entries()) {
    const slots = [...held.values()];
    const changes = slots.map((slot) => endOwnership(state, scope, slot, "restarted"));
    scope.emit("restarted", keyspaceId, changes);
    vacated.push(...slots);
  }
  state.sessions.delete(dead.nodeId);
  grantToSuccessors(state, scope, vacated);
  return vacated.filter((slot) => slot.record.owner === undefined);
}

/** The terms of every keyspace, in force at this entry. */
function leaseTerms(state: ShardState): LeaseTerm[] {
  return [...state.keyspaces.values()].map(({ terms }) => toLeaseTerm(terms));
}
