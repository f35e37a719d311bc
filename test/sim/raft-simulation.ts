/**
 * One seed's run: clients and faults on a simulated group for 30 virtual seconds; then the group
 * heals and progress is demanded: a leader that stays, a commit everywhere, reads answered.
 *
 * In half of the runs a minority never heals: it stays stopped, paused, deaf, mute, cut off, or
 * with a hung disk, and the others must get on all the same: faults that end hide livelocks.
 */

import { assert } from "../../src/base/assert.ts";
import type { ReplicaId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import type { Output } from "../../src/raft/output.ts";
import { quorumSize } from "../../src/raft/quorum.ts";
import { EventQueue } from "./raft-event-queue.ts";
import { drawFaultMix, type FaultKind, type FaultMix } from "./raft-faults.ts";
import { ELECTION_TICKS_MAX, RaftNetwork, type SimReplica } from "./raft-network.ts";
import type { RaftCoverage } from "./raft-trace.ts";

/** Virtual time of the faulty part. */
const FAULTY_MS = 30_000;
/** Election timeouts within which a healed group has a leader, commits, and answers reads. */
const PROGRESS_TIMEOUTS = 12;
/** And for each entry that some replica lacks then: a window of one small append is slow. */
const CATCH_UP_MS = 6;
/** Election timeouts for which it keeps that leader afterwards. */
const STABLE_TIMEOUTS = 5;

/** What a minority may be left with for good. */
const LASTING_FAULTS = [
  "stopped",
  "paused",
  "deaf",
  "mute",
  "cutOff",
  "oneLink",
  "hungDisk",
] as const;

type LastingFault = (typeof LASTING_FAULTS)[number];

export interface RaftRun {
  readonly traceHash: number;
  readonly events: number;
  readonly virtualMs: number;
  readonly committed: number;
  readonly coverage: RaftCoverage;
}

/** A run that broke an invariant or made no progress, with what is needed to repeat it. */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
}

/** Runs a seed. Throws {@link SimulationError} when something that must hold did not. */
export function runRaftSeed(seed: number): RaftRun {
  return new RaftSimulation(seed).run();
}

class RaftSimulation {
  readonly #seed: number;
  readonly #prng: Prng;
  readonly #mix: FaultMix;
  readonly #queue = new EventQueue();
  readonly #network: RaftNetwork;
  #isHealed = false;
  #nextProposalId = 1;
  #nextReadId = 1;
  /** Once healed: what was proposed since; where some of it was delivered; where reads were. */
  readonly #wanted = new Map<string, ReplicaId>();
  readonly #deliveredAt = new Set<ReplicaId>();
  /** The leader that took one of them delivered it, and so could answer its client. */
  #isAnswered = false;
  readonly #readAt = new Set<ReplicaId>();
  /** Who never heals, and whether they are linked to one other each. */
  readonly #outsiders = new Set<SimReplica>();
  #isChain = false;
  #leftWith = "nothing";

  constructor(seed: number) {
    this.#seed = seed;
    this.#prng = Prng.fromSeed(seed);
    this.#mix = drawFaultMix(this.#prng);
    this.#network = new RaftNetwork(this.#prng, this.#mix, this.#queue, (replica, output) =>
      this.#onOutput(replica, output),
    );
  }

  run(): RaftRun {
    const { trace, checkers, coverage } = this.#network;
    try {
      for (const replica of this.#network.replicas) this.#network.start(replica);
      this.#scheduleProposals();
      this.#scheduleReads();
      this.#scheduleFault();
      this.#queue.runUntil(FAULTY_MS);
      this.#heal();
      this.#demandProgress();
    } catch (error) {
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw new SimulationError(
        `seed ${this.#seed} failed at ${this.#queue.nowMs.toFixed(2)} ms\n${what}\n` +
          `${trace.lastLines()}\n${JSON.stringify(this.#mix)}, left with ${this.#leftWith}\n` +
          `again: SIM_SEED=${this.#seed} npx vitest run -c test/vitest.config.ts raft-network`,
        { cause: error },
      );
    }
    return {
      traceHash: trace.hash,
      events: this.#queue.happened,
      virtualMs: this.#queue.nowMs,
      committed: checkers.committedCount,
      coverage,
    };
  }

  // ---- Clients

  #scheduleProposals(): void {
    this.#queue.after(this.#exponentialMs(this.#mix.proposeEveryMs), () => {
      const burst = this.#isHealed ? 1 : this.#prng.nextInteger(1, this.#mix.proposeBurst);
      const replica = this.#replicaToAsk();
      for (let i = 0; i < burst; i++) this.#propose(replica);
      this.#scheduleProposals();
    });
  }

  #propose(replica: SimReplica): void {
    const bytes = this.#prng.chance(0.02) ? 500 : this.#prng.nextInteger(0, 40);
    this.#network.give(replica, {
      kind: "propose",
      proposalId: this.#nextProposalId++,
      payload: new Uint8Array(bytes),
    });
  }

  #scheduleReads(): void {
    const meanMs = this.#isHealed ? this.#mix.tickMs : this.#mix.readEveryMs;
    this.#queue.after(this.#exponentialMs(meanMs), () => {
      const unread = this.#network.replicas.filter(({ id }) => !this.#readAt.has(id));
      const replica = this.#prng.chance(0.5) ? this.#replicaToAsk() : this.#anyReplica();
      if (this.#isHealed && unread.length > 0) this.#read(this.#prng.pick(unread));
      for (let i = this.#prng.nextInteger(1, 3); i > 0; i--) this.#read(replica);
      this.#scheduleReads();
    });
  }

  /** A stopped host hears no client; a paused one will find the read in its sockets. */
  #read(replica: SimReplica): void {
    if (replica.running === undefined || !this.#network.mayHear(replica)) return;
    const readId = this.#nextReadId++;
    this.#network.checkers.readStarted(readId);
    replica.openReads.add(readId);
    this.#network.give(replica, { kind: "readIndex", readId });
  }

  /** Mostly one that believes it leads. */
  #replicaToAsk(): SimReplica {
    const leaders = this.#network.replicas.filter(({ running }) => running?.core.role === "leader");
    if (leaders.length === 0 || (!this.#isHealed && this.#prng.chance(0.2))) {
      return this.#anyReplica();
    }
    return this.#prng.pick(leaders);
  }

  #anyReplica(): SimReplica {
    return this.#prng.pick(this.#network.replicas);
  }

  #onOutput(replica: SimReplica, output: Output): void {
    if (!this.#isHealed) return;
    for (const { index, term } of output.proposed) {
      this.#wanted.set(`${term}/${index}`, replica.id);
    }
    for (const { index, term } of output.committed) {
      const proposer = this.#wanted.get(`${term}/${index}`);
      if (proposer !== undefined) this.#deliveredAt.add(replica.id);
      if (proposer === replica.id) this.#isAnswered = true;
    }
    if (output.readsReady.length > 0) this.#readAt.add(replica.id);
  }

  // ---- Faults

  #scheduleFault(): void {
    this.#queue.after(this.#exponentialMs(this.#mix.faultEveryMs), () => {
      if (this.#isHealed) return;
      this.#inject(this.#prng.pick(this.#mix.faults));
      this.#scheduleFault();
    });
  }

  #inject(fault: FaultKind): void {
    const replica = this.#anyReplica();
    switch (fault) {
      case "crash":
        this.#crash(replica);
        return;
      case "powerCut":
        for (const each of this.#network.replicas) if (this.#prng.chance(0.7)) this.#crash(each);
        return;
      case "cutOneWay":
        this.#cut([[replica.id, this.#anyReplica().id]]);
        return;
      case "isolate":
        this.#cut(this.#linksBetween((id) => id === replica.id));
        return;
      case "partition": {
        const side = new Set(this.#network.replicas.filter(() => this.#prng.chance(0.5)));
        this.#cut(this.#linksBetween((id) => [...side].some((each) => each.id === id)));
        return;
      }
      case "pause":
        this.#pause(replica);
        return;
      case "clockJump":
        this.#jumpClock(replica);
        return;
      case "slowDisk":
        replica.diskMs = this.#prng.pick([0, 20, 300, 900]);
        return;
      case "hungDisk":
        this.#hangDisk(replica);
        return;
      case "oldMessages":
        for (let i = 0; i < 5; i++) this.#network.repeatOldMessage();
        return;
      case "transfer":
        this.#network.give(replica, {
          kind: "transfer",
          target: this.#prng.chance(0.5) ? undefined : this.#anyReplica().id,
        });
        return;
      case "unreachable":
        this.#network.give(this.#anyReplica(), { kind: "peerUnreachable", peer: replica.id });
        return;
    }
  }

  #crash(replica: SimReplica): void {
    if (replica.running === undefined) return;
    this.#network.crash(replica);
    const { incarnation } = replica;
    this.#noticeBreak(replica.id);
    this.#queue.after(this.#durationMs(), () => {
      if (!this.#isHealed && replica.incarnation === incarnation) this.#network.start(replica);
    });
  }

  #cut(links: readonly (readonly [ReplicaId, ReplicaId])[]): void {
    const names = links.map(([from, to]) => `${from}>${to}`);
    for (const name of names) this.#network.cuts.add(name);
    if (this.#mix.noticesBreaks) for (const [from, to] of links) this.#noticeCut(from, to);
    this.#queue.after(this.#durationMs(), () => {
      if (this.#isHealed) return;
      for (const name of names) this.#network.cuts.delete(name);
    });
  }

  #linksBetween(isInside: (id: ReplicaId) => boolean): [ReplicaId, ReplicaId][] {
    const links: [ReplicaId, ReplicaId][] = [];
    for (const from of this.#network.replicas) {
      for (const to of this.#network.replicas) {
        if (isInside(from.id) !== isInside(to.id)) links.push([from.id, to.id]);
      }
    }
    return links;
  }

  #pause(replica: SimReplica): void {
    if (replica.running === undefined || replica.isPaused) return;
    replica.isPaused = true;
    this.#network.coverage.pauses++;
    const { incarnation } = replica;
    this.#queue.after(this.#durationMs(), () => {
      if (!this.#isHealed && replica.incarnation === incarnation) this.#network.resume(replica);
    });
  }

  #jumpClock(replica: SimReplica): void {
    const jumpMs = this.#prng.pick([-60_000, -500, 30, 500, 60_000]);
    replica.clockOffsetMs += jumpMs;
    this.#network.coverage.clockJumps++;
    if (jumpMs > 0) this.#network.checkers.clockJumped();
  }

  #hangDisk(replica: SimReplica): void {
    if (replica.isDiskHung) return;
    replica.isDiskHung = true;
    this.#queue.after(this.#durationMs() * 2, () => {
      if (this.#isHealed) return;
      replica.isDiskHung = false;
      this.#network.wakeDisk(replica);
    });
  }

  #noticeBreak(peer: ReplicaId): void {
    if (!this.#mix.noticesBreaks) return;
    for (const replica of this.#network.replicas) {
      this.#queue.after(this.#prng.nextFraction() * 5, () => {
        this.#network.give(replica, { kind: "peerUnreachable", peer });
      });
    }
  }

  #noticeCut(from: ReplicaId, to: ReplicaId): void {
    for (const replica of this.#network.replicas) {
      if (replica.id !== from && replica.id !== to) continue;
      const peer = replica.id === from ? to : from;
      this.#queue.after(this.#prng.nextFraction() * 5, () => {
        this.#network.give(replica, { kind: "peerUnreachable", peer });
      });
    }
  }

  #durationMs(): number {
    return this.#prng.pick([20, 200, 1_000, 3_000]) * (0.5 + this.#prng.nextFraction());
  }

  #exponentialMs(meanMs: number): number {
    return -meanMs * Math.log(1 - this.#prng.nextFraction());
  }

  // ---- The end

  #heal(): void {
    const network = this.#network;
    this.#isHealed = true;
    network.isCalm = true;
    network.cuts.clear();
    for (const replica of network.replicas) {
      replica.diskMs = 2;
      replica.isDiskHung = false;
      if (replica.running === undefined) network.start(replica);
      else network.resume(replica);
      network.wakeDisk(replica);
    }
    if (this.#prng.chance(0.5)) this.#leaveOutsiders();
  }

  #leaveOutsiders(): void {
    const { replicas } = this.#network;
    const fault = this.#prng.pick(LASTING_FAULTS);
    const most = Math.floor((replicas.length - 1) / 2);
    // Faults of the leader are the hard ones.
    if (this.#prng.chance(0.5)) this.#outsiders.add(this.#replicaToAsk());
    const count = this.#prng.nextInteger(1, most);
    while (this.#outsiders.size < count) this.#outsiders.add(this.#anyReplica());
    for (const outsider of this.#outsiders) this.#afflict(outsider, fault);
    this.#isChain = fault === "oneLink";
    this.#leftWith = `${fault}: ${[...this.#outsiders].map(({ id }) => id).join(", ")}`;
  }

  #afflict(outsider: SimReplica, fault: LastingFault): void {
    const { replicas, cuts } = this.#network;
    const inside = replicas.filter((each) => !this.#outsiders.has(each));
    const kept = fault === "oneLink" ? this.#prng.pick(inside) : undefined;
    for (const other of replicas) {
      if (other === outsider || other === kept) continue;
      const hears = fault !== "deaf" && fault !== "cutOff" && fault !== "oneLink";
      const speaks = fault !== "mute" && fault !== "cutOff" && fault !== "oneLink";
      if (!hears) cuts.add(`${other.id}>${outsider.id}`);
      if (!speaks) cuts.add(`${outsider.id}>${other.id}`);
    }
    if (fault === "stopped") this.#network.crash(outsider);
    if (fault === "paused") outsider.isPaused = true;
    if (fault === "hungDisk") outsider.isDiskHung = true;
  }

  /** With partial links the leader may be out of reach of some: then a quorum is what counts. */
  #hasProgressed(done: ReadonlySet<ReplicaId>): boolean {
    const { replicas } = this.#network;
    if (this.#isChain) return done.size >= quorumSize(replicas.length);
    return replicas.every((each) => this.#outsiders.has(each) || done.has(each.id));
  }

  #demandProgress(): void {
    const timeoutMs = ELECTION_TICKS_MAX * this.#mix.tickMs;
    const { replicas, coverage, checkers } = this.#network;
    const indexes = replicas.map(({ running }) => running?.core.lastIndex ?? 0);
    const committed = replicas.map(({ running }) => running?.core.commitIndex ?? 0);
    const catchUpMs = CATCH_UP_MS * (Math.max(...indexes) - Math.min(...committed));
    const patienceMs = PROGRESS_TIMEOUTS * timeoutMs + catchUpMs;
    const endMs = this.#queue.nowMs + patienceMs;
    this.#queue.runUntil(
      endMs,
      () =>
        this.#isAnswered &&
        this.#hasProgressed(this.#deliveredAt) &&
        this.#hasProgressed(this.#readAt),
    );
    assert(this.#isAnswered, "a client of a healed group has its answer");
    assert(this.#hasProgressed(this.#deliveredAt), "a healed group commits everywhere");
    assert(this.#hasProgressed(this.#readAt), "a healed group answers reads everywhere");
    // An outsider that led with a hung disk has resigned by then.
    if (this.#outsiders.size > 0) this.#queue.runUntil(endMs);
    const { elections } = coverage;
    this.#queue.runUntil(this.#queue.nowMs + STABLE_TIMEOUTS * timeoutMs);
    assert(coverage.elections === elections, "a healed group keeps its leader");
    if (this.#outsiders.size > 0) return;
    const open = checkers.openReads.filter((readId) => readId < this.#nextReadId - 20);
    assert(open.length === 0, `every read is answered or refused, not ${open.join(", ")}`);
  }
}
