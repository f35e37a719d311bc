// One seed's run of owners: whole servers, real seats and clients under faults for 24 virtual
// seconds, judged every 3 ms. Then everything heals, and progress is demanded: every range is
// served by exactly one guard, a recorded successor gets its range, and nobody loses anything.
import type { ServerId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import { EpochMap } from "../../src/fence/epoch-map.ts";
import type { SeatEvent } from "../../src/fence/seat-events.ts";
import { must, OwnersCheckers } from "./owners-checkers.ts";
import { ProcessClock } from "./owners-clock.ts";
import { drawOwnersMix, type OwnerFault, type OwnersMix } from "./owners-faults.ts";
import { OwnersNetwork } from "./owners-network.ts";
import { Operator } from "./owners-operator.ts";
import { OwnerProcess } from "./owners-process.ts";
import { type OwnersCoverage, OwnersTrace } from "./owners-trace.ts";
import { ROOT, SHARD, VirtualCluster } from "./virtual-cluster.ts";

const FAULTY_MS = 24_000;
/** Longer than a session lasts without renewals. */
const LONG_FAULT_MS = 12_000;
const CHECK_EVERY_MS = 3;
/**
 * From healing to everything served: an earlier incarnation's session and a silent watch each
 * last 10 s, side by side; then an election, a grant, an Accept and a renewal.
 */
const SERVED_WITHIN_MS = 14_000;
/** A successor that was recorded waits for the lease, then as above. */
const HAND_OVER_SLACK_MS = 1_500;
const STEADY_MS = 4_000;

export interface OwnersRun {
  readonly traceHash: number;
  readonly events: number;
  readonly virtualMs: number;
  /** From healing until every range was served. */
  readonly servedAfterMs: number;
  readonly coverage: OwnersCoverage;
}

/** A run that broke a promise, with what is needed to repeat it. */
export class OwnersError extends Error {
  override readonly name = "OwnersError";
}

export async function runOwnersSeed(seed: number): Promise<OwnersRun> {
  const simulation = new OwnersSimulation(seed);
  return await simulation.run();
}

class OwnersSimulation {
  readonly #seed: number;
  readonly #prng: Prng;
  readonly #mix: OwnersMix;
  readonly #cluster: VirtualCluster;
  readonly #trace: OwnersTrace;
  readonly #checkers: OwnersCheckers;
  readonly #network: OwnersNetwork;
  readonly #operator: Operator;
  readonly #memories = new Map<string, EpochMap>();
  readonly #counts = new Map<string, number>();
  /** The last registration of each node. */
  readonly #latest = new Map<string, number>();
  #processes: OwnerProcess[] = [];
  #isHealed = false;
  /** Ranges that are to change hands: their lapses are no losses. */
  readonly #handedOver = new Set<string>();
  #isSteady = false;
  #bug: { readonly error: unknown } | undefined;
  readonly #onBug = (error: unknown): void => {
    this.#bug ??= { error };
  };

  constructor(seed: number) {
    this.#seed = seed;
    this.#prng = Prng.fromSeed(seed);
    this.#mix = drawOwnersMix(this.#prng);
    const { peerDelayMs, historyChangesMax, links, rates } = this.#mix;
    const rateOf = new Map<ServerId, number>();
    this.#cluster = new VirtualCluster({
      seed: seed * 1_009,
      peerDelayMs,
      history: { changesMax: historyChangesMax, revisionsMax: historyChangesMax },
      clockOf: (id, clock) => {
        const rate = rateOf.get(id) ?? this.#prng.pick(rates);
        rateOf.set(id, rate);
        return new ProcessClock(clock, rate);
      },
    });
    const { clock } = this.#cluster;
    this.#trace = new OwnersTrace(() => clock.nowMs());
    this.#checkers = new OwnersCheckers(this.#cluster, this.#trace);
    this.#network = new OwnersNetwork({
      cluster: this.#cluster,
      prng: this.#prng.clone(),
      trace: this.#trace,
      mix: links,
      onAnswer: (header) => this.#checkers.onAnswer(header),
      onBug: this.#onBug,
    });
    const nodeIds = Array.from({ length: this.#mix.nodes }, (_, at) => `n${at + 1}`);
    for (const nodeId of nodeIds) this.#memories.set(nodeId, new EpochMap());
    this.#operator = new Operator({
      clock,
      network: this.#network,
      prng: Prng.fromSeed(seed + 1_000_000),
      trace: this.#trace,
      checkers: this.#checkers,
      nodeIds,
    });
  }

  async run(): Promise<OwnersRun> {
    const { clock } = this.#cluster;
    let servedAfterMs = 0;
    try {
      await this.#cluster.leader(ROOT);
      const { leaseDurationsMs } = this.#mix;
      await this.#cluster.result(this.#operator.createKeyspaces(leaseDurationsMs));
      for (const nodeId of this.#memories.keys()) this.#startProcess(nodeId);
      this.#repeat(this.#mix.operateEveryMs, () =>
        this.#isHealed ? this.#operator.grantAll() : this.#operator.act(),
      );
      this.#repeat(60, () => this.#operator.lookup());
      this.#repeat(40, () => this.#request());
      this.#scheduleFault();
      await this.#pass(FAULTY_MS);
      this.#heal();
      servedAfterMs = await this.#demandService();
      // What was recorded or withdrawn before shows for a lease at most.
      await this.#pass(this.#handOverMs());
      await this.#demandHandOver();
    } catch (error) {
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw new OwnersError(
        `seed ${this.#seed} failed at ${clock.nowMs().toFixed(2)} ms\n` +
          `${this.#trace.lastLines()}\n${JSON.stringify(this.#mix)}\n${what}\n` +
          `again: SIM_SEED=${this.#seed} npx vitest run -c test/vitest.config.ts sim/owners`,
        { cause: error },
      );
    }
    const { hash: traceHash, events, coverage } = this.#trace;
    return { traceHash, events, virtualMs: clock.nowMs(), servedAfterMs, coverage };
  }

  /** Time goes on, and everything is judged again and again. */
  async #pass(ms: number, until: () => boolean = () => false): Promise<boolean> {
    const { clock } = this.#cluster;
    const endMs = clock.nowMs() + ms;
    while (clock.nowMs() < endMs) {
      await clock.advance(CHECK_EVERY_MS);
      this.#checkers.check(this.#processes);
      if (this.#bug !== undefined) throw this.#bug.error;
      if (until()) return true;
    }
    return false;
  }

  #repeat(everyMs: number, act: () => Promise<void>): void {
    const { clock } = this.#cluster;
    const next = (): void => {
      clock.after(everyMs * (0.2 + 1.6 * this.#prng.nextFraction()), () => {
        next();
        act().catch(this.#onBug);
      });
    };
    next();
  }

  // ---- Storage nodes

  #startProcess(nodeId: string): void {
    const { clock } = this.#cluster;
    const { rates, epochWriteMsMax } = this.#mix;
    const count = (this.#counts.get(nodeId) ?? 0) + 1;
    this.#counts.set(nodeId, count);
    const memory = this.#memories.get(nodeId);
    if (memory === undefined) throw new Error("each node has a memory");
    const time = {
      rate: this.#prng.pick(rates),
      offsetMs: this.#prng.nextInteger(0, 1_000_000),
      epochWriteMs: this.#prng.nextInteger(1, epochWriteMsMax),
    };
    const process = new OwnerProcess(
      {
        clock,
        network: this.#network,
        trace: this.#trace,
        seed: this.#seed,
        samples: this.#operator.samples,
        onEvent: (from, event) => this.#onEvent(from, event),
        onBug: this.#onBug,
      },
      { nodeId, count, memory },
      time,
    );
    this.#processes.push(process);
  }

  #end(process: OwnerProcess): void {
    process.kill();
    this.#processes = this.#processes.filter((one) => one !== process);
  }

  #onEvent(process: OwnerProcess, event: SeatEvent): void {
    if (event.kind === "registered") {
      const before = this.#latest.get(process.nodeId) ?? 0;
      this.#latest.set(process.nodeId, Math.max(before, event.incarnation));
    }
    if (event.kind === "stopped" && event.reason !== undefined) {
      must(event.reason === "STALE_INCARNATION", `${process.name} stopped by ${event.reason}`);
      this.#cluster.clock.after(0, () => this.#end(process));
      // A registration of an earlier process can be so late that it replaces a later one.
      const isLast = this.#processes.every((p) => p === process || p.nodeId !== process.nodeId);
      if (isLast) this.#startProcess(process.nodeId);
    }
    if (!this.#isSteady) return;
    const isLoss =
      event.kind === "sessionOpened" ||
      ((event.kind === "expired" || event.kind === "ended") &&
        !this.#handedOver.has(event.rangeId));
    must(!isLoss, `${process.name} in a healthy cluster: ${event.kind}`);
  }

  /** Of a node's processes the directory takes the one that registered last, dead or alive. */
  #isLatest({ nodeId, seat, isClosing }: OwnerProcess): boolean {
    return !isClosing && seat?.incarnation === this.#latest.get(nodeId);
  }

  /** A data request: admitted, worked on for a while, and asked about before its answer leaves. */
  async #request(): Promise<void> {
    const process = this.#someProcess();
    if (process?.seat === undefined || process.clock.isPaused) return;
    const { seat } = process;
    const sample = this.#prng.pick([...this.#operator.samples.values()]);
    const { keyspace, key, name } = sample;
    const held = process.admitted().find((one) => one.sample === sample);
    const epoch = held?.epoch ?? this.#checkers.acknowledged.get(name);
    if (epoch === undefined) return;
    const admission = seat.guard({ keyspace, key, epoch });
    if (!admission.ok) return;
    this.#trace.count("admissions");
    const admittedAtMs = this.#cluster.clock.nowMs();
    const [durationMs = 0] = this.#mix.leaseDurationsMs;
    process.clock.after(this.#prng.nextFraction() ** 2 * 2 * durationMs, () => {
      const isHeld = admission.value.assertStillHeld().ok;
      this.#trace.count(isHeld ? "stillHeld" : "uncertain");
      try {
        this.#checkers.check(this.#processes);
        if (isHeld) this.#checkers.checkStillHeld(process, name, epoch, admittedAtMs);
      } catch (error) {
        this.#onBug(error);
      }
    });
  }

  #someProcess(): OwnerProcess | undefined {
    return this.#processes.length === 0 ? undefined : this.#prng.pick(this.#processes);
  }

  // ---- Faults

  #scheduleFault(): void {
    const { clock } = this.#cluster;
    const { faultEveryMs, faults } = this.#mix;
    clock.after(faultEveryMs * (0.2 + 1.6 * this.#prng.nextFraction()), () => {
      if (this.#isHealed) return;
      this.#scheduleFault();
      const fault = this.#prng.pick(faults);
      this.#trace.say(`fault: ${fault}`);
      this.#inject(fault);
    });
  }

  #later(run: () => void): void {
    const usualMs = this.#mix.faultLastsMs * (0.2 + 1.6 * this.#prng.nextFraction());
    const lastsMs = this.#prng.chance(0.05) ? LONG_FAULT_MS : usualMs;
    this.#cluster.clock.after(lastsMs, () => {
      if (!this.#isHealed) run();
    });
  }

  #inject(fault: OwnerFault): void {
    switch (fault) {
      case "serverCrash":
      case "serverCut":
      case "serverStall":
      case "slowDisk":
        return this.#injectAtServer(fault, this.#prng.pick(this.#cluster.ids));
      case "linkRefused":
      case "linkSilent":
      case "allLinksSilent":
        return this.#injectAtLinks(fault);
      case "pause":
      case "processCrash":
      case "replace":
      case "close":
      case "release": {
        const process = this.#someProcess();
        if (process !== undefined) this.#injectAtProcess(fault, process);
      }
    }
  }

  #injectAtServer(
    fault: "serverCrash" | "serverCut" | "serverStall" | "slowDisk",
    id: ServerId,
  ): void {
    const cluster = this.#cluster;
    const { runningIds } = cluster;
    if (!runningIds.includes(id)) return;
    switch (fault) {
      case "serverCrash":
        if (runningIds.length < 3 && this.#prng.chance(0.7)) return;
        this.#trace.count("serverCrashes");
        cluster.crash(id);
        this.#network.serverGone(id);
        return this.#later(() => cluster.restart(id));
      case "serverCut":
        this.#trace.count("serverCuts");
        cluster.cutOff(id);
        return this.#later(() => cluster.rejoin(id));
      case "serverStall":
        this.#trace.count("serverStalls");
        cluster.stall(id, SHARD);
        return this.#later(() => cluster.unstall(id, SHARD));
      case "slowDisk":
        this.#trace.count("slowDisks");
        cluster.setSyncMs(id, this.#prng.nextInteger(5, 200));
        return this.#later(() => cluster.setSyncMs(id, 1));
    }
  }

  #injectAtLinks(fault: "linkRefused" | "linkSilent" | "allLinksSilent"): void {
    const process = this.#someProcess();
    if (process === undefined) return;
    const how = fault === "linkRefused" ? "refused" : "silent";
    this.#trace.count(how === "refused" ? "linksCut" : "linksSilenced");
    const { ids } = this.#cluster;
    const servers = fault === "allLinksSilent" ? ids : [this.#prng.pick(ids)];
    for (const id of servers) this.#network.cut(process, id, how);
    this.#later(() => {
      for (const id of servers) this.#network.heal(process, id);
    });
  }

  #injectAtProcess(
    fault: "pause" | "processCrash" | "replace" | "close" | "release",
    process: OwnerProcess,
  ): void {
    const { nodeId } = process;
    const restart = (): void => this.#later(() => this.#startProcess(nodeId));
    const isLast = this.#processes.every((one) => one === process || one.nodeId !== nodeId);
    switch (fault) {
      case "pause":
        if (process.clock.isPaused) return;
        this.#trace.count("pauses");
        process.clock.pause();
        return this.#later(() => process.clock.resume());
      case "processCrash":
        this.#trace.count("processCrashes");
        this.#end(process);
        return isLast ? restart() : undefined;
      case "replace":
        // Nobody knows that the older one still runs.
        if (!isLast) return;
        this.#trace.count("replacements");
        return this.#startProcess(nodeId);
      case "close": {
        const { seat } = process;
        if (seat === undefined) return;
        this.#trace.count("closes");
        process.isClosing = true;
        seat.close({ release: true }).then(() => {
          if (process.isDead) return;
          this.#end(process);
          if (isLast) restart();
        }, this.#onBug);
        return;
      }
      case "release":
        this.#trace.count("releases");
        process.release(this.#prng.nextInteger(0, 500), 0.5).catch(this.#onBug);
    }
  }

  // ---- Healing

  #heal(): void {
    const cluster = this.#cluster;
    this.#isHealed = true;
    this.#trace.say("healed");
    this.#network.healAll();
    for (const id of cluster.ids) {
      cluster.rejoin(id);
      cluster.unstall(id, SHARD);
      cluster.setSyncMs(id, 1);
      if (!cluster.runningIds.includes(id)) cluster.restart(id);
    }
    for (const process of this.#processes) {
      process.clock.resume();
      if (!this.#isLatest(process)) this.#end(process);
    }
    for (const nodeId of this.#memories.keys()) {
      const runs = this.#processes.some((process) => process.nodeId === nodeId);
      if (!runs) this.#startProcess(nodeId);
    }
  }

  async #demandService(): Promise<number> {
    const { clock } = this.#cluster;
    const startMs = clock.nowMs();
    const wanted = this.#operator.samples.size;
    const isServed = (): boolean =>
      this.#checkers.check(this.#processes).size === wanted &&
      this.#processes.every((process) => process.hasSession);
    const served = await this.#pass(SERVED_WITHIN_MS, isServed);
    must(served, `all has healed, but ${this.#unserved().join(", ")}`);
    return clock.nowMs() - startMs;
  }

  #unserved(): string[] {
    const served = this.#checkers.check(this.#processes);
    const names = [...this.#operator.samples.values()].map(({ name }) => name);
    const idle = this.#processes.filter((process) => !process.hasSession);
    return [
      ...names.filter((name) => !served.has(name)).map((name) => `${name} is served by nobody`),
      ...idle.map(({ name }) => `${name} has no session`),
    ];
  }

  /** Two ranges change hands while everything else stays where it is. */
  async #demandHandOver(): Promise<void> {
    const { clock } = this.#cluster;
    await this.#cluster.result(this.#operator.list());
    const next = new Map<string, string>();
    for (const range of this.#operator.ranges) {
      if (range.successor !== undefined) this.#handedOver.add(range.descriptor.rangeId);
    }
    this.#isSteady = true;
    const steady = this.#operator.ranges.filter((range) => range.successor === undefined);
    for (const range of steady.slice(0, 2)) {
      const { descriptor } = range;
      const others = [...this.#memories.keys()].filter((id) => id !== descriptor.owner?.nodeId);
      const nodeId = this.#prng.pick(others);
      next.set(descriptor.rangeId, nodeId);
      this.#handedOver.add(descriptor.rangeId);
      await this.#cluster.result(this.#operator.grant(range, nodeId, false));
    }
    const waitMs = this.#handOverMs();
    const startMs = clock.nowMs();
    const hasAll = (): boolean => [...next].every(([id, nodeId]) => this.#serves(id, nodeId));
    const handedOver = await this.#pass(waitMs, hasAll);
    must(handedOver, "a recorded successor did not get its range when the lease was over");
    await this.#pass(waitMs + STEADY_MS - (clock.nowMs() - startMs));
    const { size } = this.#checkers.check(this.#processes);
    must(size === this.#operator.samples.size, "a range is served by nobody in a healthy cluster");
  }

  #handOverMs(): number {
    return Math.max(...this.#mix.leaseDurationsMs) * 1.01 + HAND_OVER_SLACK_MS;
  }

  #serves(rangeId: string, nodeId: string): boolean {
    return this.#processes.some(
      (process) =>
        process.nodeId === nodeId && process.admitted().some((one) => one.rangeId === rangeId),
    );
  }
}
