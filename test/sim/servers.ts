/**
 * The servers of one simulated cluster: real server cores over the real log store on virtual disks,
 * each a process that can be killed at any point, lose its power, stand still, and start again from
 * what its disk holds. Everything that they do passes the checkers.
 */

import type { ReplicaId, ServerId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import { replicaOf } from "../../src/replica/host.ts";
import type { Logger } from "../../src/replica/ports.ts";
import { startTicker } from "../../src/replica/ticker.ts";
import type { ServerConfig } from "../../src/server/config/schema.ts";
import { Participation } from "../../src/server/participation.ts";
import { clusterFactsOf, createServerCore, type ServerCore } from "../../src/server/server-core.ts";
import { NOT_LEADER, servingNothing, standingOf } from "../../src/server/serving.ts";
import { writeDisowned } from "../../src/storage/data-dir.ts";
import { isDistrust, StorageError } from "../../src/storage/errors.ts";
import type { ServingProcess } from "../../src/testing/faulty-channels.ts";
import type { FaultyNetwork } from "../../src/testing/faulty-network.ts";
import type { FaultySnapshots } from "../../src/testing/faulty-snapshots.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import type { StoresChecker } from "./checkers/p09-stores.ts";
import type { Properties } from "./group-properties.ts";
import { must } from "./must.ts";
import { ServerObserver } from "./server-observer.ts";
import { openStore, type SimDataStore } from "./server-stores.ts";
import type { Shape } from "./shape.ts";
import { type CrashPoint, newSimServer, type SimServer } from "./sim-server.ts";
import type { Trace } from "./trace.ts";
import { configOf, ROOT } from "./virtual-cluster.ts";

export interface SimServersOptions {
  readonly world: VirtualClock;
  readonly network: FaultyNetwork;
  readonly snapshots: FaultySnapshots;
  readonly shape: Shape;
  readonly seed: number;
  readonly trace: Trace;
  readonly properties: () => Properties;
  readonly stores: StoresChecker;
  /** A server's process has ended by itself or was killed. */
  readonly onDown: (server: SimServer, why: "killed" | "fatalWrite") => void;
  readonly onBug: (error: unknown) => void;
}

export class SimServers {
  readonly all: readonly SimServer[];
  readonly #options: SimServersOptions;
  readonly #prng: Prng;
  readonly #observer: ServerObserver;

  constructor(options: SimServersOptions) {
    this.#options = options;
    this.#observer = new ServerObserver({
      ...options,
      voters: () => this.voters,
      onPassed: (server, point) => this.#pass(server, point),
    });
    const { seed, shape } = options;
    this.#prng = Prng.fromSeed(seed * 7 + 1);
    const ids = Array.from({ length: shape.servers }, (_, at) => (at + 1) as ServerId);
    this.all = ids.map((id) => this.#newServer(id));
  }

  get ids(): readonly ServerId[] {
    return this.all.map(({ id }) => id);
  }

  get voters(): readonly ReplicaId[] {
    return this.ids.map((id) => replicaOf(id));
  }

  get running(): readonly SimServer[] {
    return this.all.filter(({ process }) => process !== undefined);
  }

  get(id: ServerId): SimServer {
    const server = this.all[id - 1];
    if (server === undefined) throw new Error(`there is no server ${id}`);
    return server;
  }

  at(address: string): ServingProcess | undefined {
    return this.all.find((server) => server.address === address)?.process;
  }

  /** Nothing of the server runs: a start would be its next process. */
  isDown({ clock }: SimServer): boolean {
    return clock.isKilled;
  }

  start(server: SimServer): void {
    const { world, onBug } = this.#options;
    if (!this.isDown(server) || server.isOut) return;
    const startMs = this.#prng.nextInteger(0, 1_000_000);
    const clock = new ProcessClock(world, { rate: server.rate, startMs });
    server.clock = clock;
    this.#run(server, clock).catch((error: unknown) => {
      if (!clock.isKilled) onBug(error);
    });
  }

  /** As SIGKILL does: what was appended to its files stays. */
  kill(server: SimServer): void {
    if (this.isDown(server)) return;
    const { network, stores, trace, onDown } = this.#options;
    trace.say(`server ${server.id} is killed`);
    stores.onEnd(server.id);
    server.clock.kill();
    server.process = undefined;
    server.crashAt = undefined;
    server.meetsOnly = undefined;
    server.disk.release();
    server.files.release();
    network.leave(server.id);
    this.#options.snapshots.leave(server.id);
    onDown(server, "killed");
    for (const other of this.all) {
      const { meetsOnly } = other;
      if (meetsOnly?.delete(server.id) === true && meetsOnly.size === 0) this.#retire(other);
    }
  }

  /** Whether two servers meet as soon as they can. */
  mayMeet(one: ServerId, other: ServerId): boolean {
    const [{ meetsOnly: ofOne }, { meetsOnly: ofOther }] = [this.get(one), this.get(other)];
    return ofOne?.has(other) !== false && ofOther?.has(one) !== false;
  }

  /** It ends and never comes back. */
  #retire(server: SimServer): void {
    this.#options.trace.say(`server ${server.id} is not started again`);
    server.isOut = true;
    this.kill(server);
  }

  /** It ends, and what was not synced is lost as far as chance has it. */
  cutPower(server: SimServer): void {
    const { trace } = this.#options;
    this.kill(server);
    const { lostBatches, hasHole } = server.disk.cutPower();
    server.files.cutPower();
    trace.say(`server ${server.id} loses power and ${lostBatches} batches`);
    if (lostBatches > 0) trace.count("batchesLost");
    if (hasHole) trace.count("lossesWithHoles");
  }

  async #run(server: SimServer, clock: ProcessClock): Promise<void> {
    const { id } = server;
    const { seed, shape, trace } = this.#options;
    const config = { ...configOf(id, this.ids, shape.tickMs), storage: shape.storage };
    server.starts++;
    const opened = await openStore(server, clock, {
      config,
      voters: this.voters,
      storeUuid: `store-${seed}-${id}-${server.starts}`,
      onFatal: (error) => this.#onFatal(server, clock, error),
    });
    if (opened instanceof StorageError) {
      must(
        server.hitBy !== undefined,
        12,
        `the store of server ${id} can't be opened: ${opened.message}`,
      );
      trace.say(`server ${id} can't use its store: ${opened.code}`);
      trace.count("unusableStores");
      this.#options.stores.fall(id, `its store was found to be ${opened.code}`);
      if (isDistrust(opened)) this.#serveNothing(server, clock, config, opened);
      else this.#retire(server);
      return;
    }
    this.#judgeStore(server, opened);
    if (opened.isAdmitted) server.isAdmitted = true;
    this.#serveGroups(server, clock, config, opened);
  }

  /** What a restart finds is what was written, but for what has befallen the store. */
  #judgeStore(server: SimServer, { replicas }: SimDataStore): void {
    const { id, model } = server;
    const { stores, trace } = this.#options;
    if (server.isStoreChanged) {
      server.isStoreChanged = false;
      const lack = stores.onOpened(id, replicas);
      const isShown = lack?.isRecorded === true && server.hitBy === "logRolledBack";
      must(!isShown, 9, `server ${id} does not see that ${lack?.what}`);
      if (lack === undefined) model.forget(replicas);
      else trace.count("fallenStores");
    }
    if (stores.isFallen(id)) return;
    const lostSteps = model.reopened(replicas);
    if (lostSteps > 0) trace.count("crashesWithLoss");
    if (replicas.some(({ hardState }) => hardState.term > 0)) trace.count("restartsFromDisk");
    if (replicas.some(({ snapshot }) => snapshot.index > 0)) trace.count("restartsFromSnapshots");
    trace.say(`server ${id} has opened its store, ${lostSteps} steps lost`);
  }

  #serveNothing(
    server: SimServer,
    clock: ProcessClock,
    config: ServerConfig,
    error: StorageError,
  ): void {
    const { id } = server;
    const participation = Participation.none(error, this.#logger(server));
    this.#options.network.join({
      self: id,
      clock,
      bootNonce: `process ${server.starts} of server ${id}`,
      standing: standingOf(error, participation),
      events: { onEnvelope: () => {}, onPeerReachable: () => {}, onPeerUnreachable: () => {} },
      onForward: () => Promise.resolve(NOT_LEADER),
    });
    const facts = clusterFactsOf({
      config,
      clock,
      isReachable: () => false,
      productVersion: "0.0.0",
      abstention: () => participation.abstention,
    });
    const drain = new AbortController().signal;
    const { services } = servingNothing(config.cluster.id, id, facts, {
      facts: { fatalError: undefined },
      drain,
    });
    server.process = { clock, core: undefined, services };
  }

  #serveGroups(
    server: SimServer,
    clock: ProcessClock,
    config: ServerConfig,
    opened: SimDataStore,
  ): void {
    const { id, model } = server;
    const { network, snapshots, stores, shape } = this.#options;
    const hosted: { core: ServerCore | undefined } = { core: undefined };
    const participation = this.#participationOf(server, clock, opened, () => hosted.core);
    const standing = standingOf(opened, participation);
    // A new store in the place of a lost one is another one, and whoever knew the first says so.
    const isHidden = stores.isFallen(id) && opened.isAdmitted;
    if (isHidden && !this.#findWitnesses(server, opened)) return;
    const reachable = new Set<ServerId>();
    const { transport, forwarder } = network.join({
      self: id,
      clock,
      bootNonce: `process ${server.starts} of server ${id}`,
      standing,
      events: {
        onEnvelope: (from, envelope) => {
          stores.onHeard(id, from, envelope);
          hosted.core?.host.onEnvelope(from, envelope);
        },
        onPeerReachable: (peer) => reachable.add(peer),
        onPeerUnreachable: (peer) => {
          reachable.delete(peer);
          hosted.core?.host.onPeerUnreachable(peer);
        },
      },
      onForward: (_from, call) => hosted.core?.onForward(call) ?? Promise.resolve(NOT_LEADER),
    });
    const store = stores.isFallen(id) ? opened.store : model.wrap(opened.store);
    const core = createServerCore({
      config,
      loaded: opened.replicas,
      store: this.#observer.store(server, store),
      snapshotStore: opened.snapshots,
      snapshotSource: snapshots.join(id, clock, opened.snapshots),
      transport: this.#observer.transport(server, clock, transport),
      forwarder,
      clock,
      timers: clock,
      logger: this.#logger(server),
      seed: this.#prng.nextUint32(),
      onHalt: (reason) => this.#options.onBug(new Error(reason)),
      productVersion: "0.0.0",
      isReachable: (peer) => reachable.has(peer),
      abstention: () => participation.abstention,
      drain: new AbortController().signal,
      history: shape.history,
      raftBounds: shape.raftBounds,
    });
    this.#observer.groups(server, clock, core, config);
    hosted.core = core;
    startTicker({ tickMs: shape.tickMs, clock, timers: clock, onTick: () => core.tick() });
    server.process = { clock, core, services: core.services };
  }

  #participationOf(
    server: SimServer,
    clock: ProcessClock,
    { isAdmitted, memory, files }: SimDataStore,
    core: () => ServerCore | undefined,
  ): Participation {
    const { network, trace } = this.#options;
    return new Participation({
      others: this.ids.filter((id) => id !== server.id),
      isAdmitted,
      admit: async () => {
        await memory.admit();
        server.isAdmitted = true;
        trace.count("admittedServers");
      },
      logger: this.#logger(server),
      onDistrust: (error) => {
        if (clock.isKilled) return;
        trace.count("disowned");
        trace.say(`server ${server.id} is disowned: ${error.message}`);
        server.meetsOnly = undefined;
        void writeDisowned(files, error.message);
        core()?.host.stop();
        network.abstain(server.id);
        if (server.process !== undefined) server.process = { ...server.process, core: undefined };
      },
    });
  }

  /**
   * Its store holds less than it promised and does not show it. Processes that have seen more tell
   * it when they meet: one of them must be the first, and live to be met (decision 0012). Answers
   * whether there are any; if not, the server is not started at all.
   */
  #findWitnesses(server: SimServer, { replicas }: SimDataStore): boolean {
    const { stores, trace } = this.#options;
    const heard = stores.witnesses(server.id, replicas);
    const witnesses = heard.filter((id) => this.get(id).hitBy === undefined);
    if (witnesses.length === 0) {
      this.#retire(server);
      return false;
    }
    trace.count("witnessedLosses");
    server.meetsOnly = new Set(witnesses);
    return true;
  }

  #onFatal(server: SimServer, clock: ProcessClock, error: Error): void {
    if (clock.isKilled) return;
    const { trace, onDown } = this.#options;
    trace.say(`server ${server.id} ends itself: ${error.message}`);
    trace.count("fatalWrites");
    this.kill(server);
    onDown(server, "fatalWrite");
  }

  /** Errors that are logged fail the run; the rest is for whoever reads a verbose one. */
  #logger(server: SimServer): Logger {
    const { trace, onBug } = this.#options;
    const tell = (event: string, fields?: Readonly<Record<string, unknown>>): void => {
      trace.note([], () => `server ${server.id} logs ${event} ${JSON.stringify(fields ?? {})}`);
    };
    return {
      debug: () => {},
      info: tell,
      warn: tell,
      error: (event, fields) => {
        if (event === "quarantined" && server.hitBy !== undefined) tell(event, fields);
        else onBug(new Error(`logged as an error: ${event} ${JSON.stringify(fields)}`));
      },
    };
  }

  #pass(server: SimServer, point: CrashPoint): void {
    const { crashAt } = server;
    if (crashAt?.point !== point || --crashAt.left > 0) return;
    this.#options.trace.count("serverKillsAtPoint");
    this.kill(server);
  }

  #newServer(id: ServerId): SimServer {
    const { seed, shape, world } = this.#options;
    const rate = this.#prng.pick(shape.rates);
    return newSimServer(id, {
      seed,
      shape,
      world,
      rate,
      onCut: (group, entries, byTerm) => {
        const { root, shard } = this.#options.properties();
        (group === ROOT ? root : shard).onCut(entries, byTerm);
      },
    });
  }
}
