/** What the tests of the services share: a cluster with a keyspace, nodes, and short calls. */

import type { GroupId, Incarnation, Revision, ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { WHOLE_SPAN } from "../../../src/base/span.ts";
import type {
  Descriptor,
  GrantAnswer,
  GrantItem,
  GrantRequest,
  ListRangesAnswer,
  ListRangesRequest,
  Owner,
  ProcessStart,
  RangeRecord,
  RequestId,
} from "../../../src/wire/api.ts";
import type { ApiServices } from "../../../src/wire/api-services.ts";
import {
  ROOT,
  SHARD,
  VirtualCluster,
  type VirtualClusterOptions,
} from "../../sim/virtual-cluster.ts";

export const WAIT = { timeoutMs: 10_000 };
export const LINEARIZABLE = { kind: "linearizable" } as const;
export const LOCAL = { kind: "local" } as const;

export const SETTINGS = {
  kind: "range",
  hashFunction: undefined,
  leaseMode: "exclusive",
  dataKind: "none",
  leaseDurationMs: 6_000,
  renewIntervalMs: 2_000,
} as const;

let clients = 0;

/** A request id of a client of its own. */
export function freshId(more: Partial<RequestId> = {}): RequestId {
  clients++;
  const seenRevision = 0 as Revision;
  return { clientId: `c${clients}`, sequence: 1, seenRevision, acknowledgedBelow: 0, ...more };
}

export function services(cluster: VirtualCluster, id: ServerId): ApiServices {
  return cluster.core(id).services;
}

/** A running cluster with one keyspace, cut at these keys. */
export async function clusterWith(
  splitKeys: readonly string[] = [],
  options: VirtualClusterOptions = {},
): Promise<VirtualCluster> {
  const cluster = new VirtualCluster(options);
  await cluster.leader(ROOT);
  await addKeyspace(cluster, "demo", splitKeys);
  return cluster;
}

export async function addKeyspace(
  cluster: VirtualCluster,
  name: string,
  splitKeys: readonly string[] = [],
): Promise<void> {
  const { keyspaces } = services(cluster, await cluster.leader(SHARD));
  const create = { requestId: freshId(), name, ...SETTINGS };
  await cluster.answer(keyspaces.createKeyspace(create, WAIT));
  if (splitKeys.length === 0) return;
  const define = { requestId: freshId(), keyspace: name, splitKeys: splitKeys.map(utf8ToBytes) };
  await cluster.answer(keyspaces.defineRanges(define, WAIT));
}

/** Servers other than these. */
export function others(cluster: VirtualCluster, ...ids: readonly ServerId[]): ServerId[] {
  return cluster.runningIds.filter((id) => !ids.includes(id));
}

/** A server that leads neither group, and one that leads the shard. */
export async function followerAndLeader(
  cluster: VirtualCluster,
): Promise<{ readonly follower: ServerId; readonly leader: ServerId }> {
  const leader = await cluster.leader(SHARD);
  const [first] = others(cluster, leader, await cluster.leader(ROOT));
  if (first === undefined) throw new Error("three servers have a follower of both groups");
  return { follower: first, leader };
}

export async function register(
  cluster: VirtualCluster,
  at: ServerId,
  nodeId: string,
  more: {
    readonly dataUuid?: string;
    readonly requestId?: RequestId;
    readonly start?: ProcessStart;
    readonly addresses?: readonly string[];
  } = {},
): Promise<Owner> {
  const request = {
    requestId: more.requestId ?? freshId(),
    nodeId,
    dataUuid: more.dataUuid ?? "0".repeat(32),
    addresses: more.addresses ?? [`${nodeId}:1`],
    zone: "",
    labels: {},
    capacity: 0,
    start: more.start,
  };
  const answer = await cluster.answer(services(cluster, at).ownership.register(request, WAIT));
  return { nodeId, incarnation: answer.incarnation };
}

/** Registers a storage node and opens its session. */
export async function join(cluster: VirtualCluster, at: ServerId, nodeId: string): Promise<Owner> {
  const owner = await register(cluster, at, nodeId);
  const open = services(cluster, at).ownership.openSession({ owner, group: SHARD }, WAIT);
  await cluster.answer(open);
  return owner;
}

export function listRequest(more: Partial<ListRangesRequest> = {}): ListRangesRequest {
  return {
    keyspace: "demo",
    span: WHOLE_SPAN,
    nodeId: undefined,
    unownedOnly: false,
    pageSize: 0,
    pageToken: "",
    read: LINEARIZABLE,
    ...more,
  };
}

export function list(
  cluster: VirtualCluster,
  at: ServerId,
  more: Partial<ListRangesRequest> = {},
): Promise<ListRangesAnswer> {
  const { directory } = services(cluster, at);
  return cluster.answer(directory.listRanges(listRequest(more), WAIT));
}

/** All ranges, from as many pages as it takes. */
export async function ranges(cluster: VirtualCluster, at: ServerId): Promise<RangeRecord[]> {
  const records: RangeRecord[] = [];
  let pageToken = "";
  do {
    const page = await list(cluster, at, { pageToken });
    records.push(...page.ranges);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return records;
}

export function grantItem(
  descriptor: Descriptor,
  owner: { readonly nodeId: string; readonly incarnation?: Incarnation },
): GrantItem {
  const { rangeId, epoch, descriptorRevision } = descriptor;
  return {
    rangeId,
    expectedEpoch: epoch,
    expectedDescriptorRevision: descriptorRevision,
    nodeId: owner.nodeId,
    incarnation: owner.incarnation,
  };
}

/** A plain grant of these, under a request id of its own. */
export function grantOf(items: readonly GrantItem[]): GrantRequest {
  return { requestId: freshId(), group: SHARD, items, onlyUnowned: false, handOver: false };
}

/** Grants the ranges at these positions of the key order, as they stand now. */
export async function grant(
  cluster: VirtualCluster,
  at: ServerId,
  positions: readonly number[],
  owner: { readonly nodeId: string },
): Promise<GrantAnswer> {
  const known = await ranges(cluster, at);
  const items = positions.map((position) => {
    const record = known[position];
    if (record === undefined) throw new Error(`there is no range ${position}`);
    return grantItem(record.descriptor, owner);
  });
  return cluster.answer(services(cluster, at).ownership.grant(grantOf(items), WAIT));
}

export function revisionAt(cluster: VirtualCluster, id: ServerId, group: GroupId): Revision {
  const { groups } = cluster.core(id);
  if (group === ROOT) return groups.rootState.revision;
  const shard = groups.shards.get(group);
  if (shard === undefined) throw new Error(`there is no group ${group}`);
  return shard.state.revision;
}

/** Ascending spans that leave no key out: -inf to +inf. */
export function tiles(records: readonly Pick<RangeRecord, "descriptor">[]): boolean {
  let next: Uint8Array | undefined = new Uint8Array(0);
  for (const { descriptor } of records) {
    const { startKey, endKey } = descriptor.span;
    if (next === undefined || Buffer.compare(startKey, next) !== 0) return false;
    next = endKey;
  }
  return next === undefined && records.length > 0;
}
