/**
 * Branded numbers: one type for each thing that is counted, so that they can't be mixed up.
 *
 * All are safe integers >= 0. Revisions follow law 2: generation * 2^44 + index, below 2^53.
 */

import { assert } from "./assert.ts";

declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** Raft's term. 0 only before the first election. */
export type Term = Brand<number, "Term">;
/** Position in one group's log. The first entry has index 1; 0 means "before the first". */
export type LogIndex = Brand<number, "LogIndex">;
/** A Raft group: 0 is the root, 1.. are metadata shards. Never reused. */
export type GroupId = Brand<number, "GroupId">;
/** A server's copy of one group. Unique within the group, >= 1, never reused. */
export type ReplicaId = Brand<number, "ReplicaId">;
/** One Cadastre process, a member of the cluster. >= 1. */
export type ServerId = Brand<number, "ServerId">;
/** generation * 2^44 + index: a position in a group's history that never goes back (law 2). */
export type Revision = Brand<number, "Revision">;
/** Revision of the entry that granted a range to its present owner (law 3). 0: never granted. */
export type Epoch = Brand<number, "Epoch">;
/** The root revision at which a storage node's present process registered. */
export type Incarnation = Brand<number, "Incarnation">;
/** A group's replicated clock in ms, carried by its entries (law 7). Means nothing elsewhere. */
export type LogTimeMs = Brand<number, "LogTimeMs">;
/** A reading of a host's monotonic clock, in ms (fractions allowed). Meaningless elsewhere. */
export type MonotonicMs = Brand<number, "MonotonicMs">;

/** Bits of a revision that hold the index. */
export const REVISION_INDEX_LIMIT: number = 2 ** 44;
/** Generations stay below this so that revisions stay below 2^53 (law 2). */
export const GENERATION_LIMIT: number = 2 ** 9;
assert(GENERATION_LIMIT * REVISION_INDEX_LIMIT === 2 ** 53, "revisions are safe integers");

/** The revision of an index in a generation. */
export function revisionOf(generation: number, index: LogIndex): Revision {
  assert(generation >= 0 && generation < GENERATION_LIMIT, "a generation is in bounds");
  assert(index >= 0 && index < REVISION_INDEX_LIMIT, "an index fits a revision");
  return (generation * REVISION_INDEX_LIMIT + index) as Revision;
}

/** The generation part of a revision. */
export function generationOf(revision: Revision): number {
  return Math.floor(revision / REVISION_INDEX_LIMIT);
}

/** The epoch that a grant at this revision gives (law 3). */
export function revisionToEpoch(revision: Revision): Epoch {
  return revision as number as Epoch;
}

/** The group that holds the cluster's own records (DESIGN 1). */
export const ROOT_GROUP = 0 as GroupId;
