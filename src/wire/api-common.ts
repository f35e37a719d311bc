/**
 * Words that all public services share, in domain types (proto/cadastre/v1/common.proto), and the
 * refusal. Import them from api.ts, which lists them with the rest.
 */

import type { Epoch, GroupId, Incarnation, Revision, ServerId, Term } from "../base/brands.ts";
import type { Span } from "../base/span.ts";
import type { Reason } from "./errors.ts";

/** Where an answer comes from and how new it is (law 19). */
export interface Header {
  readonly clusterId: string;
  readonly group: GroupId;
  readonly generation: number;
  readonly revision: Revision;
  readonly serverId: ServerId;
  readonly leaderServerId: ServerId | undefined;
  readonly term: Term;
}

/** Names one mutation of one client (law 5). */
export interface RequestId {
  readonly clientId: string;
  readonly sequence: number;
  readonly seenRevision: Revision;
  readonly acknowledgedBelow: number;
}

export interface Owner {
  readonly nodeId: string;
  readonly incarnation: Incarnation;
}

export interface RangeReplica {
  readonly nodeId: string;
  readonly inSync: boolean;
}

export interface Descriptor {
  readonly rangeId: string;
  readonly keyspace: string;
  readonly span: Span;
  /** 0: never granted. */
  readonly epoch: Epoch;
  readonly owner: Owner | undefined;
  readonly replicas: readonly RangeReplica[];
  readonly descriptorRevision: Revision;
  readonly group: GroupId;
}

export interface Route {
  readonly descriptor: Descriptor;
  readonly addresses: readonly string[];
  readonly intendedNodeId: string | undefined;
}

export interface RangeRecord {
  readonly descriptor: Descriptor;
  readonly successor: Owner | undefined;
  /** 0: the owner was not asked to hand over. */
  readonly handOverRevision: Revision;
  readonly intendedNodeId: string | undefined;
  /** 0: none yet. */
  readonly acceptedEpoch: Epoch;
}

export type ReadOptions =
  | { readonly kind: "linearizable" }
  | { readonly kind: "atLeast"; readonly revision: Revision }
  | { readonly kind: "local" };

export interface Staleness {
  readonly revisions: number;
  /** undefined: this replica has never confirmed its position with a leader. */
  readonly confirmedMsAgo: number | undefined;
}

/** What an answered read carries beside its data. */
export interface ReadAnswer {
  readonly header: Header;
  /** Only with a local read. */
  readonly staleness: Staleness | undefined;
}

/**
 * A refusal as a value, on both sides of the wire. `message` is one line with cause and remedy;
 * every value named in it is in `metadata`, too.
 */
export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** With INVALID: path of the field, in the proto's names. */
  readonly field: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly descriptors: readonly Descriptor[];
}
