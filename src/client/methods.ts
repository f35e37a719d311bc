/**
 * The services' methods over the retry loop: what each call is (read or mutation, present state or
 * not), which group it concerns, and what is filled in.
 */

import { type GroupId, ROOT_GROUP } from "../base/brands.ts";
import { WHOLE_SPAN } from "../base/span.ts";
import type * as api from "../wire/api.ts";
import type { CallOptions, CallSpec } from "./call.ts";
import type {
  ClientCluster,
  ClientDirectory,
  ClientKeyspaces,
  ClientOwnership,
} from "./requests.ts";

/** What the methods need from the client. */
export interface MethodCore {
  call<Answer extends { readonly header: api.Header }>(
    spec: CallSpec<Answer>,
    options: CallOptions,
  ): Promise<Answer>;
  /** Runs a mutation under the given or a new request id of the group. */
  withRequestId<Answer>(
    given: api.RequestId | undefined,
    group: GroupId,
    options: CallOptions,
    run: (requestId: api.RequestId, options: CallOptions) => Promise<Answer>,
  ): Promise<Answer>;
  /** Throws NOT_FOUND. */
  groupOfKeyspace(keyspace: string, options: CallOptions): Promise<GroupId>;
  /** undefined: not heard of yet. */
  knownGroupOfKeyspace(keyspace: string): GroupId | undefined;
  noteKeyspaces(keyspaces: readonly api.KeyspaceRecord[]): void;
}

const LINEARIZABLE: api.ReadOptions = { kind: "linearizable" };

type Send<Answer> = CallSpec<Answer>["send"];

function read<Answer>(
  name: string,
  send: Send<Answer>,
  rest: { group?: GroupId | undefined; presentState?: boolean } = {},
): CallSpec<Answer> {
  const { group, presentState = true } = rest;
  return { name, effect: "read", group, presentState, requestId: undefined, send };
}

function mutation<Answer>(
  name: string,
  group: GroupId | undefined,
  send: Send<Answer>,
  requestId?: api.RequestId,
): CallSpec<Answer> {
  return { name, effect: "mutation", group, presentState: false, requestId, send };
}

export function directoryMethods(core: MethodCore): ClientDirectory {
  const freshness = (keyspace: string, options: api.ReadOptions, pageToken = "") => ({
    group: options.kind === "linearizable" ? core.knownGroupOfKeyspace(keyspace) : undefined,
    presentState: options.kind !== "local" && pageToken === "",
  });
  return {
    lookup: (input, options = {}) => {
      const request = { ...input, read: input.read ?? LINEARIZABLE };
      const rest = freshness(request.keyspace, request.read);
      return core.call(
        read("lookup", (s, c) => s.directory.lookup(request, c), rest),
        options,
      );
    },
    lookupBatch: (input, options = {}) => {
      const request = { ...input, read: input.read ?? LINEARIZABLE };
      const rest = freshness(request.keyspace, request.read);
      return core.call(
        read("lookupBatch", (s, c) => s.directory.lookupBatch(request, c), rest),
        options,
      );
    },
    getRange: (input, options = {}) => {
      const request = { ...input, read: input.read ?? LINEARIZABLE };
      const rest = { presentState: request.read.kind !== "local" };
      return core.call(
        read("getRange", (s, c) => s.directory.getRange(request, c), rest),
        options,
      );
    },
    listRanges: (input, options = {}) => {
      const request: api.ListRangesRequest = {
        keyspace: input.keyspace,
        span: input.span ?? WHOLE_SPAN,
        nodeId: input.nodeId,
        unownedOnly: input.unownedOnly ?? false,
        pageSize: input.pageSize ?? 0,
        pageToken: input.pageToken ?? "",
        read: input.read ?? LINEARIZABLE,
      };
      const rest = freshness(request.keyspace, request.read, request.pageToken);
      return core.call(
        read("listRanges", (s, c) => s.directory.listRanges(request, c), rest),
        options,
      );
    },
    listNodes: (input, options = {}) => {
      const request = pageRequest(input);
      const rest = { group: ROOT_GROUP, presentState: request.pageToken === "" };
      return core.call(
        read("listNodes", (s, c) => s.directory.listNodes(request, c), rest),
        options,
      );
    },
  };
}

export function ownershipMethods(core: MethodCore): ClientOwnership {
  return {
    register: (input, options = {}) =>
      core.withRequestId(input.requestId, ROOT_GROUP, options, (requestId, left) => {
        const request = { ...input, requestId, start: input.start };
        return core.call(
          mutation("register", ROOT_GROUP, (s, c) => s.ownership.register(request, c), requestId),
          left,
        );
      }),
    openSession: (request, options = {}) =>
      core.call(
        mutation("openSession", request.group, (s, c) => s.ownership.openSession(request, c)),
        options,
      ),
    accept: (request, options = {}) =>
      core.call(
        mutation("accept", request.group, (s, c) => s.ownership.accept(request, c)),
        options,
      ),
    renew: (request, options = {}) =>
      core.call(
        mutation("renew", request.group, (s, c) => s.ownership.renew(request, c)),
        options,
      ),
    grant: (input, options = {}) =>
      core.withRequestId(input.requestId, input.group, options, (requestId, left) => {
        const request = { ...input, requestId, handOver: input.handOver ?? false };
        return core.call(
          mutation("grant", input.group, (s, c) => s.ownership.grant(request, c), requestId),
          left,
        );
      }),
    withdrawSuccessor: (input, options = {}) =>
      core.withRequestId(input.requestId, input.group, options, (requestId, left) => {
        const request = { ...input, requestId };
        const send: Send<api.WithdrawSuccessorAnswer> = (s, c) =>
          s.ownership.withdrawSuccessor(request, c);
        return core.call(mutation("withdrawSuccessor", input.group, send, requestId), left);
      }),
    release: (input, options = {}) => {
      const ranges = input.ranges.map((item) => ({
        ...item,
        handOverRevision: item.handOverRevision,
      }));
      const request = { ...input, ranges };
      return core.call(
        mutation("release", request.group, (s, c) => s.ownership.release(request, c)),
        options,
      );
    },
  };
}

export function keyspacesMethods(core: MethodCore): ClientKeyspaces {
  return {
    createKeyspace: (input, options = {}) =>
      core.withRequestId(input.requestId, ROOT_GROUP, options, async (requestId, left) => {
        const request = { ...input, requestId };
        const send: Send<api.CreateKeyspaceAnswer> = (s, c) =>
          s.keyspaces.createKeyspace(request, c);
        const answer = await core.call(
          mutation("createKeyspace", ROOT_GROUP, send, requestId),
          left,
        );
        core.noteKeyspaces([answer.keyspace]);
        return answer;
      }),
    listKeyspaces: async (input, options = {}) => {
      const request = pageRequest(input);
      const rest = { group: ROOT_GROUP, presentState: request.pageToken === "" };
      const send: Send<api.ListKeyspacesAnswer> = (s, c) => s.keyspaces.listKeyspaces(request, c);
      const answer = await core.call(read("listKeyspaces", send, rest), options);
      core.noteKeyspaces(answer.keyspaces);
      return answer;
    },
    defineRanges: async (input, options = {}) => {
      const group = await core.groupOfKeyspace(input.keyspace, options);
      return core.withRequestId(input.requestId, group, options, (requestId, left) => {
        const request = { ...input, requestId };
        const send: Send<api.DefineRangesAnswer> = (s, c) => s.keyspaces.defineRanges(request, c);
        return core.call(mutation("defineRanges", group, send, requestId), left);
      });
    },
    stageImport: (request, options = {}) => {
      const group = core.knownGroupOfKeyspace(request.keyspace);
      const send: Send<api.StageImportAnswer> = (s, c) => s.keyspaces.stageImport(request, c);
      return core.call(mutation("stageImport", group, send), options);
    },
    commitImport: (request, options = {}) => {
      const group = core.knownGroupOfKeyspace(request.keyspace);
      const send: Send<api.CommitImportAnswer> = (s, c) => s.keyspaces.commitImport(request, c);
      return core.call(mutation("commitImport", group, send), options);
    },
    abortImport: (request, options = {}) => {
      const group = core.knownGroupOfKeyspace(request.keyspace);
      const send: Send<{ readonly header: api.Header }> = (s, c) =>
        s.keyspaces.abortImport(request, c);
      return core.call(mutation("abortImport", group, send), options);
    },
  };
}

export function clusterMethods(
  core: MethodCore,
  onStatus: (status: api.ClusterStatus) => void,
): ClientCluster {
  return {
    getStatus: async (_request = {}, options = {}) => {
      const status = await readStatus(core, undefined, options);
      onStatus(status);
      return status;
    },
  };
}

/** Of a group's leader, if its address is known: that one does not lag behind. */
export function readStatus(
  core: MethodCore,
  group: GroupId | undefined,
  options: CallOptions,
): Promise<api.ClusterStatus> {
  const send: Send<api.ClusterStatus> = (s, c) => s.cluster.getStatus({}, c);
  return core.call(read("getStatus", send, { group, presentState: false }), options);
}

function pageRequest(input: Partial<api.PageRequest>): api.PageRequest {
  return { pageSize: input.pageSize ?? 0, pageToken: input.pageToken ?? "" };
}
