// The second half of reading a configuration: fills in what follows from the rest, and checks the
// relations between values that no single bound can express.
import { createHash } from "node:crypto";
import { GUARD_MS } from "../../base/lease-timing.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { TICK_ADVANCE_MAX } from "../../raft/log-time.ts";
import {
  splitAddress,
  type ClusterServer,
  type MergedConfig,
  type ServerAddresses,
  type ServerConfig,
} from "./schema.ts";

/** Raft's own rule: so many heartbeats may be lost before anybody stands for election. */
const HEARTBEATS_PER_ELECTION_TIMEOUT_MIN = 10;
/** Below this, a busy disk or a garbage collection looks like a dead leader. */
const ELECTION_TIMEOUT_MS_MIN = 100;
const CLUSTER_SIZES: readonly number[] = [1, 3, 5];
const KINDS = ["grpc", "peer", "http"] as const;

export interface CompletedConfig {
  readonly config: ServerConfig;
  readonly warnings: readonly string[];
}

/** The complete configuration, or every broken relation, one line each. */
export function completeConfig(merged: MergedConfig): Result<CompletedConfig, readonly string[]> {
  const own = merged.cluster.servers?.find(({ id }) => id === merged.server.id);
  const listen = listenOf(merged, own);
  const missing = KINDS.filter((kind) => listen[kind] === undefined);
  const problems = [
    ...(merged.cluster.servers === undefined
      ? missing.map((kind) => `listen.${kind}: is missing, and so is cluster.servers`)
      : serverProblems(merged.cluster.servers, merged.server.id)),
    ...listenProblems(listen),
    ...raftProblems(merged.raft),
  ];
  const { grpc, peer, http } = listen;
  if (problems.length > 0 || grpc === undefined || peer === undefined || http === undefined) {
    return failed(problems);
  }
  const addresses = { grpc, peer, http };
  const servers = (merged.cluster.servers ?? [{ id: merged.server.id, ...addresses }]).toSorted(
    (a, b) => a.id - b.id,
  );
  const { name, id } = merged.cluster;
  const config: ServerConfig = {
    server: merged.server,
    listen: addresses,
    cluster: {
      name,
      id: id ?? derivedClusterId(name, servers),
      isIdGiven: id !== undefined,
      servers,
    },
    log: merged.log,
    raft: merged.raft,
    storage: merged.storage,
    shards: merged.shards,
  };
  return ok({ config, warnings: openListenWarnings(addresses) });
}

/** What is not said follows from the own entry of the list. */
function listenOf(
  merged: MergedConfig,
  own: ClusterServer | undefined,
): { readonly [kind in keyof ServerAddresses]: string | undefined } {
  return {
    grpc: merged.listen.grpc ?? own?.grpc,
    peer: merged.listen.peer ?? own?.peer,
    http: merged.listen.http ?? own?.http,
  };
}

function serverProblems(servers: readonly ClusterServer[], self: number): readonly string[] {
  const problems: string[] = [];
  if (!CLUSTER_SIZES.includes(servers.length)) {
    problems.push(`cluster.servers: must list one, three or five servers, not ${servers.length}`);
  }
  if (!servers.some(({ id }) => id === self)) {
    const ids = servers.map(({ id }) => id).join(", ");
    problems.push(`cluster.servers: must list this server, ${self}; it lists ${ids}`);
  }
  const seen = new Map<string, string>();
  servers.forEach((server, index) => {
    const at = `cluster.servers[${index}]`;
    const values = [`id ${server.id}`, ...KINDS.map((kind) => server[kind])];
    values.forEach((value, column) => {
      const path = `${at}.${column === 0 ? "id" : KINDS[column - 1]}`;
      const first = seen.get(value);
      if (first !== undefined) problems.push(`${path}: ${value} is already ${first}`);
      else seen.set(value, path);
    });
  });
  return problems;
}

function listenProblems(
  listen: Readonly<Record<keyof ServerAddresses, string | undefined>>,
): readonly string[] {
  return KINDS.flatMap((kind, index) => {
    const address = listen[kind];
    if (address === undefined || splitAddress(address).port === 0) return [];
    const first = KINDS.slice(0, index).find((other) => listen[other] === address);
    return first === undefined ? [] : [`listen.${kind}: ${address} is already listen.${first}`];
  });
}

function raftProblems(raft: ServerConfig["raft"]): readonly string[] {
  const { tickMs, electionTimeoutTicksMin, electionTimeoutTicksMax, heartbeatTicks } = raft;
  const problems: string[] = [];
  if (electionTimeoutTicksMax <= electionTimeoutTicksMin) {
    problems.push(
      "raft.electionTimeoutTicksMax: must be above raft.electionTimeoutTicksMin" +
        ` (${electionTimeoutTicksMin}), not ${electionTimeoutTicksMax}`,
    );
  }
  const ticksMin = heartbeatTicks * HEARTBEATS_PER_ELECTION_TIMEOUT_MIN;
  if (electionTimeoutTicksMin < ticksMin) {
    problems.push(
      `raft.electionTimeoutTicksMin: must be at least ${HEARTBEATS_PER_ELECTION_TIMEOUT_MIN}` +
        ` heartbeats, ${ticksMin} ticks, not ${electionTimeoutTicksMin}`,
    );
  }
  if (TICK_ADVANCE_MAX * tickMs >= GUARD_MS) {
    problems.push(
      `raft.tickMs: two ticks must be shorter than the owners' guard time of ${GUARD_MS} ms,` +
        ` not ${TICK_ADVANCE_MAX * tickMs} ms`,
    );
  }
  if (electionTimeoutTicksMin * tickMs < ELECTION_TIMEOUT_MS_MIN) {
    problems.push(
      `raft.electionTimeoutTicksMin: times raft.tickMs must be at least` +
        ` ${ELECTION_TIMEOUT_MS_MIN} ms, not ${electionTimeoutTicksMin * tickMs} ms`,
    );
  }
  return problems;
}

/**
 * The same on every server that has the same list, so that a first start needs no coordination.
 * Two clusters with equal lists would share it: that is why giving one is better.
 */
function derivedClusterId(name: string, servers: readonly ClusterServer[]): string {
  const hash = createHash("sha256").update(`cadastre cluster\0${name}\0`);
  for (const { id, peer } of servers) hash.update(`${id}\0${peer}\0`);
  return hash.digest("hex").slice(0, 32);
}

function openListenWarnings(listen: ServerAddresses): readonly string[] {
  const open = KINDS.filter((kind) => !isLoopback(splitAddress(listen[kind]).host));
  if (open.length === 0) return [];
  const which = open.map((kind) => `listen.${kind}`).join(", ");
  return [`${which}: open to the network without TLS; keep it on a network that you trust`];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
