/**
 * The Directory service: look-ups at the level that is asked for, and lists. Everything is read in
 * one turn after the level was reached, so an answer reflects exactly one revision of its shard.
 */

import { defined } from "../../base/assert.ts";
import { type Bytes, compareBytes } from "../../base/bytes.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Keyspace } from "../../machine/shard/state.ts";
import type { RangeSlot } from "../../machine/shard/types.ts";
import { remainingMs } from "../../machine/shard/leases.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext, DirectoryService } from "../../wire/api-services.ts";
import { ANSWER_BYTES_MAX } from "../../wire/limits.ts";
import { refusal } from "../../wire/refusal.ts";
import {
  addressesOf,
  type ClusterGroups,
  countdown,
  type ShardGroup,
  shardOf,
} from "./cluster-groups.ts";
import { listNodes, listRanges } from "./lists.ts";
import { presentKeyspace, readAnswer, readableKeyspace } from "./reading.ts";
import { recordBytes, toRangeRecord, toRoute } from "./records.ts";
import { refuseUnavailable } from "./refusals.ts";
import { watch } from "./watch.ts";
import type { WatchOptions } from "./watch.ts";

/** Routes of one batch, about: long boundaries and addresses must not outgrow an answer. */
const ROUTES_BYTES_MAX: number = ANSWER_BYTES_MAX / 2;

export function directoryService(groups: ClusterGroups, options: WatchOptions): DirectoryService {
  const timed = (context: CallContext): CallContext => countdown(groups, context);
  return {
    lookup: (request, context) => lookup(groups, request, timed(context)),
    lookupBatch: (request, context) => lookupBatch(groups, request, timed(context)),
    getRange: (request, context) => getRange(groups, request, timed(context)),
    listRanges: (request, context) => listRanges(groups, request, timed(context)),
    listNodes: (request, context) => listNodes(groups, request, timed(context)),
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
  const { shard, keyspace } = place.value;
  const { record } = rangeOfKey(presentKeyspace(shard, keyspace), request.key);
  return ok({
    ...readAnswer(groups, shard, request.read),
    route: toRoute(shard.state, record),
  });
}

async function lookupBatch(
  groups: ClusterGroups,
  request: api.LookupBatchRequest,
  context: CallContext,
): Promise<Result<api.LookupBatchAnswer, api.Refusal>> {
  const place = await readableKeyspace(groups, request, context);
  if (!place.ok) return place;
  const { shard, keyspace } = place.value;
  const present = presentKeyspace(shard, keyspace);
  const ofKey = request.keys.map((key) => rangeOfKey(present, key).record);
  const distinct = [...new Set(ofKey)].toSorted((a, b) => compareBytes(a.startKey, b.startKey));
  const positions = new Map(distinct.map((record, at) => [record, at]));
  const routes = distinct.map((record) => toRoute(shard.state, record));
  const bytes = routes.reduce((sum, route) => sum + routeBytes(route), 0);
  if (bytes > ROUTES_BYTES_MAX) {
    const message = `the routes of these keys have ${bytes} bytes; ask for fewer keys at once`;
    const metadata = { bytes: String(bytes) };
    return failed(refusal("INVALID", message, { metadata, field: "keys" }));
  }
  return ok({
    ...readAnswer(groups, shard, request.read),
    routes,
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
    addresses: addressesOf(state, slot.record.owner),
  });
}

function routeBytes({ descriptor, addresses }: api.Route): number {
  return addresses.reduce((sum, address) => sum + address.length, recordBytes(descriptor.span));
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
