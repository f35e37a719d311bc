/**
 * The Keyspaces service and the operators' Cluster service in domain types
 * (proto/cadastre/v1/keyspaces.proto, proto/cadastre/admin/v1/cluster.proto). Import them from
 * api.ts, which lists them with the rest.
 */

import type { Bytes } from "../base/bytes.ts";
import type { GroupId, Revision, ServerId, Term } from "../base/brands.ts";
import type { Header, RequestId } from "./api-common.ts";

// ---- Keyspaces

export type KeyspaceKind = "range" | "hash";
export type HashFunction = "given";
export type LeaseMode = "exclusive" | "affinity";
export type DataKind = "none" | "shared" | "local";

export interface KeyspaceRecord {
  readonly name: string;
  readonly keyspaceId: number;
  readonly kind: KeyspaceKind;
  /** Only with kind "hash". */
  readonly hashFunction: HashFunction | undefined;
  readonly leaseMode: LeaseMode;
  readonly dataKind: DataKind;
  readonly leaseDurationMs: number;
  readonly renewIntervalMs: number;
  readonly state: "creating" | "ready";
  readonly group: GroupId;
  readonly createdRevision: Revision;
  readonly rangeCount: number;
  readonly unownedCount: number;
}

export interface CreateKeyspaceRequest {
  readonly requestId: RequestId;
  readonly name: string;
  readonly kind: KeyspaceKind;
  readonly hashFunction: HashFunction | undefined;
  readonly leaseMode: LeaseMode;
  readonly dataKind: DataKind;
  readonly leaseDurationMs: number;
  readonly renewIntervalMs: number;
}

export interface CreateKeyspaceAnswer {
  readonly header: Header;
  readonly keyspace: KeyspaceRecord;
  readonly replayed: boolean;
}

export interface ListKeyspacesAnswer {
  readonly header: Header;
  readonly keyspaces: readonly KeyspaceRecord[];
  readonly nextPageToken: string;
}

export interface DefineRangesRequest {
  readonly requestId: RequestId;
  readonly keyspace: string;
  readonly splitKeys: readonly Bytes[];
}

export interface DefineRangesAnswer {
  readonly header: Header;
  readonly rangeCount: number;
  readonly replayed: boolean;
}

export interface ImportRow {
  readonly startKey: Bytes;
  readonly intendedNodeId: string | undefined;
}

export interface StageImportRequest {
  readonly keyspace: string;
  readonly importId: string;
  readonly part: number;
  readonly rows: readonly ImportRow[];
}

export interface StageImportAnswer {
  readonly header: Header;
  readonly stagedRows: number;
  readonly expiresInMs: number;
}

export interface CommitImportRequest {
  readonly keyspace: string;
  readonly importId: string;
  readonly rowCount: number;
}

export interface CommitImportAnswer {
  readonly header: Header;
  readonly rangeCount: number;
  readonly grantedCount: number;
}

export interface AbortImportRequest {
  readonly keyspace: string;
  readonly importId: string;
}

// ---- Cluster (cadastre.admin.v1)

export interface ServerStatus {
  readonly serverId: ServerId;
  readonly grpcAddress: string;
  readonly peerAddress: string;
  readonly httpAddress: string;
  readonly reachable: boolean;
}

export interface GroupStatus {
  readonly group: GroupId;
  readonly role: "leader" | "follower" | "candidate" | "preCandidate";
  readonly term: Term;
  readonly leaderServerId: ServerId | undefined;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly lastIndex: number;
  readonly revision: Revision;
  readonly logEntries: number;
  readonly logBytes: number;
  /** 0: there is no snapshot. */
  readonly snapshotIndex: number;
  readonly replicas: readonly {
    readonly serverId: ServerId;
    readonly replicaId: number;
    readonly matchIndex: number;
  }[];
}

export interface ClusterStatus {
  readonly header: Header;
  readonly clusterName: string;
  readonly productVersion: string;
  readonly uptimeMs: number;
  readonly servers: readonly ServerStatus[];
  readonly groups: readonly GroupStatus[];
  /** Why the answering server takes no part in any group; undefined: it does. */
  readonly abstention: Abstention | undefined;
}

/** Why a server neither votes, acknowledges, leads nor answers reads. */
export interface Abstention {
  /** "notAdmitted" passes; all others are a quarantine, which ends only with the server. */
  readonly reason: string;
  /** One line: cause and remedy. */
  readonly details: string;
}
