/**
 * Sessions, renewed as a whole and exact by range; they end with the last of their standings (laws
 * 8 and 11). How they are opened stands in restarts.ts.
 */

import type { HoldChange, LeaseTerm, RenewalAnswer, ShardResult } from "./answers.ts";
import type { ExceptedSpan, Renew, Renewal } from "./commands.ts";
import { defined } from "../../base/assert.ts";
import { compareBytes } from "../../base/bytes.ts";
import { bytesMap, type OrderedMap } from "../../base/ordered-map.ts";
import { spansOverlap } from "../../base/span.ts";
import { effectiveMs } from "./grace.ts";
import { judgePair } from "./renewal-pairs.ts";
import { detach, extend, nextLeaseOrder } from "./leases.ts";
import { BASE_KEYSPACE_ID, type EntryScope, type Session, type ShardState } from "./state.ts";
import type { RangeSlot } from "./types.ts";
import type { KeyspaceTerms } from "./types.ts";

/** How long the session lasts at most, in ms of log time. */
export function sessionRemainingMs(state: ShardState, session: Session): number {
  let deadline = 0;
  for (const standing of session.standings.values()) {
    deadline = Math.max(deadline, effectiveMs(standing, state.grace));
  }
  return Math.max(0, deadline - state.timeMs);
}

export function renewSessions(state: ShardState, scope: EntryScope, command: Renew): ShardResult {
  const answers = command.renewals.map((renewal) => renewSession(state, scope, renewal));
  return { kind: "renewed", answers };
}

/** Law 8, for one session, after law 13. What is due has ended before. */
function renewSession(state: ShardState, scope: EntryScope, renewal: Renewal): RenewalAnswer {
  const session = state.sessions.get(renewal.nodeId);
  if (session === undefined || session.incarnation !== renewal.incarnation) {
    return { kind: "noSession" };
  }
  const stopped = judgeLine(state, renewal);
  if (stopped !== undefined) return stopped;
  if (renewal.asOf > scope.revision) return { kind: "asOfAhead" };
  if (renewal.asOf < session.changesFloor) {
    return { kind: "viewTooOld", floor: session.changesFloor };
  }
  // The excepted ranges and the extension share one order: this renewal does not count for them.
  const order = nextLeaseOrder(state);
  for (const span of renewal.except) detachSpan(state, session, span, order);
  // A session has a standing wherever it holds a range, and the base one.
  const keyspaceIds = new Set([BASE_KEYSPACE_ID, ...session.standings.keys()]);
  const { asOf } = renewal;
  for (const keyspaceId of keyspaceIds) extend(state, scope, session, keyspaceId, { order, asOf });
  session.changes = session.changes.filter((change) => change.revision > asOf);
  session.changesFloor = asOf;
  const changes: readonly HoldChange[] = [...session.changes];
  return { kind: "extended", durations: termsOfStandings(state, session), changes };
}

/** Whether the renewal comes from the process whose renewals were applied before (law 13). */
function judgeLine(state: ShardState, renewal: Renewal): RenewalAnswer | undefined {
  const { nodeId, pair } = renewal;
  const line = defined(state.incarnations.get(nodeId), "a session's incarnation is known");
  if (line.isClosed) return { kind: "sessionClosed" };
  const last = line.lastRenewal;
  switch (judgePair(last, renewal)) {
    case "run":
      state.incarnations.set(nodeId, { ...line, lastRenewal: pair });
      return undefined;
    case "late":
      return { kind: "lateCopy", lastSequence: last?.sequence ?? 0 };
    case "otherProcess":
      state.incarnations.set(nodeId, { ...line, isClosed: true });
      return { kind: "sessionClosed" };
  }
}

function detachSpan(state: ShardState, session: Session, span: ExceptedSpan, order: number): void {
  const held = session.held.get(span.keyspaceId);
  if (held === undefined) return;
  const before = held.floor(span.startKey);
  if (before !== undefined && spansOverlap(before[1].record, span)) {
    detach(state, session, before[1], order);
  }
  for (const [startKey, slot] of held.entriesFrom(span.startKey)) {
    if (span.endKey !== undefined && compareBytes(startKey, span.endKey) >= 0) return;
    if (slot !== before?.[1]) detach(state, session, slot, order);
  }
}

/** The terms where the session has a standing: what a renewal has extended. */
function termsOfStandings(state: ShardState, session: Session): LeaseTerm[] {
  const terms: LeaseTerm[] = [];
  for (const keyspaceId of session.standings.keys()) {
    const keyspace = state.keyspaces.get(keyspaceId);
    if (keyspace !== undefined) terms.push(toLeaseTerm(keyspace.terms));
  }
  return terms;
}

export function toLeaseTerm(terms: KeyspaceTerms): LeaseTerm {
  return {
    keyspaceId: terms.keyspaceId,
    keyspace: terms.name,
    durationMs: terms.leaseDurationMs,
    renewIntervalMs: terms.renewIntervalMs,
  };
}

/** The ranges that a session holds in a keyspace, in key order. */
export function heldIn(session: Session, keyspaceId: number): OrderedMap<Uint8Array, RangeSlot> {
  return session.held.get(keyspaceId) ?? bytesMap<RangeSlot>();
}
