/**
 * A server without its sockets and disks: groups, services and duties over ports. The process puts
 * real adapters under it, tests and simulations put their own.
 */

import { READ_INDEX_AGE_MS_MAX } from "../admin/checks.ts";
import type { GroupId, ServerId } from "../base/brands.ts";
import type { ClusterRecord } from "../machine/root/types.ts";
import type { ForwardAnswer, ForwardCall } from "../replica/ports.ts";
import type { ServerStatus } from "../wire/api.ts";
import type { ApiServices } from "../wire/api-services.ts";
import type { ServerConfig } from "./config/schema.ts";
import { shardGroups } from "./data-store.ts";
import { forwardedHandler } from "./forwarded.ts";
import { type GroupsOptions, type ServerGroups, startGroups } from "./groups.ts";
import { gatedServices } from "./services/abstention.ts";
import { type ClusterFacts, clusterService } from "./services/cluster.ts";
import { directoryService } from "./services/directory.ts";
import { keyspacesService } from "./services/keyspaces.ts";
import { Drain } from "./services/news.ts";
import { ownershipService } from "./services/ownership.ts";
import { RenewalBatcher } from "./services/renewal-batcher.ts";
import { RootDuties } from "./services/root-duties.ts";

/** A replica shows that it is current at least this often, also when nobody reads. */
const READ_INDEX_EVERY_MS = 1_000;
/** A probe that takes longer shows a server that is cut off; the next one is due by then. */
const PROBE_TIMEOUT_MS = 900;
/** Renewals of one tick share an entry. */
const RENEWAL_INTERVAL_MS = 50;
/** One keyspace's lease terms in an answer, with the longest name. */
const LEASE_TERM_BYTES = 96;
const WATCH_PROGRESS_MS = 2_000;
const WATCH_START_TIMEOUT_MS = 5_000;
const WATCH_FRAME_BYTES_MAX = 512 * 1024;

export interface ServerCoreOptions extends Omit<GroupsOptions, "onRootApplied"> {
  readonly productVersion: string;
  /** Whether a peer can be reached, as far as this server sees. */
  readonly isReachable: (server: ServerId) => boolean;
  /** Aborted when the server drains. */
  readonly drain: AbortSignal;
}

export interface ServerCore extends ServerGroups {
  readonly services: ApiServices;
  readonly clusterFacts: ClusterFacts;
  /** Answers commands that other servers forward here. */
  readonly onForward: (call: ForwardCall) => Promise<ForwardAnswer>;
  /** One tick interval has passed. */
  tick(): void;
  /** Watch streams that are open. */
  watches(): number;
  /** Renewals of sessions, by how they ended. */
  renewalCounts(): Readonly<Record<string, number>>;
}

export function createServerCore(options: ServerCoreOptions): ServerCore {
  const { config, clock, timers, logger, drain } = options;
  let runDuties = (): void => {};
  const started = startGroups({ ...options, onRootApplied: () => runDuties() });
  const { groups, host } = started;
  const duties = new RootDuties(groups, clusterRecord(config), logger);
  runDuties = () => duties.run();
  const renewals = new Map<GroupId, RenewalBatcher>();
  for (const [group, shard] of groups.shards) {
    const { access } = shard;
    const intervalMs = RENEWAL_INTERVAL_MS;
    const termsBytes = (): number => shard.state.keyspaces.size * LEASE_TERM_BYTES;
    renewals.set(group, new RenewalBatcher({ access, clock, timers, intervalMs, termsBytes }));
  }
  let watches = 0;
  const clusterFacts = clusterFactsOf(options);
  const { abstention = () => undefined } = options;
  const takesPart = (): boolean => abstention() === undefined;
  const services = {
    directory: directoryService(groups, {
      progressMs: WATCH_PROGRESS_MS,
      startTimeoutMs: WATCH_START_TIMEOUT_MS,
      frameBytesMax: WATCH_FRAME_BYTES_MAX,
      cutOffMs: READ_INDEX_AGE_MS_MAX,
      onOpen: () => watches++,
      onClose: () => watches--,
      drain: new Drain(drain),
    }),
    ownership: ownershipService(groups, renewals),
    keyspaces: keyspacesService(groups),
  };
  const probe = readProbe(started, options);
  const onForward = forwardedHandler(groups, renewals);
  return {
    ...started,
    services: gatedServices(services, clusterService(groups, clusterFacts), abstention),
    clusterFacts,
    onForward: async (call) => (takesPart() ? onForward(call) : ABSTAINING),
    tick: () => {
      if (!takesPart()) return;
      host.tick();
      duties.run();
      probe();
    },
    watches: () => watches,
    renewalCounts: () => sumCounts([...renewals.values()]),
  };
}

/** Whoever forwards here looks for the leader again. */
const ABSTAINING: ForwardAnswer = { kind: "failed", outcome: "notApplied", reason: "notLeader" };

/** Confirms a read of every group now and then: readiness and staleness are judged by it. */
function readProbe({ groups }: ServerGroups, { clock }: ServerCoreOptions): () => void {
  let probedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.nowMs();
    if (nowMs - probedAtMs < READ_INDEX_EVERY_MS) return;
    probedAtMs = nowMs;
    const level = { kind: "linearizable" } as const;
    void groups.root.read(level, PROBE_TIMEOUT_MS);
    for (const { access } of groups.shards.values()) void access.read(level, PROBE_TIMEOUT_MS);
  };
}

function sumCounts(batchers: readonly RenewalBatcher[]): Readonly<Record<string, number>> {
  const sum = { extended: 0, refused: 0, failed: 0 };
  for (const { counts } of batchers) {
    sum.extended += counts.extended;
    sum.refused += counts.refused;
    sum.failed += counts.failed;
  }
  return sum;
}

/** What this server knows of itself and of the others without its groups. */
export function clusterFactsOf(
  options: Pick<
    ServerCoreOptions,
    "config" | "clock" | "isReachable" | "productVersion" | "abstention"
  >,
): ClusterFacts {
  const { config, clock, isReachable } = options;
  const { cluster, server } = config;
  const startedAtMs = clock.nowMs();
  const servers = (): ServerStatus[] =>
    cluster.servers.map(({ id, grpc, peer, http }) => ({
      serverId: id as ServerId,
      grpcAddress: grpc,
      peerAddress: peer,
      httpAddress: http,
      reachable: id === server.id || isReachable(id as ServerId),
    }));
  return {
    clusterName: cluster.name,
    productVersion: options.productVersion,
    uptimeMs: () => Math.round(clock.nowMs() - startedAtMs),
    servers,
    abstention: () => options.abstention?.(),
  };
}

/** What a first leader records as the cluster's identity. */
function clusterRecord(config: ServerConfig): ClusterRecord {
  const { cluster } = config;
  return {
    clusterId: cluster.id,
    name: cluster.name,
    servers: cluster.servers.map(({ id, grpc, peer, http }) => ({
      serverId: id as ServerId,
      grpcAddress: grpc,
      peerAddress: peer,
      httpAddress: http,
    })),
    shardGroups: shardGroups(config),
  };
}
