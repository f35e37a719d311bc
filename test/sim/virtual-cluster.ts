/**
 * Whole servers in one process on virtual time: real groups and services over an in-memory network
 * and in-memory disks. Servers crash and restart from what their disks held.
 */

import type { GroupId, ReplicaId, ServerId } from "../../src/base/brands.ts";
import type { Result } from "../../src/base/result.ts";
import { replicaOf } from "../../src/replica/host.ts";
import type { Clock, LoadedReplica, Logger, LogStore, Timers } from "../../src/replica/ports.ts";
import type { Envelope } from "../../src/raft/messages.ts";
import type { Entry } from "../../src/raft/types.ts";
import { startTicker, type Ticker } from "../../src/replica/ticker.ts";
import type { ServerConfig } from "../../src/server/config/schema.ts";
import type { HistoryBounds } from "../../src/server/groups.ts";
import { createServerCore, type ServerCore } from "../../src/server/server-core.ts";
import { MemoryLogStore } from "../../src/testing/memory-log-store.ts";
import { MemorySnapshotNetwork, MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { MemoryNetwork } from "../../src/testing/memory-transport.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import type { Refusal } from "../../src/wire/api.ts";

export const ROOT = 0 as GroupId;
export const SHARD = 1 as GroupId;
/** One synced write of the virtual disks, unless a disk is made slow. */
const SYNC_MS = 1;

export interface VirtualClusterOptions {
  readonly count?: number;
  readonly history?: HistoryBounds;
  /** Of the elections' jitter. */
  readonly seed?: number;
  /** How long a message between servers is under way. */
  readonly peerDelayMs?: number;
  /** When checkpoints are taken, and how much of the log is kept; by default none are. */
  readonly storage?: ServerConfig["storage"];
  /** A server's own clock, over the cluster's. */
  readonly clockOf?: (id: ServerId, clock: VirtualClock) => Clock & Timers;
}

/** No checkpoint is ever due. */
const ROOMY: ServerConfig["storage"] = {
  checkpointBytesMin: 1e9,
  logTrailingBytes: 0,
  snapshotBytesPerSecond: 1e9,
};

/** A command that one server handed to another. */
export interface ForwardSeen {
  readonly from: ServerId;
  readonly to: ServerId;
  readonly group: GroupId;
}

const QUIET: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (event, fields) => {
    throw new Error(`logged as an error: ${event} ${JSON.stringify(fields)}`);
  },
};

/** What a process leaves behind. */
interface Disk {
  readonly store: MemoryLogStore;
  readonly snapshots: MemorySnapshotStore;
}

interface RunningServer extends Disk {
  readonly core: ServerCore;
  readonly ticker: Ticker;
  readonly drain: AbortController;
}

export class VirtualCluster {
  readonly clock = new VirtualClock();
  readonly network: MemoryNetwork;
  readonly ids: readonly ServerId[];
  /** Every forwarded command that has arrived somewhere. */
  readonly forwards: ForwardSeen[] = [];
  readonly #options: VirtualClusterOptions;
  readonly #running = new Map<ServerId, RunningServer>();
  readonly #crashed = new Map<ServerId, Disk>();
  readonly #snapshotNetwork: MemorySnapshotNetwork;
  readonly #syncMs = new Map<ServerId, number>();
  /** "server/group" whose replica gets no entries. */
  readonly #stalled = new Set<string>();

  constructor(options: VirtualClusterOptions = {}) {
    const { count = 3 } = options;
    this.#options = options;
    this.network = new MemoryNetwork(this.#peerTimers(options.peerDelayMs ?? 0));
    this.#snapshotNetwork = new MemorySnapshotNetwork({
      timers: this.clock,
      reaches: (to, from) => this.network.isConnected(to, from),
      chunkBytes: 4_096,
    });
    this.ids = Array.from({ length: count }, (_, at) => (at + 1) as ServerId);
    for (const id of this.ids) {
      const store = new MemoryLogStore({ replicas: this.#replicas(id) });
      this.#start(id, { store, snapshots: new MemorySnapshotStore() });
    }
  }

  core(id: ServerId): ServerCore {
    const server = this.#running.get(id);
    if (server === undefined) throw new Error(`server ${id} does not run`);
    return server.core;
  }

  get runningIds(): ServerId[] {
    return [...this.#running.keys()];
  }

  /** Moves time on until a condition holds. */
  async until(condition: () => boolean, limitMs = 20_000): Promise<void> {
    const endMs = this.clock.nowMs() + limitMs;
    await this.clock.settle();
    while (!condition()) {
      if (this.clock.nowMs() > endMs) throw new Error(`not so after ${limitMs} virtual ms`);
      await this.clock.advance(1);
    }
  }

  /** The ready leader of a group, once there is one. */
  async leader(group: GroupId): Promise<ServerId> {
    let found: ServerId | undefined;
    await this.until(() => {
      found = this.runningIds.find((id) => {
        const { groups } = this.core(id);
        const access = group === ROOT ? groups.root : groups.shards.get(group)?.access;
        return access?.replica.core.isLeaderReady === true;
      });
      return found !== undefined;
    });
    if (found === undefined) throw new Error("until() has found a leader");
    return found;
  }

  /** Runs a call to its end on virtual time, and expects an answer. */
  async answer<T>(call: Promise<Result<T, Refusal>>): Promise<T> {
    const result = await this.result(call);
    if (!result.ok) throw new Error(`refused: ${result.error.reason}: ${result.error.message}`);
    return result.value;
  }

  async result<T>(call: Promise<T>): Promise<T> {
    let outcome: { readonly value: T } | undefined;
    let failure: { readonly error: unknown } | undefined;
    call.then(
      (value) => {
        outcome = { value };
      },
      (error: unknown) => {
        failure = { error };
      },
    );
    await this.until(() => outcome !== undefined || failure !== undefined, 120_000);
    if (failure !== undefined) throw failure.error;
    if (outcome === undefined) throw new Error("until() has waited for it");
    return outcome.value;
  }

  /** The process ends at once; writes that were not completed are lost. */
  crash(id: ServerId): void {
    const server = this.#running.get(id);
    if (server === undefined) return;
    this.#running.delete(id);
    server.ticker.stop();
    server.core.host.stop();
    server.drain.abort();
    server.store.crash();
    server.snapshots.crash();
    this.network.leave(id);
    this.#snapshotNetwork.leave(id);
    this.#crashed.set(id, server);
  }

  /** Cuts every link of a server. Its clients still reach it. */
  cutOff(id: ServerId): void {
    for (const peer of this.ids) if (peer !== id) this.network.cut(id, peer);
  }

  rejoin(id: ServerId): void {
    for (const peer of this.ids) if (peer !== id) this.network.heal(id, peer);
  }

  /** The server still hears its leader, but gets no entries: its replica falls behind. */
  stall(id: ServerId, group: GroupId): void {
    this.#stalled.add(`${id}/${group}`);
  }

  unstall(id: ServerId, group: GroupId): void {
    this.#stalled.delete(`${id}/${group}`);
  }

  /** Every synced write of this server takes so long from now on. */
  setSyncMs(id: ServerId, syncMs: number): void {
    this.#syncMs.set(id, syncMs);
  }

  drain(id: ServerId): void {
    this.#running.get(id)?.drain.abort();
  }

  /** The durable entries of a server's replica. */
  entries(id: ServerId, group: GroupId): readonly Entry[] {
    const replicas = this.#running.get(id)?.store.loaded() ?? [];
    return replicas.find((replica) => replica.group === group)?.entries ?? [];
  }

  restart(id: ServerId): void {
    const disk = this.#crashed.get(id);
    if (disk === undefined) throw new Error(`server ${id} has not crashed`);
    this.#crashed.delete(id);
    this.#start(id, { store: disk.store.reopen().store, snapshots: disk.snapshots.reopen() });
  }

  #start(id: ServerId, { store, snapshots }: Disk): void {
    const drain = new AbortController();
    const hosted: { core: ServerCore | undefined } = { core: undefined };
    const { transport, forwarder } = this.network.join({
      self: id,
      events: {
        onEnvelope: (from, envelope) => {
          if (!this.#isStalledFor(id, envelope)) hosted.core?.host.onEnvelope(from, envelope);
        },
        onPeerUnreachable: (peer) => hosted.core?.host.onPeerUnreachable(peer),
        onPeerReachable: () => {},
      },
      onForward: (from, call) => {
        this.forwards.push({ from, to: id, group: call.group });
        const refused = { kind: "failed", outcome: "notApplied", reason: "notLeader" } as const;
        return hosted.core?.onForward(call) ?? Promise.resolve(refused);
      },
    });
    const config = { ...configOf(id, this.ids), storage: this.#options.storage ?? ROOMY };
    const clock = this.#options.clockOf?.(id, this.clock) ?? this.clock;
    const core = createServerCore({
      config,
      loaded: store.loaded(),
      store: this.#timedStore(id, store),
      snapshotStore: snapshots,
      snapshotSource: this.#snapshotNetwork.join(id, snapshots),
      transport,
      forwarder,
      clock,
      timers: clock,
      logger: QUIET,
      seed: (this.#options.seed ?? 0) + id * 7_919 + Math.floor(this.clock.nowMs()),
      onHalt: (reason) => {
        throw new Error(reason);
      },
      productVersion: "0.0.0",
      isReachable: () => true,
      drain: drain.signal,
      ...(this.#options.history && { history: this.#options.history }),
    });
    hosted.core = core;
    const { tickMs } = config.raft;
    const ticker = startTicker({ tickMs, clock, timers: clock, onTick: () => core.tick() });
    this.#running.set(id, { core, store, snapshots, ticker, drain });
  }

  #peerTimers(delayMs: number): Timers {
    const { clock } = this;
    return {
      after: (ms, run) => clock.after(ms, run),
      afterReading: (run) => clock.afterReading(run),
      soon: (run) => void (delayMs > 0 ? clock.after(delayMs, run) : clock.soon(run)),
    };
  }

  #isStalledFor(id: ServerId, { group, message }: Envelope): boolean {
    if (message.kind !== "appendEntries" || message.entries.length === 0) return false;
    return this.#stalled.has(`${id}/${group}`);
  }

  /** Completes each write a moment after it was submitted. */
  #timedStore(id: ServerId, store: MemoryLogStore): LogStore {
    return {
      submit: (step) => {
        store.submit(step);
        this.clock.after(this.#syncMs.get(id) ?? SYNC_MS, () => store.completeAll());
      },
      close: () => store.close(),
    };
  }

  #replicas(id: ServerId): Pick<LoadedReplica, "group" | "replicaId" | "configuration">[] {
    const voters: ReplicaId[] = this.ids.map((server) => replicaOf(server));
    return [ROOT, SHARD].map((group) => ({
      group,
      replicaId: replicaOf(id),
      configuration: { voters },
    }));
  }
}

/** One of several servers, with all sizes as usual. */
export function configOf(id: ServerId, ids: readonly ServerId[], tickMs = 50): ServerConfig {
  const addresses = (server: number): { grpc: string; peer: string; http: string } => ({
    grpc: `server-${server}:1`,
    peer: `server-${server}:2`,
    http: `server-${server}:3`,
  });
  return {
    server: { id, dataDir: "memory" },
    listen: addresses(id),
    cluster: {
      name: "virtual",
      id: "0123456789abcdef0123456789abcdef",
      isIdGiven: true,
      servers: ids.map((server) => ({ id: server, ...addresses(server) })),
    },
    log: { level: "info", format: "json" },
    raft: {
      tickMs,
      electionTimeoutTicksMin: 12,
      electionTimeoutTicksMax: 24,
      heartbeatTicks: 1,
    },
    storage: ROOMY,
    shards: 1,
  };
}
