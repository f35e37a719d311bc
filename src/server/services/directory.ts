/**
 * The Directory service: look-ups at the level that is asked for, and lists. Everything is read in
 * one turn after the level was reached, so an answer reflects exactly one revision of its shard.
 */

import { defined } from "../../base/assert.ts";
import { type Bytes, compareBytes } from "../../base/bytes.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Keyspace, RangeSlot } from "../../machine/shard/state.ts";
import { remainingMs } from "../../machine/shard/leases.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext, DirectoryService } from "../../wire/api-services.ts";
import { refusal } from "../../wire/refusal.ts";
import {
  addressesOf,
  type ClusterGroups,
  findKeyspace,
  type KeyspacePlace,
  type ShardGroup,
  shardOf,
} from "./cluster-groups.ts";
import { listNodes, listRanges } from "./lists.ts";
import { shardHeader, toRangeRecord, toRoute } from "./records.ts";
import { refuseUnavailable } from "./refusals.ts";
import { watch } from "./watch.ts";
import type { WatchOptions } from "./watch.ts";

export function directoryService(groups: ClusterGroups, options: WatchOptions): DirectoryService {
  return {
    lookup: (request, context) => lookup(groups, request, context),
    lookupBatch: (request, context) => lookupBatch(groups, request, context),
    getRange: (request, context) => getRange(groups, request, context),
    listRanges: (request, context) => listRanges(groups, request, context),
    listNodes: (request, context) => listNodes(groups, request, context),
    watch: (request, { signal }) => watch(groups, options, request, signal),
  };
}

async function lookup(
  groups: ClusterGroups,
  request: api.LookupRequest,
  context: CallContext,
): Promise<Result<api.LookupAnswer, api.Refusal>> {
  const place = await readableKeyspace(groups, request, context);
  if (!place.ok) return place;
  const { shard, local } = place.value;
  const route = toRoute(groups, shard, rangeOfKey(local, request.key).record);
  return ok({ ...readAnswer(groups, shard, request.read), route });
}

async function lookupBatch(
  groups: ClusterGroups,
  request: api.LookupBatchRequest,
  context: CallContext,
): Promise<Result<api.LookupBatchAnswer, api.Refusal>> {
  const place = await readableKeyspace(groups, request, context);
  if (!place.ok) return place;
  const { shard, local } = place.value;
  const ofKey = request.keys.map((key) => rangeOfKey(local, key).record);
  const distinct = [...new Set(ofKey)].toSorted((a, b) => compareBytes(a.startKey, b.startKey));
  const positions = new Map(distinct.map((record, at) => [record, at]));
  return ok({
    ...readAnswer(groups, shard, request.read),
    routes: distinct.map((record) => toRoute(groups, shard, record)),
    routeOfKey: ofKey.map((record) => defined(positions.get(record), "each record is listed")),
  });
}

async function getRange(
  groups: ClusterGroups,
  request: api.GetRangeRequest,
  context: CallContext,
): Promise<Result<api.GetRangeAnswer, api.Refusal>> {
  const shard = shardOfRange(groups, request.rangeId);
  if (!shard.ok) return shard;
  const permission = await shard.value.access.read(request.read, context.timeoutMs);
  if (permission.kind !== "ready") {
    return failed(refuseUnavailable(shard.value.access, permission));
  }
  const { state } = shard.value;
  const slot = state.rangesById.get(request.rangeId);
  if (slot === undefined) return failed(noSuchRange(request.rangeId));
  return ok({
    ...readAnswer(groups, shard.value, request.read),
    range: toRangeRecord(state, slot.record),
    leaseRemainingMs: remainingMs(state, slot),
    addresses: addressesOf(groups, slot.record.owner),
  });
}

/** The keyspace, once its shard may be read here at the level that the request asks for. */
export async function readableKeyspace(
  groups: ClusterGroups,
  request: { readonly keyspace: string; readonly read: api.ReadOptions },
  context: CallContext,
): Promise<Result<KeyspacePlace & { readonly local: Keyspace }, api.Refusal>> {
  const place = await findKeyspace(groups, request.keyspace, context.timeoutMs);
  if (!place.ok) return place;
  const { keyspace, shard } = place.value;
  const permission = await shard.access.read(request.read, context.timeoutMs);
  if (permission.kind !== "ready") return failed(refuseUnavailable(shard.access, permission));
  const local = shard.state.keyspaces.get(keyspace.keyspaceId);
  if (local !== undefined) return ok({ keyspace, shard, local });
  const message = `this server has not caught up with keyspace "${request.keyspace}"; try another`;
  const metadata = { keyspace: request.keyspace };
  return failed(refusal("TRANSIENT", message, { metadata, retryAfterMs: 100 }));
}

export function readAnswer(
  groups: ClusterGroups,
  shard: ShardGroup,
  read: api.ReadOptions,
): api.ReadAnswer {
  const staleness = read.kind === "local" ? shard.access.staleness() : undefined;
  return { header: shardHeader(groups, shard), staleness };
}

function rangeOfKey(keyspace: Keyspace, key: Bytes): RangeSlot {
  const [, slot] = defined(keyspace.ranges.floor(key), "ranges tile the keyspace");
  return slot;
}

/** A range id begins with the group that made it. */
function shardOfRange(groups: ClusterGroups, rangeId: string): Result<ShardGroup, api.Refusal> {
  const match = /^(\d{1,9})\.\d+\.\d+$/.exec(rangeId);
  if (match === null) {
    const message = `"${rangeId}" is no range id; one looks like 1.42.0`;
    const metadata = { range_id: rangeId };
    return failed(refusal("INVALID", message, { metadata, field: "range_id" }));
  }
  const shard = shardOf(groups, Number(match[1]) as ShardGroup["access"]["group"]);
  return shard.ok ? shard : failed(noSuchRange(rangeId));
}

function noSuchRange(rangeId: string): api.Refusal {
  const message = `there is no range ${rangeId}; it may have been retired, list the ranges again`;
  return refusal("NOT_FOUND", message, { metadata: { range_id: rangeId }, field: "range_id" });
}

