/**
 * The records of the log store beside the entries: identity, configuration, hard state, snapshot
 * pointer, store head.
 *
 * Record versions: 1 is the first. A change of a layout raises its record's version; a change of
 * the set of keys, or of what a key means, raises STORE_FORMAT. Layouts are pinned by golden bytes
 * in the tests. No version that was ever released wrote an older format than the present one.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, LogIndex, ReplicaId, ServerId, Term } from "../base/brands.ts";
import { type Bytes, utf8ToBytes } from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Configuration, HardState, LogPosition } from "../raft/types.ts";
import {
  CHECKSUM_BYTES,
  POSITION_BYTES,
  type Flaw,
  flaw,
  openRecord,
  RecordWriter,
} from "./binary.ts";

/**
 * 1: keys C, H, I, L and W; entries from index 1.
 * 2: keys A, P and S; a log begins after its base, which H names with its log time and the
 *    snapshot's index; beside it the file acknowledged.
 */
export const STORE_FORMAT = 2;

const IDENTITY_VERSION = 1;
const CONFIGURATION_VERSION = 1;
const HARD_STATE_VERSION = 2;
const SNAPSHOT_POINTER_VERSION = 1;
const PEER_VERSION = 1;
const ADMISSION_VERSION = 1;
const STORE_HEAD_VERSION = 1;

const HARD_STATE_BYTES = 1 + 4 + 7 * 8 + POSITION_BYTES + 2 * 4 + CHECKSUM_BYTES;
const SNAPSHOT_POINTER_BYTES = 1 + 4 + POSITION_BYTES + CHECKSUM_BYTES;
const STORE_HEAD_BYTES = 1 + 3 * 8 + CHECKSUM_BYTES;

/** Whose store this is. Written once, at creation. */
export interface StoreIdentity {
  /** The cluster that the server belongs to. */
  readonly clusterId: string;
  readonly serverId: ServerId;
  /** Drawn when the store was created: tells a store from its replacement. */
  readonly storeUuid: string;
}

/** What a group's replica is. Written once, when the replica is created. */
export interface ConfigurationRecord {
  readonly group: GroupId;
  readonly replicaId: ReplicaId;
  readonly configuration: Configuration;
}

/** A group's hard state and the bounds of its log. Rewritten by every step of the group. */
export interface HardStateRecord {
  readonly group: GroupId;
  readonly hardState: HardState;
  /** The entry before the first that counts. Keys at or below it are remains and are ignored. */
  readonly base: LogPosition;
  readonly baseChain: number;
  /** The base's when the log is empty. Keys above it are damage. */
  readonly lastIndex: LogIndex;
  readonly lastTerm: Term;
  /** Chain value of the last entry; the base's when the log is empty. */
  readonly lastChain: number;
  /** What the snapshot pointer says; 0 when there is no snapshot, and no pointer. */
  readonly snapshotIndex: LogIndex;
  /** The store's write that this record belongs to. */
  readonly writeSequence: number;
}

/** The snapshot that a group's machine starts from. Rewritten when another takes its place. */
export interface SnapshotPointer {
  readonly group: GroupId;
  readonly position: LogPosition;
}

/** The store that a peer had when this server first met it. Written once, before it is heeded. */
export interface PeerRecord {
  readonly server: ServerId;
  readonly storeUuid: string;
  /** The store's write that this record belongs to. */
  readonly writeSequence: number;
}

/** That every other server has remembered this store. Written once, before it takes part. */
export interface AdmissionRecord {
  /** The store's write that this record belongs to. */
  readonly writeSequence: number;
}

/**
 * What the store's last write left behind. Every write raises both numbers, and the sum falls when
 * any set of hard states falls back, so a group that lost its last step alone is noticed: such a
 * loss leaves its own chain intact.
 */
export interface StoreHead {
  /** Number of the last write; 1 is the creation. */
  readonly writeSequence: number;
  /** Sum of the write sequences of all records that have one, entries excepted. */
  readonly sequenceSum: number;
  readonly groupCount: number;
}

export function encodeIdentity(identity: StoreIdentity): Bytes {
  const clusterId = utf8ToBytes(identity.clusterId);
  const storeUuid = utf8ToBytes(identity.storeUuid);
  const size = 1 + 2 + 8 + 2 + clusterId.length + 2 + storeUuid.length + CHECKSUM_BYTES;
  return new RecordWriter(IDENTITY_VERSION, size)
    .uint16(STORE_FORMAT)
    .uint64(identity.serverId)
    .uint16(clusterId.length)
    .append(clusterId)
    .uint16(storeUuid.length)
    .append(storeUuid)
    .finish();
}

export function decodeIdentity(value: Bytes): Result<StoreIdentity, Flaw> {
  const opened = openRecord(value, IDENTITY_VERSION);
  if (!opened.ok) return opened;
  const reader = opened.value;
  const format = reader.uint16();
  if (format === 0) return flaw("a store format that never was");
  if (format !== STORE_FORMAT) {
    return failed({ kind: "formatUnknown", found: `store format ${format}` });
  }
  const serverId = reader.uint64() as ServerId;
  const clusterId = reader.text();
  const storeUuid = reader.text();
  if (!reader.complete) return flaw("an identity of the wrong length");
  return ok({ clusterId, serverId, storeUuid });
}

export function encodeConfiguration(record: ConfigurationRecord): Bytes {
  const { voters } = record.configuration;
  assert(areAscending(voters) && voters.length > 0, "voters are ascending and not empty");
  assert(record.replicaId >= 1, "a replica id is at least 1");
  const writer = new RecordWriter(
    CONFIGURATION_VERSION,
    1 + 4 + 8 + 2 + 8 * voters.length + CHECKSUM_BYTES,
  );
  writer.uint32(record.group).uint64(record.replicaId).uint16(voters.length);
  for (const voter of voters) writer.uint64(voter);
  return writer.finish();
}

export function decodeConfiguration(value: Bytes): Result<ConfigurationRecord, Flaw> {
  const opened = openRecord(value, CONFIGURATION_VERSION);
  if (!opened.ok) return opened;
  const reader = opened.value;
  const group = reader.uint32() as GroupId;
  const replicaId = reader.uint64() as ReplicaId;
  const count = reader.uint16();
  if (reader.remaining !== 8 * count) return flaw("a configuration of the wrong length");
  const voters = Array.from({ length: count }, () => reader.uint64() as ReplicaId);
  if (!reader.complete || replicaId < 1 || count === 0 || !areAscending(voters)) {
    return flaw("an impossible configuration");
  }
  return ok({ group, replicaId, configuration: { voters } });
}

export function encodeHardState(record: HardStateRecord): Bytes {
  const { hardState, base } = record;
  return new RecordWriter(HARD_STATE_VERSION, HARD_STATE_BYTES)
    .uint32(record.group)
    .uint64(hardState.term)
    .uint64(hardState.votedFor ?? 0)
    .uint64(hardState.commitIndex)
    .position(base)
    .uint64(record.lastIndex)
    .uint64(record.lastTerm)
    .uint64(record.snapshotIndex)
    .uint64(record.writeSequence)
    .uint32(record.baseChain)
    .uint32(record.lastChain)
    .finish();
}

export function decodeHardState(value: Bytes): Result<HardStateRecord, Flaw> {
  const opened = openRecord(value, HARD_STATE_VERSION);
  if (!opened.ok) return opened;
  const reader = opened.value;
  const group = reader.uint32() as GroupId;
  const term = reader.uint64() as Term;
  const votedFor = reader.uint64() as ReplicaId;
  const commitIndex = reader.uint64() as LogIndex;
  const base = reader.position();
  const lastIndex = reader.uint64() as LogIndex;
  const lastTerm = reader.uint64() as Term;
  const snapshotIndex = reader.uint64() as LogIndex;
  const writeSequence = reader.uint64();
  const baseChain = reader.uint32();
  const lastChain = reader.uint32();
  if (!reader.complete) return flaw("a hard state of the wrong length");
  if (lastIndex < base.index) return flaw("impossible bounds of the log");
  if (commitIndex > lastIndex) return flaw(`commit index ${commitIndex} beyond the log's end`);
  if (lastTerm > term || base.term > lastTerm) return flaw("impossible terms in the hard state");
  if (snapshotIndex < base.index || snapshotIndex > commitIndex) {
    return flaw(`a snapshot at ${snapshotIndex}, not between the base and the commit index`);
  }
  const hardState = { term, votedFor: votedFor === 0 ? undefined : votedFor, commitIndex };
  const bounds = { base, baseChain, lastIndex, lastTerm, lastChain, snapshotIndex };
  return ok({ group, hardState, ...bounds, writeSequence });
}

export function encodeSnapshotPointer({ group, position }: SnapshotPointer): Bytes {
  return new RecordWriter(SNAPSHOT_POINTER_VERSION, SNAPSHOT_POINTER_BYTES)
    .uint32(group)
    .position(position)
    .finish();
}

export function decodeSnapshotPointer(value: Bytes): Result<SnapshotPointer, Flaw> {
  const opened = openRecord(value, SNAPSHOT_POINTER_VERSION);
  if (!opened.ok) return opened;
  const reader = opened.value;
  const group = reader.uint32() as GroupId;
  const position = reader.position();
  if (!reader.complete) return flaw("a snapshot pointer of the wrong length");
  if (position.index < 1) return flaw("a pointer to no snapshot");
  return ok({ group, position });
}

export function encodePeer({ server, storeUuid, writeSequence }: PeerRecord): Bytes {
  const uuid = utf8ToBytes(storeUuid);
  return new RecordWriter(PEER_VERSION, 1 + 8 + 8 + 2 + uuid.length + CHECKSUM_BYTES)
    .uint64(server)
    .uint64(writeSequence)
    .uint16(uuid.length)
    .append(uuid)
    .finish();
}

export function decodePeer(value: Bytes): Result<PeerRecord, Flaw> {
  const opened = openRecord(value, PEER_VERSION);
  if (!opened.ok) return opened;
  const reader = opened.value;
  const server = reader.uint64() as ServerId;
  const writeSequence = reader.uint64();
  const storeUuid = reader.text();
  if (!reader.complete) return flaw("a peer record of the wrong length");
  return ok({ server, storeUuid, writeSequence });
}

export function encodeAdmission({ writeSequence }: AdmissionRecord): Bytes {
  return new RecordWriter(ADMISSION_VERSION, 1 + 8 + CHECKSUM_BYTES).uint64(writeSequence).finish();
}

export function decodeAdmission(value: Bytes): Result<AdmissionRecord, Flaw> {
  const opened = openRecord(value, ADMISSION_VERSION);
  if (!opened.ok) return opened;
  const writeSequence = opened.value.uint64();
  if (!opened.value.complete) return flaw("an admission record of the wrong length");
  return ok({ writeSequence });
}

export function encodeStoreHead(head: StoreHead): Bytes {
  return new RecordWriter(STORE_HEAD_VERSION, STORE_HEAD_BYTES)
    .uint64(head.writeSequence)
    .uint64(head.sequenceSum)
    .uint64(head.groupCount)
    .finish();
}

export function decodeStoreHead(value: Bytes): Result<StoreHead, Flaw> {
  const opened = openRecord(value, STORE_HEAD_VERSION);
  if (!opened.ok) return opened;
  const reader = opened.value;
  const writeSequence = reader.uint64();
  const sequenceSum = reader.uint64();
  const groupCount = reader.uint64();
  if (!reader.complete) return flaw("a store head of the wrong length");
  return ok({ writeSequence, sequenceSum, groupCount });
}

function areAscending(voters: readonly ReplicaId[]): boolean {
  return voters.every((voter, at) => voter > (voters[at - 1] ?? 0));
}
