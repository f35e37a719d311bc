/**
 * The records of a metadata shard: ranges, owners, keyspaces. All are immutable values; the
 * machine replaces them, so that an event can carry a record as it was.
 */

import type { Bytes } from "../../base/bytes.ts";
import type { Epoch, Incarnation, Revision } from "../../base/brands.ts";
import {
  bool,
  brandedUint,
  byteString,
  type Codec,
  list,
  oneOf,
  optional,
  struct,
  text,
  uint,
} from "../../base/codec.ts";
import {
  DATA_KINDS,
  type DataKind,
  LEASE_MODES,
  type LeaseMode,
} from "../common/keyspace-modes.ts";

/** A storage node's process. */
export interface Owner {
  readonly nodeId: string;
  readonly incarnation: Incarnation;
}

export interface RangeReplica {
  readonly nodeId: string;
  readonly inSync: boolean;
}

/** One range `[startKey, endKey)` of a keyspace. */
export interface RangeRecord {
  /** "group.revision.ordinal" of the entry that made it. Never reused, names no address. */
  readonly rangeId: string;
  readonly keyspaceId: number;
  readonly startKey: Bytes;
  /** Exclusive; undefined is +inf. */
  readonly endKey: Bytes | undefined;
  /** Revision of the grant to the present or last owner; 0: never granted (law 3). */
  readonly epoch: Epoch;
  /** undefined: nobody owns it. */
  readonly owner: Owner | undefined;
  /** Granted by the entry that ends the present lease, if still alive then (law 12). */
  readonly successor: Owner | undefined;
  /**
   * Revision of the entry that asked the owner to hand the range over to the successor; 0: it was
   * not asked, and the successor waits for the end of the lease. Names the request for good: what
   * the owner sends because of an earlier one has no effect.
   */
  readonly handOverRevision: Revision;
  /**
   * Named by an import, or the last owner's node when its lease ended while its next process was
   * waiting (law 13). Granted when that node opens a session; gone after any grant.
   */
  readonly intendedNodeId: string | undefined;
  /** The last epoch whose owner reported its high-water durable (law 17); 0: none. */
  readonly acceptedEpoch: Epoch;
  readonly replicas: readonly RangeReplica[];
  /** Revision of the last entry that changed what clients cache (law 4). */
  readonly descriptorRevision: Revision;
}

/**
 * A range and its lease: one object for a range's whole life, changed in place, and that only by
 * changeSlot (slots.ts).
 */
export interface RangeSlot {
  readonly record: RangeRecord;
  /**
   * The deadline that is the range's own: set by the grant, or when it was cut loose from its
   * session's renewals (excepted, successor recorded). Meaningless without an owner.
   */
  readonly ownDeadlineMs: number;
  /** How far changes of leaders may move it (law 11). */
  readonly ownCapMs: number;
  /** Renewals of its session count for it when their order is larger. */
  readonly detachedOrder: number;
}

/** A keyspace's terms in the shard that holds its ranges. */
export interface KeyspaceTerms {
  readonly keyspaceId: number;
  readonly name: string;
  readonly leaseDurationMs: number;
  readonly renewIntervalMs: number;
  readonly leaseMode: LeaseMode;
  readonly dataKind: DataKind;
}

export const ownerCodec: Codec<Owner> = struct<Owner>({
  nodeId: text,
  incarnation: brandedUint<Incarnation>(),
});

export const rangeReplicaCodec: Codec<RangeReplica> = struct<RangeReplica>({
  nodeId: text,
  inSync: bool,
});

export const rangeRecordCodec: Codec<RangeRecord> = struct<RangeRecord>({
  rangeId: text,
  keyspaceId: uint,
  startKey: byteString,
  endKey: optional(byteString),
  epoch: brandedUint<Epoch>(),
  owner: optional(ownerCodec),
  successor: optional(ownerCodec),
  handOverRevision: brandedUint<Revision>(),
  intendedNodeId: optional(text),
  acceptedEpoch: brandedUint<Epoch>(),
  replicas: list(rangeReplicaCodec),
  descriptorRevision: brandedUint<Revision>(),
});

export const keyspaceTermsCodec: Codec<KeyspaceTerms> = struct<KeyspaceTerms>({
  keyspaceId: uint,
  name: text,
  leaseDurationMs: uint,
  renewIntervalMs: uint,
  leaseMode: oneOf(LEASE_MODES),
  dataKind: oneOf(DATA_KINDS),
});

export function sameOwner(a: Owner | undefined, b: Owner | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.nodeId === b.nodeId && a.incarnation === b.incarnation;
}
