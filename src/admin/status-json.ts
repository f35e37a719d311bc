// The JSON of /v1/status: the fields of cadastre.admin.v1.GetStatusResponse in camel case, with
// 64-bit numbers as strings. A stable contract: fields are added, never renamed.
import type { AdminStatus, GroupStatus } from "./port.ts";

export interface StatusJson {
  readonly clusterName: string;
  readonly clusterId: string;
  readonly serverId: number;
  readonly productVersion: string;
  readonly uptimeMs: string;
  readonly servers: readonly {
    readonly serverId: number;
    readonly grpcAddress: string;
    readonly peerAddress: string;
    readonly httpAddress: string;
    readonly reachable: boolean;
  }[];
  readonly groups: readonly {
    readonly group: number;
    readonly role: string;
    readonly term: string;
    /** 0: none known. */
    readonly leaderServerId: number;
    readonly commitIndex: string;
    readonly appliedIndex: string;
    readonly lastIndex: string;
    readonly revision: string;
    readonly logEntries: string;
    readonly logBytes: string;
    /** "0": there is no snapshot. */
    readonly snapshotIndex: string;
    readonly replicas: readonly {
      readonly serverId: number;
      readonly replicaId: string;
      /** "0" where it is not known. */
      readonly matchIndex: string;
    }[];
  }[];
  /** null: the server takes part in its groups. */
  readonly abstention: { readonly reason: string; readonly details: string } | null;
}

export function statusToJson(status: AdminStatus): StatusJson {
  const { clusterName, clusterId, serverId, productVersion } = status;
  return {
    clusterName,
    clusterId,
    serverId,
    productVersion,
    uptimeMs: wide(status.uptimeMs),
    servers: status.servers.map(({ isReachable, ...server }) => ({
      ...server,
      reachable: isReachable,
    })),
    groups: status.groups.map(groupToJson),
    abstention: status.abstention ?? null,
  };
}

function groupToJson(group: GroupStatus): StatusJson["groups"][number] {
  return {
    group: group.group,
    role: group.role,
    term: wide(group.term),
    leaderServerId: group.leaderServerId ?? 0,
    commitIndex: wide(group.commitIndex),
    appliedIndex: wide(group.appliedIndex),
    lastIndex: wide(group.lastIndex),
    revision: wide(group.revision),
    logEntries: wide(group.logEntries),
    logBytes: wide(group.logBytes),
    snapshotIndex: wide(group.snapshotIndex),
    replicas: group.replicas.map(({ serverId, replicaId, matchIndex }) => ({
      serverId,
      replicaId: wide(replicaId),
      matchIndex: wide(matchIndex ?? 0),
    })),
  };
}

/** Whole numbers that other languages would read into 64 bits. */
function wide(value: number): string {
  return String(Math.round(value));
}
