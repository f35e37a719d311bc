/**
 * The Cluster service: what this server knows of itself and of the others, without waiting for
 * anyone. It answers when nothing else does.
 */

import { type Revision, ROOT_GROUP, type ServerId, type Term } from "../../base/brands.ts";
import { ok } from "../../base/result.ts";
import { serverOf } from "../../replica/host.ts";
import type * as api from "../../wire/api.ts";
import type { ClusterService } from "../../wire/api-services.ts";
import {
  type ClusterGroups,
  headerOf,
  type RootAccess,
  type ShardAccess,
} from "./cluster-groups.ts";

export interface ClusterFacts {
  readonly clusterName: string;
  readonly productVersion: string;
  readonly uptimeMs: () => number;
  readonly servers: () => readonly api.ServerStatus[];
  readonly abstention: () => api.Abstention | undefined;
}

export function clusterService(groups: ClusterGroups, facts: ClusterFacts): ClusterService {
  return {
    getStatus: () => Promise.resolve(ok(clusterStatus(groups, facts))),
  };
}

export function clusterStatus(groups: ClusterGroups, facts: ClusterFacts): api.ClusterStatus {
  return {
    header: headerOf(groups, groups.root.group),
    clusterName: facts.clusterName,
    productVersion: facts.productVersion,
    uptimeMs: facts.uptimeMs(),
    servers: facts.servers(),
    groups: [groups.root, ...[...groups.shards.values()].map(({ access }) => access)].map(
      (access) => groupStatus(access),
    ),
    abstention: facts.abstention(),
  };
}

/** Of a server without groups. */
export function abstainingStatus(
  clusterId: string,
  self: ServerId,
  facts: ClusterFacts,
): api.ClusterStatus {
  return {
    header: {
      clusterId,
      group: ROOT_GROUP,
      generation: 0,
      revision: 0 as Revision,
      serverId: self,
      leaderServerId: undefined,
      term: 0 as Term,
    },
    clusterName: facts.clusterName,
    productVersion: facts.productVersion,
    uptimeMs: facts.uptimeMs(),
    servers: facts.servers(),
    groups: [],
    abstention: facts.abstention(),
  };
}

function groupStatus(access: RootAccess | ShardAccess): api.GroupStatus {
  const { core, appliedIndex, machine, self } = access.replica;
  const status = core.status();
  const own = { serverId: serverOf(self), replicaId: self, matchIndex: status.persistedIndex };
  const peers = status.progress.map(({ peer, matchIndex }) => ({
    serverId: serverOf(peer),
    replicaId: peer,
    matchIndex,
  }));
  return {
    group: access.group,
    role: status.role,
    term: status.term,
    leaderServerId: access.leaderServerId,
    commitIndex: status.commitIndex,
    appliedIndex,
    lastIndex: status.lastIndex,
    revision: machine.revision,
    logEntries: status.lastIndex - status.baseIndex,
    logBytes: core.logBytes,
    snapshotIndex: status.snapshotIndex,
    replicas: [own, ...peers].toSorted((a, b) => a.serverId - b.serverId),
  };
}
