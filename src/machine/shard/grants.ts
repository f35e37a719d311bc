/**
 * Grants, acceptances and releases of ranges, and recorded successors (laws 3, 5, 6, 12, 17).
 */

import type { GrantOutcome, RangeOutcome, Refused, ShardResult } from "./answers.ts";
import { refused } from "./answers.ts";
import { defined } from "../../base/assert.ts";
import { compareBytes } from "../../base/bytes.ts";
import type {
  Accept,
  Grant,
  GrantItem,
  RangeEpoch,
  Release,
  WithdrawSuccessor,
} from "./commands.ts";
import type { RecordChange } from "./events.ts";
import { durationOf, remainingMs } from "./leases.ts";
import {
  endOwnership,
  grantRange,
  grantToSuccessors,
  isClosed,
  isSuperseded,
  liftSuccessor,
  liveSession,
  liveSuccessor,
  ownerOf,
  setSuccessor,
} from "./ranges.ts";
import { changeSlot } from "./slots.ts";
import type { EntryScope, Session, ShardState } from "./state.ts";
import type { RangeRecord, RangeSlot } from "./types.ts";
import { type Owner, sameOwner } from "./types.ts";

/** One item of a grant, judged: what it will do, or why it will not. */
interface Plan {
  readonly slot: RangeSlot;
  readonly session: Session;
  readonly kind: GrantOutcome["kind"];
}

/** All items are judged before the first one is carried out, so that a refusal changes nothing. */
export function grantRanges(state: ShardState, scope: EntryScope, command: Grant): ShardResult {
  const plans: Plan[] = [];
  const seen = new Set<string>();
  for (const [position, item] of command.items.entries()) {
    if (seen.has(item.rangeId)) return refused("repeatedRange", item.rangeId, { item: position });
    seen.add(item.rangeId);
    const plan = judgeItem(state, item, command.onlyUnowned);
    if ("reason" in plan) return { ...plan, item: position };
    plans.push(plan);
  }
  return { kind: "grantsDone", outcomes: carryOut(state, scope, plans, command.handOver) };
}

function judgeItem(state: ShardState, item: GrantItem, onlyUnowned: boolean): Plan | Refused {
  const slot = state.rangesById.get(item.rangeId);
  if (slot === undefined) return refused("rangeNotFound", item.rangeId);
  const unexpected = judgeExpected(slot, item);
  if (unexpected !== undefined) return unexpected;
  const session = state.sessions.get(item.nodeId);
  if (session === undefined) return refused("noSession", item.nodeId);
  if (item.incarnation !== undefined && item.incarnation !== session.incarnation) {
    const isOld = item.incarnation < session.incarnation;
    return refused(isOld ? "staleIncarnation" : "noSession", item.nodeId);
  }
  const { owner, successor } = slot.record;
  const target = ownerOf(session);
  if (owner !== undefined && sameOwner(owner, target)) {
    return { slot, session, kind: "alreadyOwner" };
  }
  if (isClosed(state, session)) return refused("sessionClosed", item.nodeId);
  if (isSuperseded(state, session)) return refused("staleIncarnation", item.nodeId);
  if (owner === undefined) return { slot, session, kind: "granted" };
  const details = { range: slot.record, waitMs: remainingMs(state, slot) };
  if (onlyUnowned) return refused("leaseHeld", item.rangeId, details);
  if (successor !== undefined && !sameOwner(successor, target)) {
    return refused("successorRecorded", item.rangeId, details);
  }
  return { slot, session, kind: "successorRecorded" };
}

/** The caller's picture of the range must be the present one (law 5). */
function judgeExpected(
  slot: RangeSlot,
  expected: Pick<GrantItem, "rangeId" | "expectedEpoch" | "expectedDescriptorRevision">,
): Refused | undefined {
  const { record } = slot;
  const details = { range: record };
  if (expected.expectedEpoch < record.epoch) {
    return refused("staleEpoch", expected.rangeId, details);
  }
  if (expected.expectedEpoch > record.epoch) {
    return refused("epochAhead", expected.rangeId, details);
  }
  if (expected.expectedDescriptorRevision !== record.descriptorRevision) {
    return refused("staleDescriptor", expected.rangeId, details);
  }
  return undefined;
}

function carryOut(
  state: ShardState,
  scope: EntryScope,
  plans: readonly Plan[],
  handOver: boolean,
): GrantOutcome[] {
  const granted = new ChangesByKeyspace();
  const successors = new ChangesByKeyspace();
  for (const { slot, session, kind } of plans) {
    if (kind === "granted") {
      granted.add(grantRange(state, scope, slot, session));
    } else if (kind === "successorRecorded" && isNews(slot.record, session, handOver)) {
      successors.add(setSuccessor(state, scope, slot, { successor: ownerOf(session), handOver }));
    }
  }
  granted.emit(scope, "granted");
  successors.emit(scope, "successorSet");
  return plans.map(({ slot, kind }) => ({
    kind,
    range: slot.record,
    leaseDurationMs: durationOf(state, slot.record.keyspaceId),
    waitMs: kind === "successorRecorded" ? remainingMs(state, slot) : 0,
  }));
}

/** An owner that was asked to hand over to this successor is not asked again, nor told to wait. */
function isNews(
  { successor, handOverRevision }: RangeRecord,
  session: Session,
  handOver: boolean,
): boolean {
  const isRecorded = sameOwner(successor, ownerOf(session));
  return !isRecorded || (handOver && handOverRevision === 0);
}

/** Takes a recorded successor back; the present owner's renewals count again from here on. */
export function withdrawSuccessor(
  state: ShardState,
  scope: EntryScope,
  command: WithdrawSuccessor,
): ShardResult {
  const slot = state.rangesById.get(command.rangeId);
  if (slot === undefined) return refused("rangeNotFound", command.rangeId);
  const unexpected = judgeExpected(slot, command);
  if (unexpected !== undefined) return unexpected;
  if (slot.record.successor === undefined) {
    return refused("noSuccessor", command.rangeId, { range: slot.record });
  }
  scope.emit("successorLifted", slot.record.keyspaceId, [liftSuccessor(state, scope, slot)]);
  return { kind: "successorWithdrawn", range: slot.record };
}

export function acceptRanges(state: ShardState, scope: EntryScope, command: Accept): ShardResult {
  const changes = new ChangesByKeyspace();
  const outcomes = command.ranges.map((named) =>
    judgeHeld(state, command, named, (slot) => {
      if (slot.record.acceptedEpoch === named.epoch) return;
      const before = slot.record;
      changeSlot(state, slot, { record: { ...before, acceptedEpoch: named.epoch } });
      changes.add({ before, after: slot.record });
      return undefined;
    }),
  );
  changes.emit(scope, "accepted");
  return { kind: "rangesJudged", outcomes };
}

/**
 * A released range goes to its recorded successor by this entry. One that is handed over is given
 * up only if its successor can have it: who asked may have changed his mind, or the successor may
 * have died, and then the owner serves on.
 */
export function releaseRanges(state: ShardState, scope: EntryScope, command: Release): ShardResult {
  const changes = new ChangesByKeyspace();
  const lifted = new ChangesByKeyspace();
  const vacated: RangeSlot[] = [];
  const outcomes = command.ranges.map((named) =>
    judgeHeld(state, command, named, (slot) => {
      const { successor, handOverRevision } = slot.record;
      if (named.handOverRevision !== 0) {
        if (named.handOverRevision !== handOverRevision) return "noSuccessor";
        if (successor === undefined || liveSuccessor(state, successor) === undefined) {
          lifted.add(liftSuccessor(state, scope, slot));
          return "noSuccessor";
        }
      }
      changes.add(endOwnership(state, scope, slot, "released"));
      vacated.push(slot);
      return undefined;
    }),
  );
  lifted.emit(scope, "successorLifted");
  changes.emit(scope, "released");
  grantToSuccessors(state, scope, vacated.toSorted(compareSlots));
  return { kind: "rangesJudged", outcomes };
}

/** Runs `act`, which may refuse, when exactly this incarnation holds it under this very epoch. */
function judgeHeld(
  state: ShardState,
  holder: Owner,
  named: RangeEpoch,
  act: (slot: RangeSlot) => RangeOutcome["refused"],
): RangeOutcome {
  const { rangeId } = named;
  const slot = state.rangesById.get(rangeId);
  if (slot === undefined) return { rangeId, refused: "notFound", currentEpoch: named.epoch };
  const currentEpoch = slot.record.epoch;
  if (named.epoch !== currentEpoch) return { rangeId, refused: "staleEpoch", currentEpoch };
  const { owner } = slot.record;
  const isHolder = owner !== undefined && sameOwner(owner, holderToOwner(holder));
  if (!isHolder || liveSession(state, owner) === undefined) {
    return { rangeId, refused: "notOwner", currentEpoch };
  }
  if (isClosed(state, owner)) return { rangeId, refused: "sessionClosed", currentEpoch };
  return { rangeId, refused: act(slot), currentEpoch };
}

function holderToOwner({ nodeId, incarnation }: Owner): Owner {
  return { nodeId, incarnation };
}

function compareSlots(a: RangeSlot, b: RangeSlot): number {
  return (
    a.record.keyspaceId - b.record.keyspaceId || compareBytes(a.record.startKey, b.record.startKey)
  );
}

/** Gathers changes so that each keyspace gets one event, in the order of first mention. */
class ChangesByKeyspace {
  readonly #changes = new Map<number, RecordChange[]>();
  readonly #order: number[] = [];

  add(change: RecordChange): void {
    const record = defined(change.after ?? change.before, "a change has a record");
    const { keyspaceId } = record;
    let changes = this.#changes.get(keyspaceId);
    if (changes === undefined) {
      changes = [];
      this.#changes.set(keyspaceId, changes);
      this.#order.push(keyspaceId);
    }
    changes.push(change);
  }

  emit(scope: EntryScope, cause: Parameters<EntryScope["emit"]>[0]): void {
    for (const keyspaceId of this.#order) {
      scope.emit(cause, keyspaceId, this.#changes.get(keyspaceId) ?? []);
    }
  }
}
