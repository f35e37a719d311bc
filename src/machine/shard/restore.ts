/**
 * Builds a shard's state from the records of a snapshot, and with it what is derived: ids, held
 * ranges, reminders, counters. Records that no state can have are refused by the invariant that
 * they break (SPEC.md), so that what was restored can be applied to like any other state.
 */

import { defined } from "../../base/assert.ts";
import { GRACE_MS } from "../../base/lease-timing.ts";
import { type Bytes, compareBytes } from "../../base/bytes.ts";
import { bytesMap, numberMap } from "../../base/ordered-map.ts";
import type { StateBuilder } from "../common/record-restore.ts";
import type { SnapshotPosition } from "../common/snapshot-form.ts";
import type { HoldChange } from "./answers.ts";
import { type Deadline, effectiveMs, outlasts } from "./grace.ts";
import { deadlineMs, latestOf, remindOfStanding, resumeLease } from "./leases.ts";
import { type DraftRow, MapDraft, NO_REPLICAS } from "./map-draft.ts";
import { isClosed, liveSession, ownerOf } from "./ranges.ts";
import type { Keyspace, Session, ShardState, Staging } from "./state.ts";
import {
  FOLLOWS,
  LAST_KINDS,
  type StoredFields,
  type StoredImport,
  type StoredKeyspace,
  type StoredKind,
  type StoredRange,
  type StoredShard,
  type StoredStanding,
} from "./stored.ts";
import { type Owner, type RangeRecord, type RangeSlot, sameOwner } from "./types.ts";

export class ShardBuilder implements StateBuilder<StoredShard> {
  readonly #state: ShardState;
  readonly #install: (state: ShardState) => void;
  /** One object for each owner: most ranges have one of a few. */
  readonly #owners = new Map<Session, Owner>();
  #last: StoredKind | undefined;
  /** A range whose end is not known yet: it is where the next one begins. */
  #pending: StoredRange | undefined;

  constructor(empty: ShardState, install: (state: ShardState) => void) {
    this.#state = empty;
    this.#install = install;
  }

  begin({ revision, timeMs }: SnapshotPosition): void {
    this.#state.revision = revision;
    this.#state.timeMs = timeMs;
  }

  take(stored: StoredShard): string | undefined {
    if (!FOLLOWS[stored.kind].includes(this.#last)) return "a record is out of order";
    this.#last = stored.kind;
    const wrong = stored.kind === "range" ? undefined : this.#addPending(undefined);
    return wrong ?? this.#add(stored);
  }

  end(): string | undefined {
    if (this.#last === undefined || !LAST_KINDS.includes(this.#last)) return "records are missing";
    const { sessions, keyspaces } = this.#state;
    for (const { standings } of sessions.values()) {
      for (const keyspaceId of standings.keys()) {
        const isKnown = keyspaceId === 0 || keyspaces.has(keyspaceId);
        if (!isKnown) return "a standing's keyspace is missing";
      }
    }
    return this.#addPending(undefined);
  }

  install(): void {
    this.#install(this.#state);
  }

  #add(stored: StoredShard): string | undefined {
    const { incarnations, sessions, imports, requests } = this.#state;
    switch (stored.kind) {
      case "fields":
        return this.#setFields(stored);
      case "incarnation":
        if (!isAbove(incarnations.last()?.[0], stored.nodeId)) return "incarnations: order";
        incarnations.set(stored.nodeId, {
          incarnation: stored.incarnation,
          lastRenewal: stored.lastRenewal,
          isClosed: stored.isClosed,
        });
        return undefined;
      case "session":
        return this.#addSession(stored);
      case "standing":
        return this.#addStanding(lastOf(sessions), stored);
      case "change":
        return this.#addChange(lastOf(sessions), stored.change);
      case "keyspace":
        return this.#addKeyspace(stored);
      case "range":
        return this.#addRange(stored);
      case "import":
        return this.#addImport(stored);
      case "row":
        return this.#addRow(lastOf(imports), stored);
      case "floor":
      case "client":
      case "answer":
        return requests.restore(stored, this.#state);
    }
  }

  #setFields({ leaseOrder, grace }: StoredFields): string | undefined {
    const { timeMs } = this.#state;
    const isOfThePast = grace.fromMs <= timeMs && grace.untilMs <= timeMs + GRACE_MS;
    if (!isOfThePast || grace.fromMs > grace.untilMs) return "MS17: a noop of the past gave grace";
    this.#state.leaseOrder = leaseOrder;
    this.#state.grace = grace;
    return undefined;
  }

  #addSession(stored: Extract<StoredShard, { readonly kind: "session" }>): string | undefined {
    const { kind: _, ...fields } = stored;
    const { sessions, revision } = this.#state;
    const { nodeId, incarnation, changesFloor } = fields;
    if (!isAbove(sessions.last()?.[0], nodeId)) return "sessions: order";
    const isNewest = this.#state.incarnations.get(nodeId)?.incarnation === incarnation;
    if (!isNewest) return "MS18: a session is the newest incarnation's";
    if (changesFloor > revision) return "MS10: changes are of the past";
    sessions.set(nodeId, { ...fields, standings: numberMap(), held: numberMap(), changes: [] });
    return undefined;
  }

  #addStanding(session: Session, stored: StoredStanding): string | undefined {
    const { keyspaceId, deadlineMs: deadline, capMs, extensions } = stored;
    if (keyspaceId <= (session.standings.last()?.[0] ?? -1)) return "standings: order";
    if ([stored, ...extensions].some(isOverCap)) return "MS6: no deadline is beyond its cap";
    const endMs = effectiveMs(stored, this.#state.grace);
    if (endMs <= this.#state.timeMs) return "MS5: no standing is overdue";
    const standing = { keyspaceId, deadlineMs: deadline, capMs, extensions };
    session.standings.set(keyspaceId, standing);
    remindOfStanding(this.#state, session, standing);
    return undefined;
  }

  #addChange(session: Session, change: HoldChange): string | undefined {
    const { changes, changesFloor } = session;
    const isInOrder =
      change.revision >= (changes.at(-1)?.revision ?? 0) &&
      change.revision > changesFloor &&
      change.revision <= this.#state.revision;
    if (!isInOrder) return "MS10: changes are in order";
    changes.push(change);
    return undefined;
  }

  #addKeyspace({ terms, everGranted, importedBy }: StoredKeyspace): string | undefined {
    const { keyspaces } = this.#state;
    const { keyspaceId } = terms;
    if (keyspaceId <= (keyspaces.last()?.[0] ?? 0)) return "keyspaces: order";
    const ranges = bytesMap<RangeSlot>();
    keyspaces.set(keyspaceId, { terms, ranges, everGranted, unownedCount: 0, importedBy });
    return undefined;
  }

  #addRange(stored: StoredRange): string | undefined {
    if (!isNextKey(this.#pending?.startKey, stored.startKey)) return "MS1: ranges are in order";
    const wrong = this.#addPending(stored.startKey);
    this.#pending = stored;
    return wrong;
  }

  /** Adds the pending range, if there is one, now that its end is known. */
  #addPending(endKey: Bytes | undefined): string | undefined {
    const stored = this.#pending;
    if (stored === undefined) return undefined;
    this.#pending = undefined;
    const { rangesById, intendedCounts } = this.#state;
    const knownCount = rangesById.size;
    const keyspace = lastOf(this.#state.keyspaces);
    const slot = this.#slotOf(stored, keyspace, endKey);
    const { rangeId, startKey, intendedNodeId } = slot.record;
    const wrong = this.#judge(slot.record, keyspace);
    if (wrong !== undefined) return wrong;
    keyspace.ranges.set(startKey, slot);
    // A repeated id shows by the size: looking it up first would cost a tenth of a restore.
    const idCount = rangesById.set(rangeId, slot).size;
    if (idCount === knownCount) return "MS2: range ids are not repeated";
    if (intendedNodeId !== undefined) {
      intendedCounts.set(intendedNodeId, (intendedCounts.get(intendedNodeId) ?? 0) + 1);
    }
    return this.#resume(slot, keyspace);
  }

  #slotOf(stored: StoredRange, keyspace: Keyspace, endKey: Bytes | undefined): RangeSlot {
    const record: RangeRecord = {
      rangeId: stored.rangeId,
      keyspaceId: keyspace.terms.keyspaceId,
      startKey: stored.startKey,
      endKey,
      epoch: stored.epoch,
      owner: this.#shared(stored.owner),
      successor: this.#shared(stored.successor),
      handOverRevision: stored.handOverRevision,
      intendedNodeId: stored.intendedNodeId,
      acceptedEpoch: stored.acceptedEpoch,
      replicas: stored.replicas.length === 0 ? NO_REPLICAS : stored.replicas,
      descriptorRevision: stored.descriptorRevision,
    };
    const { ownDeadlineMs, ownCapMs, detachedOrder } = stored;
    return { record, ownDeadlineMs, ownCapMs, detachedOrder };
  }

  #shared(owner: Owner | undefined): Owner | undefined {
    const session = owner && liveSession(this.#state, owner);
    if (session === undefined) return owner;
    const known = this.#owners.get(session) ?? ownerOf(session);
    this.#owners.set(session, known);
    return known;
  }

  #judge(record: RangeRecord, keyspace: Keyspace): string | undefined {
    const { epoch, acceptedEpoch, descriptorRevision, owner, successor, intendedNodeId } = record;
    if (acceptedEpoch > epoch) return "MS3: only an epoch that was granted is accepted";
    if (epoch > descriptorRevision) return "MS3: a grant changes the descriptor";
    if (descriptorRevision > this.#state.revision) return "MS3: revisions are of the past";
    if (epoch > 0 && !keyspace.everGranted) return "MS7: a grant is remembered";
    if (owner === undefined && successor !== undefined) return "MS8: unowned, with a successor";
    if (owner !== undefined && sameOwner(owner, successor)) return "MS8: nobody succeeds itself";
    const isAsked = record.handOverRevision !== 0;
    const mayBeAsked = successor !== undefined && record.handOverRevision > epoch;
    if (isAsked && !mayBeAsked) return "MS22: nobody is asked to hand over";
    if (record.handOverRevision > this.#state.revision) return "MS22: of the future";
    if (intendedNodeId === undefined) return undefined;
    if (owner !== undefined) return "MS9: an intended range is unowned";
    const session = this.#state.sessions.get(intendedNodeId);
    const isAbsent = session === undefined || session.supersededUntilMs > 0;
    const isHere = !isAbsent && !isClosed(this.#state, session);
    return isHere ? "MS9: an intended owner is not here" : undefined;
  }

  /** Puts the range under its owner's session, or counts it as unowned. */
  #resume(slot: RangeSlot, keyspace: Keyspace): string | undefined {
    const { owner, keyspaceId } = slot.record;
    if (owner === undefined) {
      keyspace.unownedCount++;
      return undefined;
    }
    const session = liveSession(this.#state, owner);
    const standing = session?.standings.get(keyspaceId);
    if (session === undefined || standing === undefined) return "MS4: an owner's session is open";
    const lease = latestOf(session, slot);
    if (isOverCap(lease)) return "MS6: no deadline is beyond its cap";
    if (deadlineMs(this.#state, slot) <= this.#state.timeMs) return "MS5: no lease is overdue";
    if (!outlasts(standing, lease)) return "MS6: a standing outlasts leases";
    resumeLease(this.#state, session, slot);
    return undefined;
  }

  #addImport(stored: StoredImport): string | undefined {
    const { imports, keyspaces, timeMs, due } = this.#state;
    const { importId, keyspaceId, parts, deadlineMs: deadline } = stored;
    if (!isAbove(imports.last()?.[0], importId)) return "imports: order";
    if (!keyspaces.has(keyspaceId)) return "an import's keyspace is missing";
    if (deadline <= timeMs) return "MS5: no import is overdue";
    const draft = new MapDraft(keyspaceId);
    imports.set(importId, { importId, keyspaceId, parts, draft, deadlineMs: deadline });
    due.add({ kind: "import", deadlineMs: deadline, importId }, deadline);
    return undefined;
  }

  #addRow({ draft }: Staging, row: DraftRow): string | undefined {
    if (!isNextKey(draft.lastStartKey, row.startKey)) return "staged rows are in order";
    draft.append({
      rangeId: row.rangeId,
      startKey: row.startKey,
      intendedNodeId: row.intendedNodeId,
    });
    return undefined;
  }
}

/** The one that the present record belongs to: the order of records says that there is one. */
function lastOf<V>(map: { last(): readonly [unknown, V] | undefined }): V {
  return defined(map.last(), "a record comes after the one that it belongs to")[1];
}

function isOverCap({ deadlineMs: deadline, capMs }: Deadline): boolean {
  return deadline > capMs;
}

function isAbove(last: string | undefined, name: string): boolean {
  return last === undefined || last < name;
}

/** The first key is -inf, and the others ascend. */
function isNextKey(last: Bytes | undefined, key: Bytes): boolean {
  return last === undefined ? key.length === 0 : compareBytes(last, key) < 0;
}
