/**
 * The records of the root: the cluster, its keyspaces and the coarse map, the storage nodes.
 * Small enough for every client to hold (law 27). All are immutable values.
 */

import type { Bytes } from "../../base/bytes.ts";
import type { GroupId, Incarnation, Revision, ServerId } from "../../base/brands.ts";
import {
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

/** A server's addresses, as "host:port". Addresses are attributes, not identity. */
export interface ServerRecord {
  readonly serverId: ServerId;
  readonly grpcAddress: string;
  readonly peerAddress: string;
  readonly httpAddress: string;
}

export interface ClusterRecord {
  readonly clusterId: string;
  readonly name: string;
  readonly servers: readonly ServerRecord[];
  /** Ascending. */
  readonly shardGroups: readonly GroupId[];
}

export const KEYSPACE_KINDS = ["range", "hash"] as const;
export const HASH_FUNCTIONS = ["given"] as const;
/** creating: recorded here, its first range may not exist yet in the shard. */
export const KEYSPACE_STATES = ["creating", "ready"] as const;

/** What is fixed when a keyspace is created, but for the durations. */
export interface KeyspaceSettings {
  readonly name: string;
  readonly kind: (typeof KEYSPACE_KINDS)[number];
  /** Only with kind "hash". */
  readonly hashFunction: (typeof HASH_FUNCTIONS)[number] | undefined;
  readonly leaseMode: LeaseMode;
  readonly dataKind: DataKind;
  readonly leaseDurationMs: number;
  readonly renewIntervalMs: number;
}

export interface KeyspaceRecord {
  /** Counts from 1, never reused. */
  readonly keyspaceId: number;
  readonly settings: KeyspaceSettings;
  readonly state: (typeof KEYSPACE_STATES)[number];
  /** The coarse map: which shard holds which span. Spans tile -inf to +inf. */
  readonly spans: readonly GroupSpan[];
  readonly createdRevision: Revision;
}

export interface GroupSpan {
  readonly startKey: Bytes;
  readonly endKey: Bytes | undefined;
  readonly group: GroupId;
}

/**
 * What a storage node's process states when it registers, so that the root can tell whether the
 * process before it is dead (law 13).
 */
export interface ProcessStart {
  /** Of the kernel: drawn at each boot of a machine. */
  readonly bootId: string;
  /** "device:inode" of the file that the kernel keeps locked for the process. */
  readonly lockFile: string;
  /** Raised durably in the data directory at every start. */
  readonly startCount: number;
}

/** A storage node and its present registration. */
export interface NodeRecord {
  readonly nodeId: string;
  /** Of the node's data directory; bound to the node id for good (law 13). */
  readonly dataUuid: string;
  readonly incarnation: Incarnation;
  /** The incarnation of the registration before this one; 0: there was none. */
  readonly predecessor: Incarnation;
  /**
   * The last incarnation whose registration proved nothing: this one, or an earlier one. Every
   * registration after it was proven, so all incarnations from it on, but for this one, are dead.
   */
  readonly provenSince: Incarnation;
  /** undefined: the process could not state it, and the next registration proves nothing. */
  readonly start: ProcessStart | undefined;
  readonly addresses: readonly string[];
  readonly zone: string;
  /** Ascending by name, no repeats. */
  readonly labels: readonly Label[];
  readonly capacity: number;
}

export interface Label {
  readonly name: string;
  readonly value: string;
}

export const serverRecordCodec: Codec<ServerRecord> = struct<ServerRecord>({
  serverId: brandedUint<ServerId>(),
  grpcAddress: text,
  peerAddress: text,
  httpAddress: text,
});

export const clusterRecordCodec: Codec<ClusterRecord> = struct<ClusterRecord>({
  clusterId: text,
  name: text,
  servers: list(serverRecordCodec),
  shardGroups: list(brandedUint<GroupId>()),
});

export const keyspaceSettingsCodec: Codec<KeyspaceSettings> = struct<KeyspaceSettings>({
  name: text,
  kind: oneOf(KEYSPACE_KINDS),
  hashFunction: optional(oneOf(HASH_FUNCTIONS)),
  leaseMode: oneOf(LEASE_MODES),
  dataKind: oneOf(DATA_KINDS),
  leaseDurationMs: uint,
  renewIntervalMs: uint,
});

export const keyspaceRecordCodec: Codec<KeyspaceRecord> = struct<KeyspaceRecord>({
  keyspaceId: uint,
  settings: keyspaceSettingsCodec,
  state: oneOf(KEYSPACE_STATES),
  spans: list(
    struct<GroupSpan>({
      startKey: byteString,
      endKey: optional(byteString),
      group: brandedUint<GroupId>(),
    }),
  ),
  createdRevision: brandedUint<Revision>(),
});

export const labelCodec: Codec<Label> = struct<Label>({ name: text, value: text });

export const processStartCodec: Codec<ProcessStart> = struct<ProcessStart>({
  bootId: text,
  lockFile: text,
  startCount: uint,
});

export const nodeRecordCodec: Codec<NodeRecord> = struct<NodeRecord>({
  nodeId: text,
  dataUuid: text,
  incarnation: brandedUint<Incarnation>(),
  predecessor: brandedUint<Incarnation>(),
  provenSince: brandedUint<Incarnation>(),
  start: optional(processStartCodec),
  addresses: list(text),
  zone: text,
  labels: list(labelCodec),
  capacity: uint,
});
