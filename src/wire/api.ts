/**
 * The public API in domain types: what services answer and what clients receive, with keys as
 * bytes, open ends as undefined and branded numbers. The wire forms are in proto/cadastre/v1; the
 * conversions beside this file check every bound on the way in.
 *
 * Field meanings and bounds are documented in the proto files, which these mirror name by name.
 */

import type { Bytes } from "../base/bytes.ts";
import type { Epoch, GroupId, Incarnation, Revision } from "../base/brands.ts";
import type { Span } from "../base/span.ts";
import type {
  Header,
  RequestId,
  Owner,
  Route,
  RangeRecord,
  ReadOptions,
  ReadAnswer,
} from "./api-common.ts";

export type {
  Header,
  RequestId,
  Owner,
  RangeReplica,
  Descriptor,
  Route,
  RangeRecord,
  ReadOptions,
  Staleness,
  ReadAnswer,
  Refusal,
} from "./api-common.ts";
export type {
  KeyspaceKind,
  HashFunction,
  LeaseMode,
  DataKind,
  KeyspaceRecord,
  CreateKeyspaceRequest,
  CreateKeyspaceAnswer,
  ListKeyspacesAnswer,
  DefineRangesRequest,
  DefineRangesAnswer,
  ImportRow,
  StageImportRequest,
  StageImportAnswer,
  CommitImportRequest,
  CommitImportAnswer,
  AbortImportRequest,
  ServerStatus,
  GroupStatus,
  ClusterStatus,
  Abstention,
} from "./api-keyspaces.ts";

// ---- Directory

export interface LookupRequest {
  readonly keyspace: string;
  readonly key: Bytes;
  readonly read: ReadOptions;
}

export interface LookupAnswer extends ReadAnswer {
  readonly route: Route;
}

export interface LookupBatchRequest {
  readonly keyspace: string;
  readonly keys: readonly Bytes[];
  readonly read: ReadOptions;
}

export interface LookupBatchAnswer extends ReadAnswer {
  readonly routes: readonly Route[];
  readonly routeOfKey: readonly number[];
}

export interface GetRangeRequest {
  readonly rangeId: string;
  readonly read: ReadOptions;
}

export interface GetRangeAnswer extends ReadAnswer {
  readonly range: RangeRecord;
  readonly leaseRemainingMs: number;
  readonly addresses: readonly string[];
}

export interface ListRangesRequest {
  readonly keyspace: string;
  readonly span: Span;
  readonly nodeId: string | undefined;
  readonly unownedOnly: boolean;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly read: ReadOptions;
}

export interface ListRangesAnswer extends ReadAnswer {
  readonly ranges: readonly RangeRecord[];
  /** Empty: the last page. */
  readonly nextPageToken: string;
}

export interface WatchRequest {
  readonly keyspace: string | undefined;
  readonly span: Span;
  readonly nodeId: string | undefined;
  readonly resumeToken: Bytes | undefined;
  readonly failIfCompacted: boolean;
}

export type Cause =
  | "keyspaceCreated"
  | "rangesDefined"
  | "imported"
  | "granted"
  | "released"
  | "expired"
  | "successorSet"
  | "successorLifted"
  | "accepted"
  | "restarted";

export interface RangeChange {
  readonly before: RangeRecord | undefined;
  readonly after: RangeRecord | undefined;
  readonly cause: Cause;
}

export interface RevisionChanges {
  readonly revision: Revision;
  readonly changes: readonly RangeChange[];
}

export type WatchFrame = {
  readonly header: Header;
  /** undefined in the middle of a snapshot or of a cut revision: don't act on the frame alone. */
  readonly resumeToken: Bytes | undefined;
} & (
  | {
      readonly kind: "snapshot";
      readonly ranges: readonly RangeRecord[];
      readonly first: boolean;
      readonly last: boolean;
      readonly afterCompaction: boolean;
    }
  | {
      readonly kind: "changes";
      readonly revisions: readonly RevisionChanges[];
      readonly continues: boolean;
    }
  | { readonly kind: "progress" }
);

export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface NodeRecord {
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  readonly addresses: readonly string[];
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: number;
  readonly sessionOpen: boolean;
  readonly rangesOwned: number;
  readonly sessionRemainingMs: number;
}

export interface ListNodesAnswer {
  readonly header: Header;
  readonly nodes: readonly NodeRecord[];
  readonly nextPageToken: string;
}

// ---- Ownership

export interface RegisterRequest {
  readonly requestId: RequestId;
  readonly nodeId: string;
  readonly dataUuid: string;
  readonly addresses: readonly string[];
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: number;
  readonly start: ProcessStart | undefined;
}

/** By it the directory tells that the process before this one is dead (law 13). */
export interface ProcessStart {
  readonly bootId: string;
  /** "device:inode". */
  readonly lockFile: string;
  readonly startCount: number;
}

export interface RegisterAnswer {
  readonly header: Header;
  readonly incarnation: Incarnation;
  readonly shardGroups: readonly GroupId[];
  readonly replayed: boolean;
  /** undefined: the first registration of the node. */
  readonly predecessor: Incarnation | undefined;
  readonly proven: boolean;
}

export interface OpenSessionRequest {
  readonly owner: Owner;
  readonly group: GroupId;
}

export interface LeaseDuration {
  readonly keyspace: string;
  readonly durationMs: number;
  readonly renewIntervalMs: number;
}

export interface OpenSessionAnswer {
  readonly header: Header;
  readonly alreadyOpen: boolean;
  readonly durations: readonly LeaseDuration[];
}

export interface RangeEpoch {
  readonly rangeId: string;
  readonly epoch: Epoch;
}

export interface ReleaseItem extends RangeEpoch {
  /** Set: given up only to the successor for whom this was asked. */
  readonly handOverRevision: Revision | undefined;
}

export interface ReleaseRequest {
  readonly owner: Owner;
  readonly group: GroupId;
  readonly ranges: readonly ReleaseItem[];
}

/** Each range on its own. */
export interface RangeEpochsRequest {
  readonly owner: Owner;
  readonly group: GroupId;
  readonly ranges: readonly RangeEpoch[];
}

export interface ItemOutcome {
  readonly rangeId: string;
  readonly refused:
    | ("STALE_EPOCH" | "NOT_OWNER" | "NOT_FOUND" | "SESSION_CLOSED" | "NO_SUCCESSOR")
    | undefined;
  readonly currentEpoch: Epoch;
}

export interface RangeEpochsAnswer {
  readonly header: Header;
  readonly outcomes: readonly ItemOutcome[];
}

export interface KeyspaceSpan {
  readonly keyspace: string;
  readonly span: Span;
}

export interface RenewRequest {
  readonly owner: Owner;
  readonly group: GroupId;
  readonly asOf: Revision;
  readonly except: readonly KeyspaceSpan[];
  readonly pair: RenewalPair;
  readonly known: readonly RenewalPair[];
}

/** Tells two processes of one incarnation apart (law 13). */
export interface RenewalPair {
  readonly sequence: number;
  readonly nonce: number;
}

export type HoldChangeKind =
  | "granted"
  | "released"
  | "expired"
  | "successorSet"
  | "successorLifted";

export interface HoldChange {
  readonly revision: Revision;
  readonly kind: HoldChangeKind;
  readonly range: RangeRecord;
}

export interface RenewAnswer {
  readonly header: Header;
  readonly durations: readonly LeaseDuration[];
  readonly changes: readonly HoldChange[];
}

export interface GrantItem {
  readonly rangeId: string;
  readonly expectedEpoch: Epoch;
  readonly expectedDescriptorRevision: Revision;
  readonly nodeId: string;
  /** undefined: whichever incarnation has an open session. */
  readonly incarnation: Incarnation | undefined;
}

export interface GrantRequest {
  readonly requestId: RequestId;
  readonly group: GroupId;
  readonly items: readonly GrantItem[];
  readonly onlyUnowned: boolean;
  /** Ask the owners of owned ranges to hand them over. */
  readonly handOver: boolean;
}

export interface GrantOutcome {
  readonly rangeId: string;
  readonly kind: "granted" | "successorRecorded" | "alreadyOwner";
  readonly range: RangeRecord;
  readonly leaseDurationMs: number;
  readonly waitMs: number;
}

export interface GrantAnswer {
  readonly header: Header;
  readonly outcomes: readonly GrantOutcome[];
  readonly replayed: boolean;
}

export interface WithdrawSuccessorRequest {
  readonly requestId: RequestId;
  readonly group: GroupId;
  readonly rangeId: string;
  readonly expectedEpoch: Epoch;
  readonly expectedDescriptorRevision: Revision;
}

export interface WithdrawSuccessorAnswer {
  readonly header: Header;
  readonly range: RangeRecord;
  readonly replayed: boolean;
}
