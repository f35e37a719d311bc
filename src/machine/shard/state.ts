/**
 * The state of a metadata shard: keyspaces with their ranges, sessions with their standings.
 *
 * Only the shard machine's own modules change it, inside apply(). Iteration goes over ordered maps
 * alone; `rangesById` is for look-ups. SPEC.md states the invariants, invariants.ts checks them.
 */

import type { Bytes } from "../../base/bytes.ts";
import {
  type GroupId,
  type Incarnation,
  type LogIndex,
  type LogTimeMs,
  type Revision,
  revisionOf,
} from "../../base/brands.ts";
import { bytesMap, numberMap, type OrderedMap, stringMap } from "../../base/ordered-map.ts";
import { RequestMemory } from "../common/request-memory.ts";
import { type HoldChange, type ShardResult, shardResultBytes } from "./answers.ts";
import type { RenewalPair } from "./commands.ts";
import { DueQueue, type StandingReminder } from "./due-queue.ts";
import type { MapDraft } from "./map-draft.ts";
import type { RecordChange, ShardEvent } from "./events.ts";
import { type SlotImages, slotImages } from "./slots.ts";
import { type Deadline, type Grace, NO_GRACE } from "./grace.ts";
import type { KeyspaceTerms, RangeSlot } from "./types.ts";

/** Keyspace id of the standing that every session has, whatever keyspaces there are. */
export const BASE_KEYSPACE_ID = 0;
/** D of the base standing: how long a node that holds nothing is taken for alive. */
export const BASE_DURATION_MS = 10_000;

/** What one renewal extended: every range of the standing with epoch <= asOf that followed it. */
export interface Extension extends Deadline {
  /** Position among all renewals, grants and detachments of the shard. */
  readonly order: number;
  readonly asOf: Revision;
}

/** A session's standing in one keyspace (law 11). */
export interface Standing extends Deadline {
  readonly keyspaceId: number;
  /** Neither is ever before that of a lease that the session holds in the keyspace. */
  deadlineMs: number;
  capMs: number;
  /** None dominated by another (asOf, deadline and cap all at least as large). */
  extensions: readonly Extension[];
  /** No part of the replicated state. */
  reminder?: StandingReminder;
}

/** One incarnation's standing in this group. At most one per storage node. */
export interface Session {
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  readonly openedRevision: Revision;
  /** Where the owner of what it holds is reached. */
  readonly addresses: readonly string[];
  /** Until then a newer incarnation waits for its end, and nothing more is granted to it. */
  supersededUntilMs: number;
  readonly standings: OrderedMap<number, Standing>;
  /** By keyspace id and start key. */
  readonly held: OrderedMap<number, OrderedMap<Bytes, RangeSlot>>;
  /** Ascending by revision; all after changesFloor. Only appended to or replaced (cut.ts). */
  changes: HoldChange[];
  /** Changes at or below it are no longer kept. */
  changesFloor: Revision;
}

/** Immutable: it is replaced. Outlives the session, because late copies of renewals may come. */
export interface NewestIncarnation {
  readonly incarnation: Incarnation;
  /** The last renewal that was applied; undefined: none yet. Its sequence never goes back. */
  readonly lastRenewal: RenewalPair | undefined;
  /**
   * Two processes were found to be this incarnation. From then on it is renewed no more, nothing
   * is granted to it, and it gives nothing up: the other process may still serve until its leases
   * have run out. Never lifted.
   */
  readonly isClosed: boolean;
}

export interface Keyspace {
  readonly terms: KeyspaceTerms;
  /** By start key. They tile -inf to +inf. */
  ranges: OrderedMap<Bytes, RangeSlot>;
  /** Whether any range of it was ever granted. Never goes back. */
  everGranted: boolean;
  unownedCount: number;
  /** The import whose map this is. */
  importedBy: string | undefined;
}

/** A map that is being staged. */
export interface Staging {
  readonly importId: string;
  readonly keyspaceId: number;
  /** Parts staged so far; the next one has this number. */
  parts: number;
  readonly draft: MapDraft;
  /** Dropped then, unless something is staged before. */
  deadlineMs: number;
}

export class ShardState {
  readonly group: GroupId;
  readonly generation: number;
  /** Of the last applied entry. */
  revision: Revision;
  /** Log time of the last applied entry. */
  timeMs: LogTimeMs = 0 as LogTimeMs;
  readonly keyspaces: OrderedMap<number, Keyspace> = numberMap();
  readonly rangesById: Map<string, RangeSlot> = new Map();
  /** By node id. */
  readonly sessions: OrderedMap<string, Session> = stringMap();
  /** Of each node, the largest incarnation that has opened a session here. Kept for good. */
  readonly incarnations: OrderedMap<string, NewestIncarnation> = stringMap();
  /** How many ranges are intended for a node; a node without any has no entry. */
  readonly intendedCounts: OrderedMap<string, number> = stringMap();
  readonly imports: OrderedMap<string, Staging> = stringMap();
  readonly requests: RequestMemory<ShardResult>;
  readonly due: DueQueue = new DueQueue();
  /** Tells open cuts what slots were before they changed. */
  readonly slotImages: SlotImages = slotImages();
  /** Replaced by each new leader's noop (law 11). Neither of its times goes back. */
  grace: Grace = NO_GRACE;
  /** The last order given to a renewal, grant or detachment. */
  leaseOrder = 0;

  constructor(group: GroupId, generation: number) {
    this.group = group;
    this.generation = generation;
    this.revision = revisionOf(generation, 0 as LogIndex);
    this.requests = new RequestMemory(this.revision, shardResultBytes);
  }
}

/** The entry that is being applied: its position, and the events that it has caused so far. */
export class EntryScope {
  readonly revision: Revision;
  readonly timeMs: LogTimeMs;
  readonly events: ShardEvent[] = [];

  constructor(revision: Revision, timeMs: LogTimeMs) {
    this.revision = revision;
    this.timeMs = timeMs;
  }

  /**
   * The changes are copied: events are kept for a long time, and an array that was filled one by
   * one has room for sixteen more.
   */
  emit(cause: ShardEvent["cause"], keyspaceId: number, changes: readonly RecordChange[]): void {
    if (changes.length > 0) this.events.push({ cause, keyspaceId, changes: changes.slice() });
  }
}

/** An empty map of held ranges, by start key. */
export function heldRanges(): OrderedMap<Bytes, RangeSlot> {
  return bytesMap<RangeSlot>();
}
