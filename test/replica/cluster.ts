/** Three hosts of one group on a memory network, their disks a millisecond slow. */

import type { MonotonicMs, ServerId } from "../../src/base/brands.ts";
import { GroupAccess } from "../../src/replica/group-access.ts";
import { replicaOf, ReplicaHost, serverOf } from "../../src/replica/host.ts";
import type { ForwardAnswer, ForwardCall, Forwarder } from "../../src/replica/ports.ts";
import { Replica } from "../../src/replica/replica.ts";
import { startTicker, type Ticker } from "../../src/replica/ticker.ts";
import { Turns } from "../../src/replica/turns.ts";
import { MemoryLogStore, type MemoryReplica } from "../../src/testing/memory-log-store.ts";
import { MemorySnapshotNetwork, MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { MemoryNetwork } from "../../src/testing/memory-transport.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { type CountAnswer, CountingMachine, type CountRequest } from "./counting-machine.ts";
import { GROUP, QUIET, RAFT, TICK_MS } from "./lone-replica.ts";

export const SERVERS: readonly ServerId[] = [1, 2, 3].map((id) => id as ServerId);

export interface CountingServer {
  readonly id: ServerId;
  readonly machine: CountingMachine;
  readonly replica: Replica<CountRequest, CountAnswer, string>;
  readonly access: GroupAccess<CountRequest, CountAnswer, string>;
  readonly store: MemoryLogStore;
  readonly snapshots: MemorySnapshotStore;
  readonly ticker: Ticker;
  /** Commands that came from other servers. */
  readonly forwarded: ForwardCall[];
}

export interface ClusterOptions {
  readonly checkpointBytesMin?: number;
  readonly raft?: Partial<typeof RAFT>;
}

/** A server's disk after a crash. */
export interface Disk {
  readonly log: MemoryLogStore;
  readonly snapshots: MemorySnapshotStore;
}

export class Cluster {
  readonly clock = new VirtualClock();
  readonly network = new MemoryNetwork(this.clock);
  readonly snapshotNetwork = new MemorySnapshotNetwork({
    timers: this.clock,
    reaches: (to, from) => this.network.isConnected(to, from),
  });
  readonly servers = new Map<ServerId, CountingServer>();
  readonly #options: ClusterOptions;
  #starts = 0;
  #installedBefore = 0;

  constructor(options: ClusterOptions = {}) {
    this.#options = options;
    for (const id of SERVERS) this.#start(id, undefined);
  }

  server(id: number): CountingServer {
    const server = this.servers.get(id as ServerId);
    if (server === undefined) throw new Error(`server ${id} is down`);
    return server;
  }

  get all(): CountingServer[] {
    return [...this.servers.values()];
  }

  /** Snapshots that were installed, by processes that are dead too. */
  get installed(): number {
    const running = this.all.map(({ replica }) => replica.snapshots.fetchStats.installed);
    return running.reduce((sum, count) => sum + count, this.#installedBefore);
  }

  /** Lets time pass; disks write meanwhile. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed++) {
      await this.clock.advance(1);
      for (const { store } of this.servers.values()) store.completeNext();
      await this.clock.settle();
    }
  }

  async runUntil(isDone: () => boolean, limitMs = 5_000): Promise<void> {
    for (let passed = 0; passed < limitMs; passed += 5) {
      if (isDone()) return;
      await this.run(5);
    }
    throw new Error(`not so after ${limitMs} ms`);
  }

  /** A leader that is ready and that everyone who is up follows. */
  async leader(): Promise<CountingServer> {
    await this.runUntil(() => this.#leader() !== undefined);
    const leader = this.#leader();
    if (leader === undefined) throw new Error("the condition was met");
    return leader;
  }

  async followers(): Promise<CountingServer[]> {
    const leader = await this.leader();
    return this.all.filter((server) => server !== leader);
  }

  /** The process dies; its disk keeps what was durable, and perhaps a write nobody heard of. */
  crash(id: ServerId, keptWrites = 0): Disk {
    const { replica, ticker, store, snapshots } = this.server(id);
    this.#installedBefore += replica.snapshots.fetchStats.installed;
    this.network.leave(id);
    this.snapshotNetwork.leave(id);
    ticker.stop();
    replica.stop();
    store.crash(keptWrites);
    snapshots.crash();
    this.servers.delete(id);
    return { log: store, snapshots };
  }

  restart(id: ServerId, former: Disk): void {
    this.#start(id, former);
  }

  deadline(inMs: number): MonotonicMs {
    return (this.clock.nowMs() + inMs) as MonotonicMs;
  }

  #leader(): CountingServer | undefined {
    const leader = this.all.find(({ replica }) => replica.core.isLeaderReady);
    const isFollowed = this.all.every(
      ({ access, replica }) =>
        access.leaderServerId === leader?.id && replica.core.term === leader?.replica.core.term,
    );
    return isFollowed ? leader : undefined;
  }

  #start(id: ServerId, former: Disk | undefined): void {
    const { clock, network } = this;
    const { store, loaded } = openStore(id, former?.log);
    const snapshots = former?.snapshots.reopen() ?? new MemorySnapshotStore();
    const machine = new CountingMachine(GROUP);
    const host = new ReplicaHost(QUIET);
    const forwarded: ForwardCall[] = [];
    const onForward = (_from: ServerId, call: ForwardCall): Promise<ForwardAnswer> => {
      forwarded.push(call);
      return answerForwarded(replica, access, clock, call);
    };
    const events = {
      onEnvelope: host.onEnvelope.bind(host),
      onPeerUnreachable: host.onPeerUnreachable.bind(host),
      onPeerReachable: () => {},
    };
    const joined = network.join({ self: id, events, onForward });
    const replica = new Replica({
      loaded,
      raft: { ...RAFT, ...this.#options.raft, seed: ++this.#starts },
      machine,
      store,
      snapshots: {
        store: snapshots,
        source: this.snapshotNetwork.join(id, snapshots),
        turns: new Turns(),
        checkpointBytesMin: this.#options.checkpointBytesMin ?? 1e9,
        serverOf,
      },
      clock,
      timers: clock,
      logger: QUIET,
      send: (to, message) => {
        const envelope = { group: GROUP, from: replicaOf(id), to, message };
        joined.transport.send(serverOf(to), envelope);
      },
      onApplied: () => {},
      onReplaced: () => {},
      onTransition: () => {},
      onHalt: (reason) => {
        throw new Error(reason);
      },
    });
    host.add(replica);
    const access = accessOf(id, replica, joined.forwarder, clock);
    const onTick = (): void => host.tick();
    const ticker = startTicker({ tickMs: TICK_MS, clock, timers: clock, onTick });
    this.servers.set(id, { id, machine, replica, access, store, snapshots, ticker, forwarded });
  }
}

export function accessOf(
  self: ServerId,
  replica: Replica<CountRequest, CountAnswer, string>,
  forwarder: Forwarder,
  clock: VirtualClock,
): GroupAccess<CountRequest, CountAnswer, string> {
  return new GroupAccess({
    replica,
    self,
    serverOf: (replicaId) => replicaId as ServerId,
    others: SERVERS.filter((server) => server !== self),
    forwarder,
    clock,
    timers: clock,
  });
}

function openStore(
  id: ServerId,
  former: MemoryLogStore | undefined,
): { readonly store: MemoryLogStore; readonly loaded: ReturnType<MemoryLogStore["loaded"]>[0] } {
  const configuration = { voters: SERVERS.map((server) => replicaOf(server)) };
  const replica: MemoryReplica = { group: GROUP, replicaId: replicaOf(id), configuration };
  const store =
    former === undefined ? new MemoryLogStore({ replicas: [replica] }) : former.reopen().store;
  const [loaded] = store.loaded();
  if (loaded === undefined) throw new Error("the store holds the replica");
  return { store, loaded };
}

async function answerForwarded(
  replica: Replica<CountRequest, CountAnswer, string>,
  access: GroupAccess<CountRequest, CountAnswer, string>,
  clock: VirtualClock,
  call: ForwardCall,
): Promise<ForwardAnswer> {
  if (!access.isLeader) return { kind: "failed", outcome: "notApplied", reason: "notLeader" };
  const deadlineMs = (clock.nowMs() + call.timeoutMs) as MonotonicMs;
  const outcome = await replica.proposeEncoded(call.command, deadlineMs);
  if (outcome.kind === "failed") return outcome;
  const result = replica.machine.encodeAnswer(outcome.answer);
  return { kind: "applied", index: outcome.index, result };
}
