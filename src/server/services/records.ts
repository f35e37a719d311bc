/**
 * From the records of the machines to those of the API: names instead of numbers, addresses beside
 * owners.
 */

import { defined } from "../../base/assert.ts";
import type { Revision } from "../../base/brands.ts";
import { headerOf, addressesOf, type ClusterGroups, type ShardGroup } from "./cluster-groups.ts";
import type { KeyspaceRecord as RootKeyspace } from "../../machine/root/types.ts";
import type { RangeRecord as MachineRange } from "../../machine/shard/types.ts";
import type { ShardState } from "../../machine/shard/state.ts";
import type { Descriptor, Header, KeyspaceRecord, RangeRecord, Route } from "../../wire/api.ts";

/** What a range's record takes beside its keys, about. */
const RECORD_OVERHEAD_BYTES = 200;

/** What a range's record takes in an answer, about. */
export function recordBytes({
  startKey,
  endKey,
}: Pick<MachineRange, "startKey" | "endKey">): number {
  return RECORD_OVERHEAD_BYTES + startKey.length + (endKey?.length ?? 0);
}

export function toDescriptor(state: ShardState, range: MachineRange): Descriptor {
  const keyspace = defined(state.keyspaces.get(range.keyspaceId), "a range's keyspace exists");
  return {
    rangeId: range.rangeId,
    keyspace: keyspace.terms.name,
    span: { startKey: range.startKey, endKey: range.endKey },
    epoch: range.epoch,
    owner: range.owner,
    replicas: range.replicas,
    descriptorRevision: range.descriptorRevision,
    group: state.group,
  };
}

export function toRangeRecord(state: ShardState, range: MachineRange): RangeRecord {
  return {
    descriptor: toDescriptor(state, range),
    successor: range.successor,
    intendedNodeId: range.intendedNodeId,
    acceptedEpoch: range.acceptedEpoch,
    handOverRevision: range.handOverRevision,
  };
}

export function toRoute(state: ShardState, range: MachineRange): Route {
  return {
    descriptor: toDescriptor(state, range),
    addresses: addressesOf(state, range.owner),
    intendedNodeId: range.intendedNodeId,
  };
}

export function toKeyspaceRecord(groups: ClusterGroups, keyspace: RootKeyspace): KeyspaceRecord {
  const { keyspaceId, settings, state, spans, createdRevision } = keyspace;
  const { group } = defined(spans[0], "a keyspace's spans tile it");
  const local = groups.shards.get(group)?.state.keyspaces.get(keyspaceId);
  return {
    ...settings,
    keyspaceId,
    state,
    group,
    createdRevision,
    rangeCount: local?.ranges.size ?? 0,
    unownedCount: local?.unownedCount ?? 0,
  };
}

/** The header of a shard's answer, at the revision that decided it. */
export function shardHeader(groups: ClusterGroups, shard: ShardGroup, at?: Revision): Header {
  return headerOf(groups, shard.access.group, at);
}
