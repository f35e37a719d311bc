/**
 * The Ownership service: one request, one entry, one answer. What may be repeated, and how, stands
 * in the proto; here requests only become commands, and results answers.
 */

import type { GroupId } from "../../base/brands.ts";
import { compareStrings } from "../../base/ordered-map.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { NodeRecord } from "../../machine/root/types.ts";
import type { LeaseTerm, ShardResult } from "../../machine/shard/answers.ts";
import type { RangeOutcome } from "../../machine/shard/answers.ts";
import type { ShardCommand, ShardRequest } from "../../machine/shard/commands.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext, OwnershipService } from "../../wire/api-services.ts";
import { refusal } from "../../wire/refusal.ts";
import { type ClusterGroups, findKeyspace, headerOf, type ShardGroup, shardOf } from "./cluster-groups.ts";
import { shardHeader, toDescriptor, toRangeRecord } from "./records.ts";
import { refuseByRoot, refuseByShard, refuseSubmit, refuseUnavailable } from "./refusals.ts";
import type { RenewalBatcher } from "./renewal-batcher.ts";

type Answered<K extends ShardResult["kind"]> = {
  readonly shard: ShardGroup;
  readonly header: api.Header;
  readonly replayed: boolean;
  readonly result: Extract<ShardResult, { readonly kind: K }>;
};

export function ownershipService(
  groups: ClusterGroups,
  renewals: ReadonlyMap<GroupId, RenewalBatcher>,
): OwnershipService {
  return {
    register: (request, context) => register(groups, request, context),
    openSession: (request, context) => openSession(groups, request, context),
    accept: (request, context) => judgeRanges(groups, "accept", request, context),
    release: (request, context) => judgeRanges(groups, "release", request, context),
    renew: (request, context) => renew(groups, renewals, request, context),
    grant: (request, context) => grant(groups, request, context),
    withdrawSuccessor: (request, context) => withdrawSuccessor(groups, request, context),
  };
}

async function register(
  groups: ClusterGroups,
  request: api.RegisterRequest,
  context: CallContext,
): Promise<Result<api.RegisterAnswer, api.Refusal>> {
  const { requestId, nodeId, dataUuid, addresses, zone, capacity } = request;
  const labels = Object.entries(request.labels)
    .map(([name, value]) => ({ name, value }))
    .toSorted((a, b) => compareStrings(a.name, b.name));
  const command = {
    kind: "registerNode",
    nodeId,
    dataUuid: dataUuid.replaceAll("-", "").toLowerCase(),
    addresses,
    zone,
    labels,
    capacity,
  } as const;
  const outcome = await groups.root.submit({ requestId, command }, context.timeoutMs);
  if (outcome.kind === "failed") return failed(refuseSubmit(groups.root, outcome));
  const { replayed, revision, result } = outcome.answer;
  if (result.kind === "refused") return failed(refuseByRoot(result));
  if (result.kind !== "nodeRegistered") return failed(unexpected(result.kind));
  return ok({
    header: headerOf(groups, groups.root.group, revision),
    incarnation: result.node.incarnation,
    shardGroups: groups.rootState.cluster?.shardGroups ?? [...groups.shards.keys()],
    replayed,
  });
}

/** The root's record of the registration decides who may open a session, and is read first. */
async function openSession(
  groups: ClusterGroups,
  request: api.OpenSessionRequest,
  context: CallContext,
): Promise<Result<api.OpenSessionAnswer, api.Refusal>> {
  const { nodeId, incarnation } = request.owner;
  const permission = await groups.root.read({ kind: "linearizable" }, context.timeoutMs);
  if (permission.kind !== "ready") return failed(refuseUnavailable(groups.root, permission));
  const unfit = judgeRegistration(groups.rootState.nodes.get(nodeId), request.owner);
  if (unfit !== undefined) return failed(unfit);
  const command = { kind: "openSession", nodeId, incarnation } as const;
  const answered = await ask(groups, request.group, "sessionOpened", { command }, context);
  if (!answered.ok) return answered;
  const { header, result } = answered.value;
  const { alreadyOpen, durations } = result;
  return ok({ header, alreadyOpen, durations: durations.map(toLeaseDuration) });
}

function judgeRegistration(
  node: NodeRecord | undefined,
  owner: api.Owner,
): api.Refusal | undefined {
  const metadata = { node_id: owner.nodeId, incarnation: String(owner.incarnation) };
  if (node === undefined || node.incarnation < owner.incarnation) {
    const message = `storage node ${owner.nodeId} is not registered as this incarnation; register`;
    return refusal("NOT_FOUND", message, { metadata, field: "owner.incarnation" });
  }
  if (node.incarnation === owner.incarnation) return undefined;
  const message = `a newer process of storage node ${owner.nodeId} has registered; stop this one`;
  return refusal("STALE_INCARNATION", message, { metadata, field: "owner.incarnation" });
}

async function judgeRanges(
  groups: ClusterGroups,
  kind: "accept" | "release",
  request: api.RangeEpochsRequest,
  context: CallContext,
): Promise<Result<api.RangeEpochsAnswer, api.Refusal>> {
  const { owner, ranges } = request;
  const command: ShardCommand = { kind, ...owner, ranges };
  const answered = await ask(groups, request.group, "rangesJudged", { command }, context);
  if (!answered.ok) return answered;
  const { header, result } = answered.value;
  return ok({ header, outcomes: result.outcomes.map(toItemOutcome) });
}

async function renew(
  groups: ClusterGroups,
  renewals: ReadonlyMap<GroupId, RenewalBatcher>,
  request: api.RenewRequest,
  context: CallContext,
): Promise<Result<api.RenewAnswer, api.Refusal>> {
  const found = shardOf(groups, request.group);
  if (!found.ok) return found;
  const shard = found.value;
  const except: { keyspaceId: number; startKey: Uint8Array; endKey: Uint8Array | undefined }[] = [];
  for (const { keyspace, span } of request.except) {
    const place = await findKeyspace(groups, keyspace, context.timeoutMs);
    if (!place.ok) return place;
    except.push({ keyspaceId: place.value.keyspace.keyspaceId, ...span });
  }
  const { nodeId, incarnation } = request.owner;
  const batcher = renewals.get(request.group);
  if (batcher === undefined) return failed(unexpected("no batcher"));
  const renewal = { nodeId, incarnation, asOf: request.asOf, except };
  const outcome = await batcher.renew([renewal], {
    timeoutMs: context.timeoutMs,
    isForwarded: false,
  });
  if (outcome.kind === "failed") return failed(refuseSubmit(shard.access, outcome));
  const answer = outcome.answers[0];
  const header = shardHeader(groups, shard, outcome.revision);
  const metadata = { node_id: nodeId, as_of: String(request.asOf) };
  switch (answer?.kind) {
    case "extended":
      return ok({
        header,
        durations: answer.durations.map(toLeaseDuration),
        changes: answer.changes.map(({ revision, kind, range }) => ({
          revision,
          kind,
          range: toRangeRecord(shard.state, range),
        })),
      });
    case "noSession": {
      const message = `storage node ${nodeId} has no open session of this incarnation; open one`;
      return failed(refusal("NO_SESSION", message, { metadata }));
    }
    case "asOfAhead": {
      const message = `as_of is above the renewal's revision ${header.revision}`;
      return failed(refusal("INVALID", message, { metadata, field: "as_of" }));
    }
    case "viewTooOld": {
      const floor = String(answer.floor);
      const message = `the view is older than the changes kept; refresh it to at least ${floor}`;
      const more = { metadata: { ...metadata, floor }, field: "as_of" };
      return failed(refusal("VIEW_TOO_OLD", message, more));
    }
    case undefined:
      return failed(unexpected("renewed"));
  }
}

async function grant(
  groups: ClusterGroups,
  request: api.GrantRequest,
  context: CallContext,
): Promise<Result<api.GrantAnswer, api.Refusal>> {
  const { requestId, items, onlyUnowned } = request;
  const command: ShardCommand = { kind: "grant", items, onlyUnowned };
  const answered = await ask(groups, request.group, "grantsDone", { requestId, command }, context);
  if (!answered.ok) return answered;
  const { shard, header, replayed, result } = answered.value;
  const outcomes = result.outcomes.map(({ kind, range, leaseDurationMs, waitMs }) => ({
    rangeId: range.rangeId,
    kind,
    range: toRangeRecord(shard.state, range),
    leaseDurationMs,
    waitMs,
  }));
  return ok({ header, outcomes, replayed });
}

async function withdrawSuccessor(
  groups: ClusterGroups,
  request: api.WithdrawSuccessorRequest,
  context: CallContext,
): Promise<Result<api.WithdrawSuccessorAnswer, api.Refusal>> {
  const { requestId, group, rangeId, expectedEpoch, expectedDescriptorRevision } = request;
  const command: ShardCommand = {
    kind: "withdrawSuccessor",
    rangeId,
    expectedEpoch,
    expectedDescriptorRevision,
  };
  const call = { requestId, command };
  const answered = await ask(groups, group, "successorWithdrawn", call, context);
  if (!answered.ok) return answered;
  const { shard, header, replayed, result } = answered.value;
  return ok({ header, range: toRangeRecord(shard.state, result.range), replayed });
}

/** Submits a command to a shard and expects one kind of result, or a refusal. */
export async function ask<K extends ShardResult["kind"]>(
  groups: ClusterGroups,
  group: GroupId,
  kind: K,
  call: { readonly requestId?: api.RequestId; readonly command: ShardCommand },
  context: CallContext,
): Promise<Result<Answered<K>, api.Refusal>> {
  const found = shardOf(groups, group);
  if (!found.ok) return found;
  const shard = found.value;
  const request: ShardRequest = { requestId: call.requestId, command: call.command };
  const outcome = await shard.access.submit(request, context.timeoutMs);
  if (outcome.kind === "failed") return failed(refuseSubmit(shard.access, outcome));
  const { replayed, revision, result } = outcome.answer;
  if (result.kind === "refused") {
    return failed(refuseByShard(result, (range) => toDescriptor(shard.state, range)));
  }
  if (!isKind(result, kind)) return failed(unexpected(result.kind));
  return ok({ shard, header: shardHeader(groups, shard, revision), replayed, result });
}

function isKind<K extends ShardResult["kind"]>(
  result: ShardResult,
  kind: K,
): result is Extract<ShardResult, { readonly kind: K }> {
  return result.kind === kind;
}

function unexpected(kind: string): api.Refusal {
  const message = `the group answered with "${kind}", which does not fit the request`;
  return refusal("INTERNAL", message, { metadata: { kind } });
}

function toLeaseDuration({ keyspace, durationMs, renewIntervalMs }: LeaseTerm): api.LeaseDuration {
  return { keyspace, durationMs, renewIntervalMs };
}

const OUTCOME_REASONS = {
  staleEpoch: "STALE_EPOCH",
  notOwner: "NOT_OWNER",
  notFound: "NOT_FOUND",
} as const;

function toItemOutcome({ rangeId, refused, currentEpoch }: RangeOutcome): api.ItemOutcome {
  return {
    rangeId,
    refused: refused === undefined ? undefined : OUTCOME_REASONS[refused],
    currentEpoch,
  };
}
