/**
 * The public services as plain functions, request to answer: what server/services implements and
 * what a client's channel offers. A refusal is a value (STYLE 5); a rejected promise is a bug.
 *
 * Each method's meaning, bounds and retry rules stand in proto/cadastre/v1.
 */

import type { Result } from "../base/result.ts";
import type * as api from "./api.ts";

/** What every call gets beside its request. */
export interface CallContext {
  /** Time left to the caller in ms; the service answers before it has run out. */
  readonly timeoutMs: number;
  /** Aborted when the caller no longer waits. The call may still be applied. */
  readonly signal?: AbortSignal;
}

export type Unary<Request, Answer> = (
  request: Request,
  context: CallContext,
) => Promise<Result<Answer, api.Refusal>>;

/**
 * A server stream. Frames come in order until the stream ends with a refusal (never silently);
 * pulling no frames makes the sender's bounded backlog fill, which ends the stream. Returning the
 * iterator closes the stream.
 */
export type ServerStream<Request, Frame> = (
  request: Request,
  context: { readonly signal?: AbortSignal },
) => AsyncIterable<Result<Frame, api.Refusal>>;

export interface DirectoryService {
  readonly lookup: Unary<api.LookupRequest, api.LookupAnswer>;
  readonly lookupBatch: Unary<api.LookupBatchRequest, api.LookupBatchAnswer>;
  readonly getRange: Unary<api.GetRangeRequest, api.GetRangeAnswer>;
  readonly listRanges: Unary<api.ListRangesRequest, api.ListRangesAnswer>;
  readonly listNodes: Unary<api.PageRequest, api.ListNodesAnswer>;
  readonly watch: ServerStream<api.WatchRequest, api.WatchFrame>;
}

export interface OwnershipService {
  readonly register: Unary<api.RegisterRequest, api.RegisterAnswer>;
  readonly openSession: Unary<api.OpenSessionRequest, api.OpenSessionAnswer>;
  readonly accept: Unary<api.RangeEpochsRequest, api.RangeEpochsAnswer>;
  readonly renew: Unary<api.RenewRequest, api.RenewAnswer>;
  readonly grant: Unary<api.GrantRequest, api.GrantAnswer>;
  readonly withdrawSuccessor: Unary<api.WithdrawSuccessorRequest, api.WithdrawSuccessorAnswer>;
  readonly release: Unary<api.ReleaseRequest, api.RangeEpochsAnswer>;
}

export interface KeyspacesService {
  readonly createKeyspace: Unary<api.CreateKeyspaceRequest, api.CreateKeyspaceAnswer>;
  readonly listKeyspaces: Unary<api.PageRequest, api.ListKeyspacesAnswer>;
  readonly defineRanges: Unary<api.DefineRangesRequest, api.DefineRangesAnswer>;
  readonly stageImport: Unary<api.StageImportRequest, api.StageImportAnswer>;
  readonly commitImport: Unary<api.CommitImportRequest, api.CommitImportAnswer>;
  readonly abortImport: Unary<api.AbortImportRequest, { readonly header: api.Header }>;
}

export interface ClusterService {
  readonly getStatus: Unary<Readonly<Record<string, never>>, api.ClusterStatus>;
}

/** All public services of one server. */
export interface ApiServices {
  readonly directory: DirectoryService;
  readonly ownership: OwnershipService;
  readonly keyspaces: KeyspacesService;
  readonly cluster: ClusterService;
}
