/**
 * The client's forms of the API's requests: what the library can fill in may be left out. Each
 * method's meaning, bounds and refusals stand in proto/cadastre/v1.
 */

import type { Bytes } from "../base/bytes.ts";
import type { Span } from "../base/span.ts";
import type * as api from "../wire/api.ts";
import type { CallOptions } from "./call.ts";

/** The request with some fields optional. */
export type Loose<Request, Field extends keyof Request> = Omit<Request, Field> & {
  readonly [Name in Field]?: Request[Name] | undefined;
};

/** A call that answers or throws a CoordinationError. */
export type Call<Request, Answer> = (request: Request, options?: CallOptions) => Promise<Answer>;

/** Reads are linearizable unless `read` says otherwise, and are retried until the deadline. */
export interface ClientDirectory {
  readonly lookup: Call<Loose<api.LookupRequest, "read">, api.LookupAnswer>;
  readonly lookupBatch: Call<Loose<api.LookupBatchRequest, "read">, api.LookupBatchAnswer>;
  readonly getRange: Call<Loose<api.GetRangeRequest, "read">, api.GetRangeAnswer>;
  /** One page. Defaults: the whole keyspace, any node, owned or not, from the first page. */
  readonly listRanges: Call<ListRangesInput, api.ListRangesAnswer>;
  readonly listNodes: Call<Partial<api.PageRequest>, api.ListNodesAnswer>;
}

export type ListRangesInput = Loose<
  api.ListRangesRequest,
  "span" | "nodeId" | "unownedOnly" | "pageSize" | "pageToken" | "read"
>;

/**
 * Mutations are repeated with the identical request until the deadline, which is safe: by request
 * id (register, grant, withdrawSuccessor) or because a repeat has no further effect (the others).
 */
export interface ClientOwnership {
  readonly register: Call<Loose<api.RegisterRequest, "requestId" | "start">, api.RegisterAnswer>;
  readonly openSession: Call<api.OpenSessionRequest, api.OpenSessionAnswer>;
  readonly accept: Call<api.RangeEpochsRequest, api.RangeEpochsAnswer>;
  readonly renew: Call<api.RenewRequest, api.RenewAnswer>;
  /** An owned range gets a successor; with `handOver` its owner is asked to stop for it. */
  readonly grant: Call<Loose<api.GrantRequest, "requestId" | "handOver">, api.GrantAnswer>;
  readonly withdrawSuccessor: Call<
    Loose<api.WithdrawSuccessorRequest, "requestId">,
    api.WithdrawSuccessorAnswer
  >;
  readonly release: Call<ReleaseInput, api.RangeEpochsAnswer>;
}

/** Plain releases leave `handOverRevision` out. */
export interface ReleaseInput extends Omit<api.ReleaseRequest, "ranges"> {
  readonly ranges: readonly Loose<api.ReleaseItem, "handOverRevision">[];
}

/** As {@link ClientOwnership}: createKeyspace and defineRanges by request id, the rest as it is. */
export interface ClientKeyspaces {
  readonly createKeyspace: Call<
    Loose<api.CreateKeyspaceRequest, "requestId">,
    api.CreateKeyspaceAnswer
  >;
  readonly listKeyspaces: Call<Partial<api.PageRequest>, api.ListKeyspacesAnswer>;
  readonly defineRanges: Call<Loose<api.DefineRangesRequest, "requestId">, api.DefineRangesAnswer>;
  readonly stageImport: Call<api.StageImportRequest, api.StageImportAnswer>;
  readonly commitImport: Call<api.CommitImportRequest, api.CommitImportAnswer>;
  readonly abortImport: Call<api.AbortImportRequest, { readonly header: api.Header }>;
}

export interface ClientCluster {
  /** What one server knows; it never waits for a quorum, and its revision may be old. */
  readonly getStatus: (
    request?: Readonly<Record<string, never>>,
    options?: CallOptions,
  ) => Promise<api.ClusterStatus>;
}

/** What to watch; without anything, all ranges of all keyspaces. */
export interface WatchInput {
  readonly keyspace?: string | undefined;
  /** Needs a keyspace. */
  readonly span?: Span | undefined;
  /** Only ranges whose owner or successor is this node, before or after a change. */
  readonly nodeId?: string | undefined;
  /** Of an earlier frame of a watch with the same filter; absent: start with a snapshot. */
  readonly resumeToken?: Bytes | undefined;
  /** Throw COMPACTED rather than start over with a marked snapshot. */
  readonly failIfCompacted?: boolean | undefined;
}
