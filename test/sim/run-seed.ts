/**
 * One seed's run of the whole: servers, clients, storage nodes and a fenced store under faults for
 * 30 virtual seconds, checked after every event. Then faults end, and progress is demanded: every
 * range is served by one guard, successors get their ranges, leaders stay, nobody loses anything.
 */

import type { SeatEvent } from "../../src/fence/seat-events.ts";
import { Prng } from "../../src/base/prng.ts";
import type { OwnerProcess } from "./actors/owner.ts";
import type { Coverage } from "./coverage.ts";
import { Faults } from "./faults.ts";
import { heal, type Healed } from "./healing.ts";
import { must } from "./must.ts";
import type { SimServer } from "./sim-server.ts";
import { drawShape, type Mode, type Shape } from "./shape.ts";
import { SHARD } from "./virtual-cluster.ts";
import { World } from "./world.ts";

const FAULTY_MS = 14_000;
const SETUP_MS = 10_000;
/**
 * From healing to everything served: an earlier incarnation's session and a silent watch each
 * last 10 s, side by side; then an election, a grant, an Accept and a renewal.
 */
const SERVED_WITHIN_MS = 14_000;
/** A copied process serves to its deadlines, stops, and its next one waits for its session. */
const COPIES_RUN_OUT_MS = 20_000;
/** An election or two, in ticks. */
const ELECTION_TICKS = 60;
/** Beyond a lease or a drain: the word to the owner, then a grant, an Accept and a renewal. */
const HAND_OVER_SLACK_MS = 1_500;
const STEADY_MS = 4_000;
const CONVERGED_WITHIN_MS = 3_000;
/** What a seed must at least be to count. */
export const EVENTS_MIN = 3_000;
export const VIRTUAL_MS_MIN = 30_000;

export interface SeedRun {
  readonly seed: number;
  readonly mode: Mode;
  readonly traceHash: string;
  readonly events: number;
  readonly virtualMs: number;
  /** From healing until every range was served. */
  readonly servedAfterMs: number;
  readonly coverage: Coverage;
}

/** A run that broke a promise; the message has what is needed to understand it. */
export class SeedFailure extends Error {
  override readonly name = "SeedFailure";
  readonly seed: number;
  /** In one line. */
  readonly what: string;

  constructor(seed: number, what: string, message: string, cause: unknown) {
    super(message, { cause });
    this.seed = seed;
    this.what = what;
  }
}

export interface SeedOptions {
  /** Drawn by the seed if left out. */
  readonly mode?: Mode | undefined;
  readonly print?: ((line: string) => void) | undefined;
}

export async function runSeed(seed: number, options: SeedOptions = {}): Promise<SeedRun> {
  return await new SeedSimulation(seed, options).run();
}

class SeedSimulation {
  readonly #seed: number;
  readonly #shape: Shape;
  readonly #world: World;
  readonly #faults: Faults;
  /** The last registration of each node. */
  readonly #latest = new Map<string, number>();
  /** The keyspaces are there. */
  #isSetUp = false;
  #isSteady = false;
  /** What was applied somewhere when faults ended, and the servers that work from then on. */
  #healedAtRevision = 0;
  #healed: Healed = { working: [], isChain: false };
  /** Ranges that are to change hands: their lapses are no losses. */
  readonly #handedOver = new Set<string>();

  constructor(seed: number, { mode, print }: SeedOptions) {
    this.#seed = seed;
    this.#shape = drawShape(Prng.fromSeed(seed), mode);
    this.#world = new World({
      seed,
      shape: this.#shape,
      print,
      onServerDown: (server) => this.#faults.onServerDown(server),
      onSeatEvent: (owner, event) => this.#onSeatEvent(owner, event),
    });
    this.#faults = new Faults(this.#world, this.#shape);
  }

  async run(): Promise<SeedRun> {
    const { clock, trace } = this.#world;
    let servedAfterMs = 0;
    // A promise that nobody waits for must not be lost.
    const { onBug } = this.#world;
    process.on("unhandledRejection", onBug);
    try {
      await this.#setUp();
      this.#startActors();
      await this.#world.runUntil(clock.nowMs() + FAULTY_MS);
      this.#heal();
      servedAfterMs = await this.#demandService();
      // What was recorded or withdrawn before shows for a lease at most.
      await this.#pass(this.#handOverMs());
      await this.#demandHandOver();
      await this.#demandConvergence();
      this.#world.checkEnd();
      must(clock.eventCount >= EVENTS_MIN, 0, `only ${clock.eventCount} events`);
    } catch (error) {
      throw this.#failure(error);
    } finally {
      process.off("unhandledRejection", onBug);
    }
    const { mode } = this.#shape;
    return {
      seed: this.#seed,
      mode,
      traceHash: trace.hash,
      events: clock.eventCount,
      virtualMs: clock.nowMs(),
      servedAfterMs,
      coverage: trace.coverage,
    };
  }

  async #setUp(): Promise<void> {
    const { clock, servers, operator, nodes, onBug } = this.#world;
    for (const server of servers.all) servers.start(server);
    operator.createKeyspaces(this.#shape.leaseDurationsMs).then(() => {
      this.#isSetUp = true;
    }, onBug);
    if (!this.#shape.startsInTrouble) {
      await this.#world.runUntil(clock.nowMs() + SETUP_MS, () => this.#isSetUp);
    }
    for (const node of nodes) this.#world.startOwner(node);
    this.#faults.start();
  }

  #startActors(): void {
    const { operator, importer, readers, watchers, clock, prng, onBug } = this.#world;
    const { operateEveryMs, readEveryMs, requestEveryMs } = this.#shape;
    operator.repeat(operateEveryMs, () =>
      this.#world.isHealed ? operator.grantAll() : operator.act(),
    );
    importer.repeat(4_000, () => (this.#world.isHealed ? Promise.resolve() : importer.act()));
    for (const reader of readers) reader.repeat(readEveryMs, () => reader.act());
    for (const watcher of watchers) watcher.start();
    const request = (): void => {
      const [durationMs = 0] = this.#shape.leaseDurationsMs;
      clock.after(requestEveryMs * (0.2 + 1.6 * prng.nextFraction()), () => {
        request();
        const { processes } = this.#world;
        if (processes.length === 0) return;
        try {
          prng.pick(processes).request(2 * durationMs);
        } catch (error) {
          onBug(error);
        }
      });
    };
    request();
  }

  async #pass(ms: number, isEnough?: () => boolean): Promise<boolean> {
    return await this.#world.runUntil(this.#world.clock.nowMs() + ms, isEnough);
  }

  #onSeatEvent(owner: OwnerProcess, event: SeatEvent): void {
    const { clock } = this.#world;
    if (event.kind === "registered") {
      const before = this.#latest.get(owner.nodeId) ?? 0;
      this.#latest.set(owner.nodeId, Math.max(before, event.incarnation));
      if (!owner.isCopy) this.#onRegistered(owner, event);
    }
    if (event.kind === "stopped" && event.reason !== undefined) {
      const isCopy = this.#world.hasCopies && event.reason === "SESSION_CLOSED";
      const isExpected = isCopy || event.reason === "STALE_INCARNATION";
      must(isExpected, 18, `${owner.name} stopped by ${event.reason}`);
      clock.after(0, () => this.#world.endOwner(owner));
      // A registration of an earlier process can be so late that it replaces a later one.
      if (this.#world.isLast(owner)) this.#faults.startOwner(owner.nodeId);
    }
    const isClosed = event.kind === "sessionClosed";
    must(!isClosed || this.#world.hasCopies, 18, `${owner.name} is taken for two processes`);
    if (!this.#isSteady) return;
    const isLoss =
      event.kind === "sessionOpened" ||
      ((event.kind === "expired" || event.kind === "ended") &&
        !this.#handedOver.has(event.rangeId));
    must(!isLoss, 27, `${owner.name} in a healthy cluster: ${event.kind}`);
  }

  #onRegistered(
    owner: OwnerProcess,
    { predecessor, proven }: Extract<SeatEvent, { readonly kind: "registered" }>,
  ): void {
    const { nodeId } = owner;
    const isAlive =
      predecessor !== undefined && this.#world.isAlive({ nodeId, incarnation: predecessor });
    must(!proven || !isAlive, 18, `${owner.name} has proven that a living process is dead`);
    this.#faults.onRegistered(owner);
  }

  /** Of a node's processes the directory takes the one that registered last, dead or alive. */
  #isLatest({ nodeId, seat }: OwnerProcess): boolean {
    return seat !== undefined && seat.incarnation === this.#latest.get(nodeId);
  }

  #heal(): void {
    const { shardOracle } = this.#world;
    this.#world.isHealed = true;
    for (const owner of this.#world.processes) owner.isRenewed = false;
    this.#healedAtRevision = shardOracle.revision;
    this.#healed = heal(this.#world, this.#faults, this.#shape, (owner) => this.#isLatest(owner));
  }

  /** Replicas that work hold what all hold, and watches have shown what was there to show. */
  async #demandConvergence(): Promise<void> {
    const { shardOracle, watchers } = this.#world;
    const target = shardOracle.index;
    const { working, isChain } = this.#healed;
    const behind = (): SimServer[] =>
      working.filter(({ process }) => {
        const replica = process?.core?.groups.shards.get(SHARD)?.access.replica;
        return replica === undefined || replica.appliedIndex < target;
      });
    const most = isChain ? working.length - 1 : 0;
    const hasConverged = await this.#pass(CONVERGED_WITHIN_MS, () => behind().length <= most);
    const lagging = behind().map(({ id }) => `server ${id}`);
    must(hasConverged, 25, `${lagging.join(", ")} can't catch up with ${target}`);
    for (const { name, isSlow, toldTo } of watchers) {
      const isTold = isSlow || toldTo >= this.#healedAtRevision;
      must(isTold, 24, `${name} has been shown ${toldTo}, not ${this.#healedAtRevision}`);
    }
  }

  async #demandService(): Promise<number> {
    const { clock } = this.#world;
    const startMs = clock.nowMs();
    const isServed = (): boolean =>
      this.#isSetUp &&
      this.#unserved().length === 0 &&
      this.#world.processes.every(
        (process) => process.hasSession && process.isRenewed && this.#world.hasOpenSession(process),
      );
    const copiesMs = this.#world.hasCopies ? COPIES_RUN_OUT_MS : 0;
    const limitMs = SERVED_WITHIN_MS + ELECTION_TICKS * this.#shape.tickMs + copiesMs;
    let nextMs: number = startMs;
    const served = await this.#pass(limitMs, () => {
      if (clock.nowMs() < nextMs) return false;
      nextMs = clock.nowMs() + 5;
      return isServed();
    });
    const idle = this.#world.processes.filter((process) => !process.hasSession);
    const lacks = [
      ...(this.#isSetUp ? [] : ["there are no keyspaces yet"]),
      ...this.#unserved().map((name) => `${name} is served by nobody`),
      ...idle.map(({ name }) => `${name} has no session`),
    ];
    must(served, 24, `all has healed, but ${lacks.slice(0, 5).join(", ")}`);
    return clock.nowMs() - startMs;
  }

  #unserved(): string[] {
    const served = this.#world.served();
    return this.#world.samples.all.flatMap(({ name }) => (served.has(name) ? [] : [name]));
  }

  /** Three ranges change hands while everything else stays where it is. */
  async #demandHandOver(): Promise<void> {
    const { clock, nodes, operator, prng } = this.#world;
    await this.#finish(operator.list());
    const moved: { readonly rangeId: string; readonly nodeId: string }[] = [];
    for (const range of operator.ranges) {
      if (range.successor !== undefined) this.#handedOver.add(range.descriptor.rangeId);
    }
    this.#isSteady = true;
    const steady = operator.ranges.filter((range) => range.successor === undefined);
    for (const [at, range] of steady.slice(0, 3).entries()) {
      const { owner, rangeId } = range.descriptor;
      const { nodeId } = prng.pick(nodes.filter((node) => node.nodeId !== owner?.nodeId));
      moved.push({ rangeId, nodeId });
      this.#handedOver.add(rangeId);
      await this.#finish(operator.grant(range, nodeId, at === 0 ? "handOver" : "wait"));
      if (at > 0) continue;
      const limitMs = this.#shape.drainMs + HAND_OVER_SLACK_MS;
      const isFast = await this.#pass(limitMs, () => this.#serves(rangeId, nodeId));
      must(isFast, 27, `${rangeId} is not handed over in ${limitMs} ms`);
    }
    const startMs = clock.nowMs();
    const waitMs = this.#handOverMs();
    const hasAll = (): boolean =>
      moved.every(({ rangeId, nodeId }) => this.#serves(rangeId, nodeId));
    const isHandedOver = await this.#pass(waitMs, hasAll);
    must(isHandedOver, 27, "a recorded successor did not get its range when the lease was over");
    const { elections } = this.#world.trace.coverage;
    await this.#pass(waitMs + STEADY_MS - (clock.nowMs() - startMs));
    const isStable = this.#world.trace.coverage.elections === elections;
    must(isStable, 23, "a leader changes in a healthy cluster");
    const lacks = this.#unserved();
    must(lacks.length === 0, 27, `${lacks.join(", ")} is served by nobody in a healthy cluster`);
  }

  async #finish(act: Promise<void>): Promise<void> {
    let isDone = false;
    act.then(() => {
      isDone = true;
    }, this.#world.onBug);
    const isFinished = await this.#pass(20_000, () => isDone);
    must(isFinished, 24, "a call in a healthy cluster is not answered");
  }

  #handOverMs(): number {
    return Math.max(...this.#shape.leaseDurationsMs, 3_000) * 1.01 + HAND_OVER_SLACK_MS;
  }

  #serves(rangeId: string, nodeId: string): boolean {
    return this.#world.processes.some(
      (process) =>
        process.nodeId === nodeId && process.admitted().some((one) => one.rangeId === rangeId),
    );
  }

  #failure(error: unknown): SeedFailure {
    const { clock, trace } = this.#world;
    const what = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const where = `seed ${this.#seed} failed at ${clock.nowMs().toFixed(2)} virtual ms`;
    const shape = JSON.stringify(this.#shape);
    const message = `${trace.lastLines()}\n${shape}\n${stack}\n${where}: ${what}`;
    return new SeedFailure(this.#seed, what.split("\n")[0] ?? what, message, error);
  }
}
