/**
 * One seed's world, put together: servers, networks, clients, storage nodes with real seats, a
 * fenced store, and the checkers that see all of it. What is done to it is decided elsewhere
 * (faults.ts, run-seed.ts).
 */

import { type Epoch, type GroupId, ROOT_GROUP, type ServerId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import type { SeatEvent } from "../../src/fence/seat-events.ts";
import { RootMachine } from "../../src/machine/root/machine.ts";
import { deadlineMs } from "../../src/machine/shard/leases.ts";
import { isClosed } from "../../src/machine/shard/ranges.ts";
import type { Owner } from "../../src/machine/shard/types.ts";
import { FaultyChannels } from "../../src/testing/faulty-channels.ts";
import { FaultyNetwork } from "../../src/testing/faulty-network.ts";
import { FaultySnapshots } from "../../src/testing/faulty-snapshots.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { FencedStore } from "./actors/fenced-store.ts";
import { Importer } from "./actors/importer.ts";
import { sampleKey, SampleKeys } from "./actors/keyspaces.ts";
import { Operator } from "./actors/operator.ts";
import { newNode, type OwnerNode, OwnerProcess } from "./actors/owner.ts";
import type { ActorWorld, Party } from "./actors/party.ts";
import { Reader } from "./actors/reader.ts";
import { Watcher, watchScopes } from "./actors/watcher.ts";
import { StoresChecker } from "./checkers/p09-stores.ts";
import { ReadsChecker } from "./checkers/p14-reads.ts";
import {
  type Admitted,
  type Guarding,
  OneOwnerChecker,
  type ServiceView,
} from "./checkers/p16-one-owner.ts";
import { GroupHistory } from "./group-history.ts";
import { GroupProperties, type Properties } from "./group-properties.ts";
import { must } from "./must.ts";
import { Operations } from "./operations.ts";
import { Oracle, ShardOracle } from "./oracle.ts";
import { SimServers } from "./servers.ts";
import type { Shape } from "./shape.ts";
import type { SimServer } from "./sim-server.ts";
import { Trace } from "./trace.ts";
import { SHARD } from "./virtual-cluster.ts";

/** That a storage node's machine has restarted, and not only its process. */
const REBOOT_CHANCE = 0.3;

export interface WorldOptions {
  readonly seed: number;
  readonly shape: Shape;
  /** For a verbose run. */
  readonly print?: ((line: string) => void) | undefined;
  readonly onServerDown: (server: SimServer, why: "killed" | "fatalWrite") => void;
  readonly onSeatEvent: (owner: OwnerProcess, event: SeatEvent) => void;
}

export class World {
  readonly clock: VirtualClock = new VirtualClock();
  readonly prng: Prng;
  readonly trace: Trace;
  readonly network: FaultyNetwork;
  readonly snapshots: FaultySnapshots;
  readonly channels: FaultyChannels;
  readonly servers: SimServers;
  readonly shardOracle: ShardOracle;
  readonly operations: Operations;
  readonly owners: OneOwnerChecker;
  readonly store: FencedStore;
  readonly samples: SampleKeys = new SampleKeys();
  readonly nodes: readonly OwnerNode[];
  readonly operator: Operator;
  readonly importer: Importer;
  readonly readers: readonly Reader[];
  readonly watchers: readonly Watcher[];
  processes: OwnerProcess[] = [];
  /** Faults have ended. */
  isHealed = false;
  /** Some storage node's process was copied while it ran. */
  hasCopies = false;
  #bug: { readonly error: unknown } | undefined;
  readonly #options: WorldOptions;
  readonly #actors: ActorWorld;
  /** Something has run in these since they were looked at. */
  readonly #ran = new Set<OwnerProcess>();
  readonly onBug: (error: unknown) => void = (error) => {
    this.#bug ??= { error };
  };

  constructor(options: WorldOptions) {
    this.#options = options;
    const { seed, shape } = options;
    const { clock } = this;
    this.prng = Prng.fromSeed(seed * 3 + 2);
    this.trace = new Trace(() => clock.nowMs(), options.print);
    const count = this.trace.count.bind(this.trace);
    this.network = new FaultyNetwork({
      world: clock,
      prng: Prng.fromSeed(seed * 5 + 3),
      quality: shape.peers,
      onHarm: count,
      mayMeet: (one, other) => this.servers.mayMeet(one, other),
    });
    this.snapshots = new FaultySnapshots({
      world: clock,
      prng: Prng.fromSeed(seed * 19 + 6),
      quality: shape.snapshots,
      isCut: (from, to) => this.network.isCut(from, to),
      onBroken: () => count("snapshotsBroken"),
    });
    this.shardOracle = new ShardOracle(count, this);
    const properties = this.#properties();
    this.servers = new SimServers({
      world: clock,
      network: this.network,
      snapshots: this.snapshots,
      shape,
      seed,
      trace: this.trace,
      properties: () => properties,
      stores: new StoresChecker(),
      onDown: (server, why) => this.#onServerDown(server, why),
      onBug: this.onBug,
    });
    this.operations = new Operations(() => clock.nowMs());
    this.channels = this.#newChannels();
    this.owners = new OneOwnerChecker({
      nowMs: () => clock.nowMs(),
      service: (process, admitted) => this.#serviceView(process, admitted),
    });
    this.store = new FencedStore({
      clock,
      prng: Prng.fromSeed(seed * 13 + 4),
      quality: { ...shape.channels, syncMsMax: 5 },
      onAccepted: ({ keyspace, span, epoch }) => {
        this.owners.onAccepted(sampleKey(keyspace, span.startKey).name, epoch);
      },
    });
    const nodeIds = Array.from({ length: shape.nodes }, (_, at) => `n${at + 1}`);
    this.nodes = nodeIds.map((nodeId) => newNode(nodeId));
    this.#actors = {
      clock,
      channels: this.channels,
      endpoints: this.servers.all.map(({ address }) => address),
      trace: this.trace,
      operations: this.operations,
      oracle: this.shardOracle,
      seed,
      onBug: this.onBug,
    };
    const { samples } = this;
    this.operator = new Operator(this.#actors, { name: "operator", samples, nodeIds });
    this.importer = new Importer(this.#actors, { name: "importer", samples, nodeIds });
    this.readers = ["reader1", "reader2"].map((name) => {
      return new Reader(this.#actors, { name, samples });
    });
    this.watchers = watchScopes(nodeIds).map((scope, at) => {
      return new Watcher(this.#actors, { name: `watcher${at}`, scope, isSlow: at === 1 });
    });
  }

  /** Leases alone must exclude, and log time keep its pace. */
  get ownersAreBound(): boolean {
    return this.#options.shape.ownersAreBound;
  }

  /** Clients that can be made to stand still. */
  get clients(): readonly Party[] {
    return [this.operator, this.importer, ...this.readers, ...this.watchers];
  }

  /**
   * Time goes on, one event after the other, and everything is checked after each, until enough has
   * happened or endMs is reached. Answers whether it was enough.
   */
  async runUntil(endMs: number, isEnough: () => boolean = () => false): Promise<boolean> {
    return await this.clock.runUntil(endMs, () => {
      this.#lookAtOwners();
      if (this.#bug !== undefined) throw this.#bug.error;
      return isEnough();
    });
  }

  /**
   * The next process of a storage node. While an earlier one has the data directory it is another
   * directory's, a copy, and can state no proof of the earlier one's end.
   */
  startOwner(node: OwnerNode): OwnerProcess {
    const isAlone = !this.#hasOriginal(node.nodeId);
    if (isAlone && this.prng.chance(REBOOT_CHANCE)) node.boots++;
    return this.#addOwner(node, isAlone, undefined);
  }

  /**
   * A picture of its machine, taken when it had just registered, is started elsewhere: from now on
   * two processes are one incarnation.
   */
  copyOwner(owner: OwnerProcess): void {
    const original = owner.original ?? owner;
    const node = this.nodes.find(({ nodeId }) => nodeId === owner.nodeId);
    if (node === undefined || original.registered === undefined) return;
    this.hasCopies = true;
    this.trace.count("ownerCopies");
    this.#addOwner(node, false, original);
  }

  /** Whether another process is this incarnation, too. */
  isCopied(owner: OwnerProcess): boolean {
    return owner.isCopy || this.processes.some(({ original }) => original === owner);
  }

  /** Whether no other process of its node runs, copies on other machines aside. */
  isLast(owner: OwnerProcess): boolean {
    return !this.#hasOriginal(owner.nodeId, owner);
  }

  /** A copy has a data directory of its own. */
  #hasOriginal(nodeId: string, except?: OwnerProcess): boolean {
    return this.processes.some((one) => one.nodeId === nodeId && !one.isCopy && one !== except);
  }

  #addOwner(node: OwnerNode, hasLock: boolean, copyOf: OwnerProcess | undefined): OwnerProcess {
    const { shape, onSeatEvent } = this.#options;
    const owner = new OwnerProcess(this.#actors, {
      node,
      hasLock,
      copyOf,
      store: this.store,
      rate: this.isHealed && !shape.ownersAreBound ? 1 : this.prng.pick(shape.rates),
      startMs: this.prng.nextInteger(0, 1_000_000),
      epochWriteMs: this.prng.nextInteger(1, shape.epochWriteMsMax),
      drainMs: shape.drainMs,
      onRan: (process) => this.#ran.add(process),
      onEvent: onSeatEvent,
      onStillHeld: (process, { name, epoch, admittedAtMs }) => {
        this.#onStillHeld(process, name, epoch, admittedAtMs);
      },
    });
    this.processes.push(owner);
    return owner;
  }

  endOwner(owner: OwnerProcess): void {
    owner.kill();
    this.processes = this.processes.filter((process) => process !== owner);
    if (this.ownersAreBound) this.owners.onRan(owner);
  }

  /** Keys that some guard admits now. */
  served(): ReadonlyMap<string, OwnerProcess> {
    const served = new Map<string, OwnerProcess>();
    for (const process of this.processes) {
      for (const { name } of process.admitted()) served.set(name, process);
    }
    return served;
  }

  /** The ready leader of the shard, if there is one. */
  shardLeader(): SimServer | undefined {
    return this.servers.running.find(({ process }) => {
      return process?.core?.groups.shards.get(SHARD)?.access.replica.core.isLeaderReady === true;
    });
  }

  /** What only the end of a run can tell: histories, and the states of all replicas. */
  checkEnd(): void {
    this.operations.judge(this.shardOracle);
    const expected = this.shardOracle.machine.digest();
    for (const { id, process } of this.servers.running) {
      const replica = process?.core?.groups.shards.get(SHARD)?.access.replica;
      if (replica === undefined || replica.appliedIndex !== this.shardOracle.index) continue;
      must(replica.machine.digest() === expected, 11, `server ${id} has another state in the end`);
    }
  }

  isAlive({ nodeId, incarnation }: Owner): boolean {
    // Nobody can tell a dead process from a copy that has not been heard of.
    if (this.hasCopies && !this.ownersAreBound) return false;
    return this.processes.some(
      ({ seat }) => seat?.nodeId === nodeId && seat.incarnation === incarnation,
    );
  }

  /** Whether the newest state has its session open: it may believe so for longer. */
  hasOpenSession({ seat }: OwnerProcess): boolean {
    const { state } = this.shardOracle.shard;
    if (seat === undefined) return false;
    const session = state.sessions.get(seat.nodeId);
    return session?.incarnation === seat.incarnation && !isClosed(state, seat);
  }

  serves({ nodeId, incarnation }: Owner, rangeId: string, epoch: Epoch): boolean {
    return this.processes.some((process) => {
      const { seat } = process;
      if (seat?.nodeId !== nodeId || seat.incarnation !== incarnation) return false;
      // What one of two processes gives up is the other's, too.
      if (this.isCopied(process)) return false;
      return process.admitted().some((one) => one.rangeId === rangeId && one.epoch === epoch);
    });
  }

  #lookAtOwners(): void {
    if (this.#ran.size === 0) return;
    for (const process of this.#ran) if (this.ownersAreBound) this.owners.onRan(process);
    this.#ran.clear();
  }

  #onStillHeld(process: OwnerProcess, name: string, epoch: Epoch, admittedAtMs: number): void {
    if (!this.ownersAreBound) return;
    this.owners.onRan(process);
    this.owners.onStillHeld(process, name, epoch, admittedAtMs);
  }

  #onServerDown(server: SimServer, why: "killed" | "fatalWrite"): void {
    this.channels.serverGone(server.address);
    this.#options.onServerDown(server, why);
  }

  #properties(): Properties {
    const { ownersAreBound } = this;
    const root = new Oracle({ machine: new RootMachine() });
    const diskOf = (group: GroupId) => (replica: number) =>
      this.servers.get(replica as ServerId).model.durable(group);
    const make = <Request, Answer, Event>(
      group: GroupId,
      oracle: Oracle<Request, Answer, Event>,
    ): GroupProperties<Request, Answer, Event> => {
      return new GroupProperties({
        history: new GroupHistory(group),
        oracle,
        voters: () => this.servers.voters,
        diskOf: diskOf(group),
        ownersAreBound,
      });
    };
    const properties = { root: make(ROOT_GROUP, root), shard: make(SHARD, this.shardOracle) };
    return properties as unknown as Properties;
  }

  #newChannels(): FaultyChannels {
    const { seed, shape } = this.#options;
    const reads = new ReadsChecker(this.shardOracle, this.trace.count.bind(this.trace));
    return new FaultyChannels({
      world: this.clock,
      prng: Prng.fromSeed(seed * 17 + 5),
      quality: shape.channels,
      serverAt: (address) => this.servers.at(address),
      onHarm: this.trace.count.bind(this.trace),
      onServe: (party, address, call) => {
        const judge = reads.onServe(call);
        return (answer) => {
          const said = answer.ok ? `ok at ${answer.value.header.revision}` : answer.error.reason;
          this.trace.say(`${party.name} ${call.method} at ${address}: ${said}`);
          judge(answer);
        };
      },
      onBug: this.onBug,
    });
  }

  /** As the newest state has it; undefined: nobody has applied that yet. */
  #serviceView(process: Guarding, { rangeId, epoch }: Admitted): ServiceView | undefined {
    const { seat } = process as OwnerProcess;
    const machine = this.shardOracle.shard;
    const slot = machine.state.rangesById.get(rangeId);
    const owner = slot?.record.owner;
    const isGranted =
      slot !== undefined &&
      seat !== undefined &&
      slot.record.epoch === epoch &&
      slot.record.acceptedEpoch === epoch &&
      owner?.nodeId === seat.nodeId &&
      owner.incarnation === seat.incarnation;
    if (!isGranted) return { isGranted, leaseMs: 0 };
    const leaseMs = deadlineMs(machine.state, slot) - this.#logTimeMs();
    return { isGranted, leaseMs };
  }

  /** What an entry would carry that is appended now; without a leader time stands still. */
  #logTimeMs(): number {
    let timeMs: number = this.shardOracle.shard.state.timeMs;
    let term = 0;
    for (const { process } of this.servers.running) {
      const core = process?.core?.groups.shards.get(SHARD)?.access.replica.core;
      if (core?.isLeaderReady !== true || core.term < term) continue;
      term = core.term;
      timeMs = Math.max(this.shardOracle.shard.state.timeMs, core.leaderTimeMs ?? 0);
    }
    return timeMs;
  }
}
