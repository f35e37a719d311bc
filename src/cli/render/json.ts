// The records of the API as `-o json` prints them, the stable contract: fields that proto declares
// with 64 bits are strings, all others numbers; keys are {"utf8", "hex"}; what is absent is null.
// Names are the proto's, in camel case.
import type {
  Descriptor,
  Header,
  KeyspaceKind,
  KeyspaceRecord,
  NodeRecord,
  Owner,
  RangeRecord,
  ReadAnswer,
} from "../../wire/api.ts";
import type { JsonValue } from "../context.ts";
import { spanJson } from "./keys.ts";

interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function headerJson(header: Header): JsonObject {
  return {
    clusterId: header.clusterId,
    group: header.group,
    generation: header.generation,
    revision: String(header.revision),
    serverId: header.serverId,
    leaderServerId: header.leaderServerId ?? null,
    term: String(header.term),
  };
}

/** The header, and with a local read how stale it may be. */
export function readJson(answer: ReadAnswer): JsonObject {
  const { header, staleness } = answer;
  return {
    header: headerJson(header),
    staleness:
      staleness === undefined
        ? null
        : {
            revisions: String(staleness.revisions),
            confirmedMsAgo: staleness.confirmedMsAgo ?? null,
          },
  };
}

export function ownerJson(owner: Owner | undefined): JsonValue {
  if (owner === undefined) return null;
  return { nodeId: owner.nodeId, incarnation: String(owner.incarnation) };
}

export function descriptorJson(descriptor: Descriptor, kind: KeyspaceKind): JsonObject {
  return {
    rangeId: descriptor.rangeId,
    keyspace: descriptor.keyspace,
    ...spanJson(descriptor.span, kind),
    epoch: String(descriptor.epoch),
    owner: ownerJson(descriptor.owner),
    replicas: descriptor.replicas.map(({ nodeId, inSync }) => ({ nodeId, inSync })),
    descriptorRevision: String(descriptor.descriptorRevision),
    group: descriptor.group,
  };
}

export function rangeJson(record: RangeRecord, kind: KeyspaceKind): JsonObject {
  return {
    ...descriptorJson(record.descriptor, kind),
    successor: ownerJson(record.successor),
    intendedNodeId: record.intendedNodeId ?? null,
    acceptedEpoch: String(record.acceptedEpoch),
    handOverRevision: String(record.handOverRevision),
  };
}

export function keyspaceJson(keyspace: KeyspaceRecord): JsonObject {
  return {
    name: keyspace.name,
    keyspaceId: String(keyspace.keyspaceId),
    kind: keyspace.kind,
    hashFunction: keyspace.hashFunction ?? null,
    leaseMode: keyspace.leaseMode,
    dataKind: keyspace.dataKind,
    leaseDurationMs: keyspace.leaseDurationMs,
    renewIntervalMs: keyspace.renewIntervalMs,
    state: keyspace.state,
    group: keyspace.group,
    createdRevision: String(keyspace.createdRevision),
    rangeCount: String(keyspace.rangeCount),
    unownedCount: String(keyspace.unownedCount),
  };
}

export function nodeJson(node: NodeRecord): JsonObject {
  return {
    nodeId: node.nodeId,
    incarnation: String(node.incarnation),
    addresses: node.addresses,
    zone: node.zone,
    labels: { ...node.labels },
    capacity: String(node.capacity),
    sessionOpen: node.sessionOpen,
    rangesOwned: String(node.rangesOwned),
    sessionRemainingMs: String(node.sessionRemainingMs),
  };
}
