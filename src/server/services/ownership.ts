/**
 * The Ownership service: one request, one entry, one answer. What may be repeated, and how, stands
 * in the proto; here requests only become commands, and results answers.
 */

import type { GroupId, Revision } from "../../base/brands.ts";
import { compareStrings } from "../../base/ordered-map.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { NodeRecord } from "../../machine/root/types.ts";
import type { RangeOutcome } from "../../machine/shard/answers.ts";
import type { ShardCommand } from "../../machine/shard/commands.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext, OwnershipService } from "../../wire/api-services.ts";
import { refusal } from "../../wire/refusal.ts";
import {
  type ClusterGroups,
  countdown,
  headerOf,
  type ShardGroup,
  shardOf,
} from "./cluster-groups.ts";
import { recordBytes, toRangeRecord } from "./records.ts";
import { refuseByRoot, refuseSubmit, refuseUnavailable } from "./refusals.ts";
import { renew, toLeaseDuration } from "./renew.ts";
import type { RenewalBatcher } from "./renewal-batcher.ts";
import { ask, unexpected } from "./shard-calls.ts";

/** Records in the answer to one grant, about: below what peers accept as a forwarded result. */
const GRANT_RECORDS_BYTES_MAX = 768 * 1024;

export function ownershipService(
  groups: ClusterGroups,
  renewals: ReadonlyMap<GroupId, RenewalBatcher>,
): OwnershipService {
  const timed = (context: CallContext): CallContext => countdown(groups, context);
  return {
    register: (request, context) => register(groups, request, context),
    openSession: (request, context) => openSession(groups, request, timed(context)),
    accept: (request, context) => accept(groups, request, timed(context)),
    release: (request, context) => release(groups, request, timed(context)),
    renew: (request, context) => renew(groups, renewals, request, timed(context)),
    grant: (request, context) => grant(groups, request, timed(context)),
    withdrawSuccessor: (request, context) => withdrawSuccessor(groups, request, timed(context)),
  };
}

async function register(
  groups: ClusterGroups,
  request: api.RegisterRequest,
  context: CallContext,
): Promise<Result<api.RegisterAnswer, api.Refusal>> {
  const { requestId, nodeId, dataUuid, addresses, zone, capacity, start } = request;
  const labels = Object.entries(request.labels)
    .map(([name, value]) => ({ name, value }))
    .toSorted((a, b) => compareStrings(a.name, b.name));
  const command = {
    kind: "registerNode",
    nodeId,
    dataUuid: dataUuid.replaceAll("-", "").toLowerCase(),
    start,
    addresses,
    zone,
    labels,
    capacity,
  } as const;
  const outcome = await groups.root.submit({ requestId, command }, context.timeoutMs);
  if (outcome.kind === "failed") return failed(refuseSubmit(groups.root, outcome));
  const { replayed, revision, result } = outcome.answer;
  if (result.kind === "refused") return failed(refuseByRoot(result, revision));
  if (result.kind !== "nodeRegistered") return failed(unexpected(result.kind));
  const { incarnation, predecessor, provenSince } = result.node;
  return ok({
    header: headerOf(groups, groups.root.group, revision),
    incarnation,
    predecessor: predecessor === 0 ? undefined : predecessor,
    proven: provenSince < incarnation,
    shardGroups: groups.rootState.cluster?.shardGroups ?? [...groups.shards.keys()],
    replayed,
  });
}

/** The root's record of the registration, which the session goes by, is read first (law 13). */
async function openSession(
  groups: ClusterGroups,
  request: api.OpenSessionRequest,
  context: CallContext,
): Promise<Result<api.OpenSessionAnswer, api.Refusal>> {
  const { nodeId, incarnation } = request.owner;
  const permission = await groups.root.read({ kind: "linearizable" }, context.timeoutMs);
  if (permission.kind !== "ready") return failed(refuseUnavailable(groups.root, permission));
  const registered = judgeRegistration(groups.rootState.nodes.get(nodeId), request.owner);
  if (!registered.ok) return registered;
  const { provenSince, addresses } = registered.value;
  const command = { kind: "openSession", nodeId, incarnation, provenSince, addresses } as const;
  const answered = await ask(groups, request.group, "sessionOpened", { command }, context);
  if (!answered.ok) return answered;
  const { header, result } = answered.value;
  const { alreadyOpen, durations } = result;
  return ok({ header, alreadyOpen, durations: durations.map(toLeaseDuration) });
}

function judgeRegistration(
  node: NodeRecord | undefined,
  owner: api.Owner,
): Result<NodeRecord, api.Refusal> {
  const metadata = { node_id: owner.nodeId, incarnation: String(owner.incarnation) };
  if (node === undefined || node.incarnation < owner.incarnation) {
    const message = `storage node ${owner.nodeId} is not registered as this incarnation; register`;
    return failed(refusal("NOT_FOUND", message, { metadata, field: "owner.incarnation" }));
  }
  if (node.incarnation === owner.incarnation) return ok(node);
  const message = `a newer process of storage node ${owner.nodeId} has registered; stop this one`;
  return failed(refusal("STALE_INCARNATION", message, { metadata, field: "owner.incarnation" }));
}

function accept(
  groups: ClusterGroups,
  { owner, group, ranges }: api.RangeEpochsRequest,
  context: CallContext,
): Promise<Result<api.RangeEpochsAnswer, api.Refusal>> {
  return judgeRanges(groups, group, { kind: "accept", ...owner, ranges }, context);
}

function release(
  groups: ClusterGroups,
  { owner, group, ranges }: api.ReleaseRequest,
  context: CallContext,
): Promise<Result<api.RangeEpochsAnswer, api.Refusal>> {
  const released = ranges.map(({ rangeId, epoch, handOverRevision }) => {
    return { rangeId, epoch, handOverRevision: handOverRevision ?? (0 as Revision) };
  });
  return judgeRanges(groups, group, { kind: "release", ...owner, ranges: released }, context);
}

async function judgeRanges(
  groups: ClusterGroups,
  group: GroupId,
  command: ShardCommand,
  context: CallContext,
): Promise<Result<api.RangeEpochsAnswer, api.Refusal>> {
  const answered = await ask(groups, group, "rangesJudged", { command }, context);
  if (!answered.ok) return answered;
  const { header, result } = answered.value;
  return ok({ header, outcomes: result.outcomes.map(toItemOutcome) });
}

async function grant(
  groups: ClusterGroups,
  request: api.GrantRequest,
  context: CallContext,
): Promise<Result<api.GrantAnswer, api.Refusal>> {
  const { requestId, items, onlyUnowned, handOver } = request;
  const found = shardOf(groups, request.group);
  if (!found.ok) return found;
  const heavy = await judgeWeight(found.value, items, context);
  if (heavy !== undefined) return failed(heavy);
  const command: ShardCommand = { kind: "grant", items, onlyUnowned, handOver };
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

/**
 * The answer carries every range; a leader on another server sends it as one bounded message. A
 * range that is not known here is looked for first: it must not come as a surprise in the answer.
 */
async function judgeWeight(
  { access, state }: ShardGroup,
  items: readonly api.GrantItem[],
  context: CallContext,
): Promise<api.Refusal | undefined> {
  if (items.some(({ rangeId }) => !state.rangesById.has(rangeId))) {
    const permission = await access.read({ kind: "linearizable" }, context.timeoutMs);
    if (permission.kind !== "ready") return refuseUnavailable(access, permission);
  }
  let bytes = 0;
  for (const { rangeId } of items) {
    const slot = state.rangesById.get(rangeId);
    if (slot !== undefined) bytes += recordBytes(slot.record);
  }
  if (bytes <= GRANT_RECORDS_BYTES_MAX) return undefined;
  const message = `the ranges have ${bytes} bytes of keys; grant fewer of them in one request`;
  return refusal("INVALID", message, { metadata: { bytes: String(bytes) }, field: "items" });
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

const OUTCOME_REASONS = {
  staleEpoch: "STALE_EPOCH",
  notOwner: "NOT_OWNER",
  notFound: "NOT_FOUND",
  sessionClosed: "SESSION_CLOSED",
  noSuccessor: "NO_SUCCESSOR",
} as const;

function toItemOutcome({ rangeId, refused, currentEpoch }: RangeOutcome): api.ItemOutcome {
  return {
    rangeId,
    refused: refused === undefined ? undefined : OUTCOME_REASONS[refused],
    currentEpoch,
  };
}
