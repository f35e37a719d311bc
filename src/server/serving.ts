/**
 * What the ports of a process are joined to: the groups of its server, or, when its store cannot be
 * trusted, what answers in their place. And what its peers are told of that store.
 */

import type { AdminPort } from "../admin/port.ts";
import type { GroupId, ServerId } from "../base/brands.ts";
import { ok } from "../base/result.ts";
import type { OpenedLog, Standing } from "../net/standing.ts";
import type { Envelope } from "../raft/messages.ts";
import { serverOf } from "../replica/host.ts";
import type { ForwardAnswer, ForwardCall } from "../replica/ports.ts";
import { StorageError } from "../storage/errors.ts";
import type { OpenedLogStore } from "../storage/log-store.ts";
import type { ClusterStatus } from "../wire/api.ts";
import type { ApiServices } from "../wire/api-services.ts";
import { abstainingAdminPort, adminPort, type AdminPortOptions } from "./admin-port.ts";
import type { Participation } from "./participation.ts";
import type { ServerCore } from "./server-core.ts";
import { gatedServices } from "./services/abstention.ts";
import { abstainingStatus, type ClusterFacts, clusterStatus } from "./services/cluster.ts";

export interface Serving {
  readonly services: ApiServices;
  readonly admin: AdminPort;
  onEnvelope(from: ServerId, envelope: Envelope): void;
  onPeerUnreachable(peer: ServerId): void;
  onForward(call: ForwardCall): Promise<ForwardAnswer>;
  tick(): void;
  /** Leadership of the groups moves to other servers, where it can. */
  handOver(): Promise<void>;
  /** Ends what is under way in the groups; nothing begins any more. Idempotent. */
  stop(): void;
}

export function servingGroups(
  core: ServerCore,
  options: Omit<AdminPortOptions, "core" | "status">,
): Serving {
  const status = (): ClusterStatus => clusterStatus(core.groups, core.clusterFacts);
  return {
    services: core.services,
    admin: adminPort({ ...options, core, status }),
    onEnvelope: (from, envelope) => core.host.onEnvelope(from, envelope),
    onPeerUnreachable: (peer) => core.host.onPeerUnreachable(peer),
    onForward: (call) => core.onForward(call),
    tick: () => core.tick(),
    handOver: () => core.host.handOver(),
    stop: () => core.host.stop(),
  };
}

/** Without a store that can be trusted there are no groups, only a server that says so. */
export function servingNothing(
  clusterId: string,
  self: ServerId,
  clusterFacts: ClusterFacts,
  options: Pick<AdminPortOptions, "facts" | "drain">,
): Serving {
  const status = (): ClusterStatus => abstainingStatus(clusterId, self, clusterFacts);
  const cluster = { getStatus: () => Promise.resolve(ok(status())) };
  return {
    services: gatedServices(undefined, cluster, clusterFacts.abstention),
    admin: abstainingAdminPort({ ...options, status }),
    onEnvelope: () => {},
    onPeerUnreachable: () => {},
    onForward: () => Promise.resolve(NOT_LEADER),
    tick: () => {},
    handOver: () => Promise.resolve(),
    stop: () => {},
  };
}

/** Whoever forwards here looks for the leader again. */
export const NOT_LEADER: ForwardAnswer = {
  kind: "failed",
  outcome: "notApplied",
  reason: "notLeader",
};

/** What the peers of a server learn of its store, and it of theirs. */
export function standingOf(
  store: OpenedLogStore | StorageError,
  participation: Participation,
): Standing {
  const common = {
    distrust: () => participation.distrust,
    onRemembered: (peer: ServerId) => participation.onRemembered(peer),
  };
  if (store instanceof StorageError) {
    return {
      ...common,
      storeUuid: "distrusted",
      storeOf: () => undefined,
      isRemembered: () => false,
      remember: () => new Promise(() => {}),
      opened: new Map(),
      onDisowned: () => {},
    };
  }
  const { memory, identity, replicas } = store;
  const opened = new Map<GroupId, OpenedLog>();
  for (const { group, hardState, base, entries } of replicas) {
    const { term, votedFor } = hardState;
    const lastIndex = (entries.at(-1) ?? base).index;
    opened.set(group, { term, votedFor: votedFor && serverOf(votedFor), lastIndex });
  }
  return {
    ...common,
    storeUuid: identity.storeUuid,
    storeOf: (peer) => memory.storeOf(peer),
    isRemembered: (peer) => memory.isRemembered(peer),
    remember: (peer, storeUuid) => memory.remember(peer, storeUuid),
    opened,
    onDisowned: (what) => {
      const dir = store.dir;
      participation.distrustStore(new StorageError("disowned", { dir, what }));
    },
  };
}
