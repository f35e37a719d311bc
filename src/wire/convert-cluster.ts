/**
 * Conversions of the operators' Cluster service (proto/cadastre/admin/v1/cluster.proto): its domain
 * types are in api-keyspaces.ts, the building blocks in codec.ts.
 */

import type * as api from "./api.ts";
import {
  bool,
  type Codec,
  list,
  message,
  oneOf,
  optional,
  text,
  uint32,
  uint64,
  unless,
} from "./codec.ts";
import { header } from "./convert-common.ts";
import { ADDRESS_CHARS_MAX, LINE_CHARS_MAX, NAME_CHARS_MAX } from "./limits.ts";
import type { MessageCodec } from "./shapes.ts";

export const getStatusRequest: MessageCodec<Readonly<Record<string, never>>, "GetStatusRequest"> = {
  toProto: () => ({}),
  fromProto: () => ({}),
};

const address: Codec<string, string, string> = text({ max: ADDRESS_CHARS_MAX });

const serverStatus: MessageCodec<api.ServerStatus, "ServerStatus"> = message({
  serverId: uint32({ min: 1 }),
  grpcAddress: address,
  peerAddress: address,
  httpAddress: address,
  reachable: bool,
});

/** A string in the proto. */
const role = oneOf({
  leader: "leader",
  follower: "follower",
  candidate: "candidate",
  preCandidate: "preCandidate",
});

type ReplicaStatus = api.GroupStatus["replicas"][number];

const replicaStatus: MessageCodec<ReplicaStatus, "ReplicaStatus"> = message({
  serverId: uint32({ min: 1 }),
  replicaId: uint64({ min: 1 }),
  matchIndex: uint64(),
});

const groupStatus: MessageCodec<api.GroupStatus, "GroupStatus"> = message({
  group: uint32(),
  role,
  term: uint64(),
  leaderServerId: unless(0, uint32()),
  commitIndex: uint64(),
  appliedIndex: uint64(),
  lastIndex: uint64(),
  revision: uint64(),
  logEntries: uint64(),
  logBytes: uint64(),
  snapshotIndex: uint64(),
  replicas: list(replicaStatus),
});

const abstention: MessageCodec<api.Abstention, "Abstention"> = message({
  reason: text({ max: NAME_CHARS_MAX }),
  details: text({ max: LINE_CHARS_MAX }),
});

export const clusterStatus: MessageCodec<api.ClusterStatus, "GetStatusResponse"> = message({
  header,
  clusterName: text({ max: ADDRESS_CHARS_MAX }),
  productVersion: text({ max: ADDRESS_CHARS_MAX }),
  uptimeMs: uint64(),
  servers: list(serverStatus),
  groups: list(groupStatus),
  abstention: optional(abstention),
});
