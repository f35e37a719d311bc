/**
 * The Keyspaces service: creation, lists, first boundaries, and imports of whole maps. A creation
 * is recorded at the root and finished by the root's leader (root-duties.ts).
 */

import { failed, ok, type Result } from "../../base/result.ts";
import type { MonotonicMs } from "../../base/brands.ts";
import type { ShardResult } from "../../machine/shard/answers.ts";
import type { ShardCommand } from "../../machine/shard/commands.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext, KeyspacesService } from "../../wire/api-services.ts";
import { PAGE_SIZE_DEFAULT } from "../../wire/limits.ts";
import { refusal } from "../../wire/refusal.ts";
import { type ClusterGroups, countdown, findKeyspace, headerOf } from "./cluster-groups.ts";
import { badPageToken, nameToken, parseNameToken } from "./lists.ts";
import { toKeyspaceRecord } from "./records.ts";
import { refuseByRoot, refuseSubmit, refuseUnavailable } from "./refusals.ts";
import { type Answered, ask } from "./shard-calls.ts";

/** How often the root's state is looked at while a creation waits for it. */
const POLL_MS = 5;

export function keyspacesService(groups: ClusterGroups): KeyspacesService {
  const timed = (context: CallContext): CallContext => countdown(groups, context);
  return {
    createKeyspace: (request, context) => createKeyspace(groups, request, timed(context)),
    listKeyspaces: (request, context) => listKeyspaces(groups, request, timed(context)),
    defineRanges: (request, context) => defineRanges(groups, request, timed(context)),
    stageImport: (request, context) => stageImport(groups, request, timed(context)),
    commitImport: (request, context) => commitImport(groups, request, timed(context)),
    abortImport: (request, context) => abortImport(groups, request, timed(context)),
  };
}

/**
 * Records the keyspace at the root, then waits until it is ready: the root's leader has the shard
 * make its first range (root-duties.ts), whoever leads by then.
 */
async function createKeyspace(
  groups: ClusterGroups,
  request: api.CreateKeyspaceRequest,
  context: CallContext,
): Promise<Result<api.CreateKeyspaceAnswer, api.Refusal>> {
  const { requestId, ...settings } = request;
  const deadlineMs = (groups.clock.nowMs() + context.timeoutMs) as MonotonicMs;
  // A refusal would be remembered for the request id, so what will pass is waited for here.
  await waitUntil(groups, deadlineMs, () => groups.rootState.cluster);
  const group = groups.rootState.cluster?.shardGroups[0];
  if (group === undefined) {
    const message = "the cluster is being initialised; try again";
    return failed(refusal("TRANSIENT", message, { retryAfterMs: 100 }));
  }
  const command = { kind: "createKeyspace", settings, group } as const;
  const outcome = await groups.root.submit({ requestId, command }, context.timeoutMs);
  if (outcome.kind === "failed") return failed(refuseSubmit(groups.root, outcome));
  const { replayed, revision, result } = outcome.answer;
  if (result.kind === "refused") return failed(refuseByRoot(result, revision));
  if (result.kind !== "keyspaceRecorded") {
    return failed(refusal("INTERNAL", `the root answered "${result.kind}" to a creation`));
  }
  const { keyspaceId } = result.keyspace;
  const ready = await waitUntil(groups, deadlineMs, () => {
    const keyspace = groups.rootState.keyspaces.get(keyspaceId);
    return keyspace?.state === "ready" ? keyspace : undefined;
  });
  if (ready === undefined) {
    const message = `keyspace "${request.name}" is recorded and not ready yet; repeat the request`;
    const more = { metadata: { keyspace: request.name }, retryAfterMs: 100 };
    return failed(refusal("UNCERTAIN", message, more));
  }
  const header = headerOf(groups, groups.root.group, revision);
  return ok({ header, keyspace: toKeyspaceRecord(groups, ready), replayed });
}

/** Looks until there is something, or the deadline has passed. */
async function waitUntil<T>(
  groups: ClusterGroups,
  deadlineMs: MonotonicMs,
  look: () => T | undefined,
): Promise<T | undefined> {
  for (;;) {
    const found = look();
    if (found !== undefined || groups.clock.nowMs() >= deadlineMs) return found;
    await new Promise<void>((resolve) => {
      groups.timers.after(POLL_MS, resolve);
    });
  }
}

async function listKeyspaces(
  groups: ClusterGroups,
  request: api.PageRequest,
  context: CallContext,
): Promise<Result<api.ListKeyspacesAnswer, api.Refusal>> {
  for (const access of [groups.root, ...[...groups.shards.values()].map((s) => s.access)]) {
    const permission = await access.read({ kind: "linearizable" }, context.timeoutMs);
    if (permission.kind !== "ready") return failed(refuseUnavailable(access, permission));
  }
  const after = parseNameToken(request.pageToken);
  if (!after.ok) return failed(badPageToken(after.error));
  const keyspaces: api.KeyspaceRecord[] = [];
  const limit = request.pageSize === 0 ? PAGE_SIZE_DEFAULT : request.pageSize;
  let nextPageToken = "";
  const { keyspaceIds, keyspaces: records } = groups.rootState;
  for (const [, keyspaceId] of keyspaceIds.entriesFrom(after.value, "exclusive")) {
    const record = records.get(keyspaceId);
    if (record === undefined) continue;
    const previous = keyspaces.at(-1);
    if (keyspaces.length === limit && previous !== undefined) {
      nextPageToken = nameToken(previous.name);
      break;
    }
    keyspaces.push(toKeyspaceRecord(groups, record));
  }
  return ok({ header: headerOf(groups, groups.root.group), keyspaces, nextPageToken });
}

async function defineRanges(
  groups: ClusterGroups,
  request: api.DefineRangesRequest,
  context: CallContext,
): Promise<Result<api.DefineRangesAnswer, api.Refusal>> {
  const { keyspace, requestId, splitKeys } = request;
  const call = { keyspace, requestId, kind: "rangesDefined" } as const;
  const answered = await askKeyspace(groups, call, context, (keyspaceId) => ({
    kind: "defineRanges",
    keyspaceId,
    splitKeys,
  }));
  if (!answered.ok) return answered;
  const { header, replayed, result } = answered.value;
  return ok({ header, rangeCount: result.rangeCount, replayed });
}

async function stageImport(
  groups: ClusterGroups,
  request: api.StageImportRequest,
  context: CallContext,
): Promise<Result<api.StageImportAnswer, api.Refusal>> {
  const { keyspace, importId, part, rows } = request;
  const call = { keyspace, kind: "importStaged" } as const;
  const answered = await askKeyspace(groups, call, context, (keyspaceId) => ({
    kind: "stageImport",
    importId,
    keyspaceId,
    part,
    rows,
  }));
  if (!answered.ok) return answered;
  const { stagedRows, expiresInMs } = answered.value.result;
  return ok({ header: answered.value.header, stagedRows, expiresInMs });
}

async function commitImport(
  groups: ClusterGroups,
  request: api.CommitImportRequest,
  context: CallContext,
): Promise<Result<api.CommitImportAnswer, api.Refusal>> {
  const { keyspace, importId, rowCount } = request;
  const call = { keyspace, kind: "importCommitted" } as const;
  const answered = await askKeyspace(groups, call, context, (keyspaceId) => ({
    kind: "commitImport",
    importId,
    keyspaceId,
    rowCount,
  }));
  if (!answered.ok) return answered;
  const { rangeCount, grantedCount } = answered.value.result;
  return ok({ header: answered.value.header, rangeCount, grantedCount });
}

async function abortImport(
  groups: ClusterGroups,
  request: api.AbortImportRequest,
  context: CallContext,
): Promise<Result<{ readonly header: api.Header }, api.Refusal>> {
  const { keyspace, importId } = request;
  const call = { keyspace, kind: "done" } as const;
  const answered = await askKeyspace(groups, call, context, (keyspaceId) => ({
    kind: "abortImport",
    importId,
    keyspaceId,
  }));
  return answered.ok ? ok({ header: answered.value.header }) : answered;
}

/** Asks the shard of a keyspace, which the command names by its id. */
async function askKeyspace<K extends ShardResult["kind"]>(
  groups: ClusterGroups,
  call: { readonly keyspace: string; readonly kind: K; readonly requestId?: api.RequestId },
  context: CallContext,
  commandFor: (keyspaceId: number) => ShardCommand,
): Promise<Result<Answered<K>, api.Refusal>> {
  const place = await findKeyspace(groups, call.keyspace, context.timeoutMs);
  if (!place.ok) return place;
  const { keyspace, shard } = place.value;
  const command = commandFor(keyspace.keyspaceId);
  const { kind, requestId } = call;
  const request = requestId === undefined ? { command } : { requestId, command };
  return ask(groups, shard.access.group, kind, request, context);
}
