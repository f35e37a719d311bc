/**
 * What the HTTP surface may ask of this server: everything from memory, about this process alone.
 * The shapes are those of admin/port.ts.
 */

import type {
  AdminPort,
  AdminStatus,
  GroupHealth,
  GroupMetrics,
  HistogramSnapshot,
  MetricsSnapshot,
} from "../admin/port.ts";
import type { GroupId } from "../base/brands.ts";
import type { GroupSnapshots } from "../replica/group-snapshots.ts";
import type { Clock } from "../replica/ports.ts";
import type { Abstention, ClusterStatus } from "../wire/api.ts";
import { isReplayed } from "./groups.ts";
import type { ServerCore } from "./server-core.ts";
import type { ClusterGroups, RootAccess, ShardAccess } from "./services/cluster-groups.ts";

/** Facts that the composition collects while the server runs. */
export interface AdminFacts {
  fatalError: string | undefined;
}

export interface AdminPortOptions {
  readonly core: ServerCore;
  readonly facts: AdminFacts;
  readonly drain: AbortSignal;
  readonly clock: Clock;
  readonly status: () => ClusterStatus;
  readonly syncHistogram: () => HistogramSnapshot | undefined;
  readonly snapshotSends: () => MetricsSnapshot["snapshotSends"];
}

export function adminPort(options: AdminPortOptions): AdminPort {
  const { core, facts, drain, syncHistogram } = options;
  const accesses = accessesOf(core.groups);
  return {
    health: () => ({
      fatalError: facts.fatalError,
      // A rejected write ends the process at once (law 29), so there is no lesser state.
      storageError: undefined,
      abstention: abstentionText(core.clusterFacts.abstention()),
      isDraining: drain.aborted,
      groups: accesses.map((access) => groupHealth(options, access)),
    }),
    metrics: () => ({
      groups: accesses.map((access) => groupMetrics(access, core.leaderChanges)),
      watches: core.watches(),
      renewals: core.renewalCounts(),
      logSync: syncHistogram(),
      snapshotSends: options.snapshotSends(),
    }),
    status: () => toAdminStatus(options.status()),
  };
}

function accessesOf(groups: ClusterGroups): readonly (RootAccess | ShardAccess)[] {
  return [groups.root, ...[...groups.shards.values()].map(({ access }) => access)];
}

function groupHealth({ clock }: AdminPortOptions, access: RootAccess | ShardAccess): GroupHealth {
  const { currentAtMs } = access.replica;
  return {
    group: access.group,
    isReplayed: isReplayed(access),
    awaitsSnapshot: access.replica.snapshots.isAwaited,
    leaderServerId: access.leaderServerId,
    readIndexAgeMs: currentAtMs === undefined ? undefined : clock.nowMs() - currentAtMs,
  };
}

function groupMetrics(
  access: RootAccess | ShardAccess,
  leaderChanges: ReadonlyMap<GroupId, number>,
): GroupMetrics {
  const { core, appliedIndex, pendingProposals, snapshots } = access.replica;
  const { baseIndex, snapshotIndex } = core.status();
  const { counts } = access;
  return {
    group: access.group,
    hasLeader: access.leaderServerId !== undefined,
    isLeader: access.isLeader,
    term: core.term,
    commitIndex: core.commitIndex,
    appliedIndex,
    lastIndex: core.lastIndex,
    logEntries: core.lastIndex - baseIndex,
    logBytes: core.logBytes,
    baseIndex,
    snapshotIndex,
    ...snapshotMetrics(snapshots),
    leaderChanges: leaderChanges.get(access.group) ?? 0,
    proposals: { ...counts.proposals },
    proposalsPending: pendingProposals,
    reads: { ...counts.reads },
  };
}

function snapshotMetrics({
  checkpointStats,
  fetchStats,
}: GroupSnapshots): Pick<
  GroupMetrics,
  | "checkpoints"
  | "checkpointSeconds"
  | "lastCheckpointBytes"
  | "snapshotFetches"
  | "snapshotReceivedBytes"
> {
  const { taken, failed, durationMs, lastFileBytes } = checkpointStats;
  return {
    checkpoints: { taken, failed },
    checkpointSeconds: durationMs / 1_000,
    lastCheckpointBytes: lastFileBytes,
    snapshotFetches: { installed: fetchStats.installed, failed: fetchStats.failed },
    snapshotReceivedBytes: fetchStats.receivedBytes,
  };
}

/** The port of a server without groups: one that takes no part, and did not from its start. */
export function abstainingAdminPort(options: {
  readonly facts: AdminFacts;
  readonly drain: AbortSignal;
  readonly status: () => ClusterStatus;
}): AdminPort {
  const { facts, drain, status } = options;
  return {
    health: () => ({
      fatalError: facts.fatalError,
      storageError: undefined,
      abstention: abstentionText(status().abstention),
      isDraining: drain.aborted,
      groups: [],
    }),
    metrics: () => ({
      groups: [],
      watches: 0,
      renewals: {},
      logSync: undefined,
      snapshotSends: { active: 0, results: {}, sentBytes: 0 },
    }),
    status: () => toAdminStatus(status()),
  };
}

function abstentionText(abstention: Abstention | undefined): string | undefined {
  return abstention && `${abstention.reason}: ${abstention.details}`;
}

function toAdminStatus(status: ClusterStatus): AdminStatus {
  const { header, clusterName, productVersion, uptimeMs, servers, groups, abstention } = status;
  return {
    clusterName,
    clusterId: header.clusterId,
    serverId: header.serverId,
    productVersion,
    uptimeMs,
    servers: servers.map(({ reachable, ...server }) => ({ ...server, isReachable: reachable })),
    groups,
    abstention,
  };
}
