/**
 * The servers of one simulated cluster: real server cores over the real log store on virtual disks,
 * each a process that can be killed at any point, lose its power, stand still, and start again from
 * what its disk holds. Everything that they do passes the checkers.
 */

import type { GroupId, ReplicaId, ServerId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import type { GroupMachine } from "../../src/machine/group.ts";
import { checkStep } from "../../src/raft/invariants.ts";
import type { RaftConfig } from "../../src/raft/types.ts";
import { replicaOf } from "../../src/replica/host.ts";
import type { Logger, Transport } from "../../src/replica/ports.ts";
import type { Replica } from "../../src/replica/replica.ts";
import { startTicker } from "../../src/replica/ticker.ts";
import type { ServerConfig } from "../../src/server/config/schema.ts";
import { createServerCore, type ServerCore } from "../../src/server/server-core.ts";
import { attachLogStore, writeFirstRecords } from "../../src/storage/log-store.ts";
import { checkSnapshots, SnapshotFiles } from "../../src/storage/snapshot-files.ts";
import type { ServingProcess } from "../../src/testing/faulty-channels.ts";
import type { FaultySnapshots } from "../../src/testing/faulty-snapshots.ts";
import type { FaultyNetwork } from "../../src/testing/faulty-network.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { VirtualFiles } from "../../src/testing/virtual-files.ts";
import { VirtualDisk } from "../../src/testing/virtual-disk.ts";
import type { GroupProperties } from "./group-properties.ts";
import type { Shape } from "./shape.ts";
import { StoreModel } from "./store-model.ts";
import type { Trace } from "./trace.ts";
import { countStep, stepToNumbers, stepToText } from "./step-notes.ts";
import { configOf, ROOT, SHARD } from "./virtual-cluster.ts";

/** Where a process can be made to die, in the middle of whatever it does. */
export const CRASH_POINTS = ["sends", "submits", "hearsDurable", "applies", "leads"] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

interface ServerProcess extends ServingProcess {
  readonly core: ServerCore;
}

export interface SimServer {
  readonly id: ServerId;
  readonly address: string;
  /** What LevelDB writes to, and the files beside it. */
  readonly disk: VirtualDisk;
  readonly files: VirtualFiles;
  readonly model: StoreModel;
  /** Of its clock, in each of its processes. */
  rate: number;
  /** Of the present process; killed when there is none. */
  clock: ProcessClock;
  /** undefined while it is down or opening its store. */
  process: ServerProcess | undefined;
  /** Dies at the so-manieth passing of a point. */
  crashAt: { readonly point: CrashPoint; left: number } | undefined;
  wasCreated: boolean;
}

/** The checkers of both groups, whatever their machines. */
export interface Properties {
  readonly root: GroupProperties<never, never, never>;
  readonly shard: GroupProperties<never, never, never>;
}

export interface SimServersOptions {
  readonly world: VirtualClock;
  readonly network: FaultyNetwork;
  readonly snapshots: FaultySnapshots;
  readonly shape: Shape;
  readonly seed: number;
  readonly trace: Trace;
  readonly properties: () => Properties;
  /** A server's process has ended by itself or was killed. */
  readonly onDown: (server: SimServer, why: "killed" | "fatalWrite") => void;
  readonly onBug: (error: unknown) => void;
}

export class SimServers {
  readonly all: readonly SimServer[];
  readonly #options: SimServersOptions;
  readonly #prng: Prng;

  constructor(options: SimServersOptions) {
    this.#options = options;
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
    if (!this.isDown(server)) return;
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
    const { network, trace, onDown } = this.#options;
    trace.say(`server ${server.id} is killed`);
    server.clock.kill();
    server.process = undefined;
    server.crashAt = undefined;
    server.disk.release();
    server.files.release();
    network.leave(server.id);
    this.#options.snapshots.leave(server.id);
    onDown(server, "killed");
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
    const { id, disk, model } = server;
    const { seed, trace, network } = this.#options;
    const { storage, tickMs } = this.#options.shape;
    const config = { ...configOf(id, this.ids, tickMs), storage };
    const expect = { clusterId: config.cluster.id, serverId: id };
    const db = disk.open(clock);
    const files = server.files.open(clock);
    if (!server.wasCreated) {
      const voters = this.voters;
      const replicas = [ROOT, SHARD].map((group) => ({
        group,
        replicaId: replicaOf(id),
        configuration: { voters },
      }));
      const identity = { ...expect, storeUuid: `store-${seed}-${id}` };
      await writeFirstRecords(db, files, { identity, replicas });
      server.wasCreated = true;
    }
    const opened = await attachLogStore(db, files, {
      dir: "virtual",
      expect,
      timers: clock,
      onFatal: (error) => this.#onFatal(server, clock, error),
    });
    const { clusterId } = expect;
    const snapshotStore = new SnapshotFiles({ files, dir: "virtual", clusterId });
    await checkSnapshots(snapshotStore, opened.replicas);
    const lostSteps = model.reopened(opened.replicas);
    if (lostSteps > 0) trace.count("crashesWithLoss");
    if (opened.replicas.some(({ hardState }) => hardState.term > 0))
      trace.count("restartsFromDisk");
    if (opened.replicas.some(({ snapshot }) => snapshot.index > 0)) {
      trace.count("restartsFromSnapshots");
    }
    trace.say(`server ${id} has opened its store, ${lostSteps} steps lost`);
    const hosted: { core: ServerCore | undefined } = { core: undefined };
    const reachable = new Set<ServerId>();
    const { transport, forwarder } = network.join({
      self: id,
      clock,
      events: {
        onEnvelope: (from, envelope) => hosted.core?.host.onEnvelope(from, envelope),
        onPeerReachable: (peer) => reachable.add(peer),
        onPeerUnreachable: (peer) => {
          reachable.delete(peer);
          hosted.core?.host.onPeerUnreachable(peer);
        },
      },
      onForward: (_from, call) => {
        const refused = { kind: "failed", outcome: "notApplied", reason: "notLeader" } as const;
        return hosted.core?.onForward(call) ?? Promise.resolve(refused);
      },
    });
    const core = createServerCore({
      config,
      loaded: opened.replicas,
      store: this.#pointedStore(server, model.wrap(opened.store)),
      snapshotStore,
      snapshotSource: this.#options.snapshots.join(id, clock, snapshotStore),
      transport: this.#checkedTransport(server, clock, transport),
      forwarder,
      clock,
      timers: clock,
      logger: this.#logger(server),
      seed: this.#prng.nextUint32(),
      onHalt: (reason) => this.#options.onBug(new Error(reason)),
      productVersion: "0.0.0",
      isReachable: (peer) => reachable.has(peer),
      drain: new AbortController().signal,
      history: this.#options.shape.history,
      raftBounds: this.#options.shape.raftBounds,
    });
    this.#observe(server, clock, core, config);
    hosted.core = core;
    startTicker({ tickMs, clock, timers: clock, onTick: () => core.tick() });
    server.process = { clock, core, services: core.services };
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
  #logger({ id }: SimServer): Logger {
    const { trace, onBug } = this.#options;
    const tell = (event: string, fields?: Readonly<Record<string, unknown>>): void => {
      trace.note([], () => `server ${id} logs ${event} ${JSON.stringify(fields ?? {})}`);
    };
    return {
      debug: () => {},
      info: tell,
      warn: tell,
      error: (event, fields) => {
        onBug(new Error(`logged as an error: ${event} ${JSON.stringify(fields)}`));
      },
    };
  }

  #checkedTransport(server: SimServer, clock: ProcessClock, inner: Transport): Transport {
    return {
      send: (to, envelope) => {
        if (clock.isKilled) return;
        const { group, message } = envelope;
        const outbound = { to: envelope.to, message };
        this.#propertiesOf(group).onSend(server.id, envelope.from, outbound);
        inner.send(to, envelope);
        this.#pass(server, "sends");
      },
    };
  }

  #pointedStore(server: SimServer, inner: ReturnType<StoreModel["wrap"]>): typeof inner {
    const { clock } = server;
    return {
      submit: (step) => {
        if (clock.isKilled) return;
        inner.submit({
          ...step,
          onDurable: () => {
            this.#pass(server, "hearsDurable");
            if (!clock.isKilled) step.onDurable();
          },
        });
        this.#pass(server, "submits");
      },
      close: () => inner.close(),
    };
  }

  #observe(server: SimServer, clock: ProcessClock, core: ServerCore, config: ServerConfig): void {
    const { root, shards } = core.groups;
    this.#observeReplica(server, clock, root.replica, config);
    for (const { access } of shards.values()) {
      this.#observeReplica(server, clock, access.replica, config);
    }
  }

  /** Stands between the host and its core and machine. */
  #observeReplica<Request, Answer, Event>(
    server: SimServer,
    clock: ProcessClock,
    replica: Replica<Request, Answer, Event>,
    { raft }: ServerConfig,
  ): void {
    const { world, shape, trace } = this.#options;
    const { core, machine, group, self } = replica;
    const properties = this.#propertiesOf(group) as unknown as GroupProperties<
      Request,
      Answer,
      Event
    >;
    const config: RaftConfig = {
      ...raft,
      ...shape.raftBounds,
      logTrailingBytes: shape.storage.logTrailingBytes,
      group,
      self,
      configuration: { voters: this.voters },
      seed: 0,
    };
    properties.onRestart(server.id, core);
    const runStep = core.step.bind(core);
    let before = core.status();
    core.step = (input) => {
      const output = runStep(input);
      if (clock.isKilled) return output;
      const after = checkStep({ config, core, before, input, output });
      const step = { server: server.id, group, core, before, after, input, output };
      trace.note(stepToNumbers(step), () => stepToText(step));
      properties.onStep({ ...step, trueMs: world.nowMs() });
      countStep(trace, output);
      const isElected = after.role === "leader" && before.role !== "leader";
      before = after;
      if (isElected) this.#pass(server, "leads");
      return output;
    };
    const who = `server ${server.id}, group ${group}`;
    const apply: GroupMachine<Request, Answer, Event>["apply"] = machine.apply.bind(machine);
    let appliedTo = 0;
    machine.apply = (meta, request) => {
      if (clock.isKilled) return apply(meta, request);
      // Whatever lies between came from a snapshot: at the start, or installed.
      if (appliedTo !== meta.index - 1) properties.onState(who, meta.index - 1, machine.digest());
      appliedTo = meta.index;
      const applied = apply(meta, request);
      properties.onApplied(who, machine, meta, applied);
      this.#pass(server, "applies");
      return applied;
    };
    const openCut = machine.openCut.bind(machine);
    // A digest is made of a cut as well.
    let isDigesting = false;
    machine.openCut = (pieceBytes) => {
      if (clock.isKilled || isDigesting) return openCut(pieceBytes);
      isDigesting = true;
      properties.onState(who, machine.revision, machine.digest());
      isDigesting = false;
      trace.count("checkpoints");
      return openCut(pieceBytes);
    };
  }

  #propertiesOf(group: GroupId): GroupProperties<never, never, never> {
    const { root, shard } = this.#options.properties();
    return group === ROOT ? root : shard;
  }

  #pass(server: SimServer, point: CrashPoint): void {
    const { crashAt } = server;
    if (crashAt?.point !== point || --crashAt.left > 0) return;
    this.#options.trace.count("serverKillsAtPoint");
    this.kill(server);
  }

  #newServer(id: ServerId): SimServer {
    const { seed, shape, world } = this.#options;
    const prng = Prng.fromSeed(seed * 11 + id);
    const clock = new ProcessClock(world, {});
    clock.kill();
    return {
      id,
      address: `server-${id}:1`,
      disk: new VirtualDisk({ world, prng, quality: shape.disk }),
      files: new VirtualFiles({ world, prng: prng.clone(), syncMsMax: shape.disk.syncMsMax }),
      model: new StoreModel((group, entries) => this.#propertiesOf(group).onCut(entries)),
      rate: this.#prng.pick(shape.rates),
      clock,
      process: undefined,
      crashAt: undefined,
      wasCreated: false,
    };
  }
}
