/**
 * A group of cores on a simulated network, with simulated disks and clocks.
 *
 * The mechanics alone: what is run when, and what is done to it, is decided in raft-simulation.ts.
 * All invariants are checked after every step, of the replica and of the whole group.
 */

import type { GroupId, MonotonicMs, ReplicaId } from "../../src/base/brands.ts";
import type { Prng } from "../../src/base/prng.ts";
import { RaftCore } from "../../src/raft/core.ts";
import type { Input } from "../../src/raft/input.ts";
import { checkStep } from "../../src/raft/invariants.ts";
import type { Fetch, Outbound, Output } from "../../src/raft/output.ts";
import { LOG_START, type LogPosition, type RaftConfig } from "../../src/raft/types.ts";
import type { Given } from "../raft/checked-core.ts";
import { RaftCheckers } from "./raft-checkers.ts";
import { SimDisk } from "./raft-disk.ts";
import type { EventQueue } from "./raft-event-queue.ts";
import type { FaultMix } from "./raft-faults.ts";
import { countStep, newCoverage, type RaftCoverage, TraceLog } from "./raft-trace.ts";

export const ELECTION_TICKS_MIN = 10;
export const ELECTION_TICKS_MAX = 20;
/** Old messages that are kept to be delivered once more, much later. */
const OLD_MESSAGES_MAX = 300;
/** Inputs that a paused replica's host keeps; what comes beyond is lost. */
const INBOX_MAX = 200;

export interface SimReplica {
  readonly id: ReplicaId;
  readonly disk: SimDisk;
  running: { readonly core: RaftCore; readonly config: RaftConfig } | undefined;
  /** Counts starts and stops: what was meant for an earlier one is lost. */
  incarnation: number;
  isPaused: boolean;
  /** A tick came due while paused: however many, it counts once. */
  missedTick: boolean;
  inbox: Given[];
  clockOffsetMs: number;
  diskMs: number;
  isDiskHung: boolean;
  readonly openReads: Set<number>;
  /** What the machine will have applied when it next reports. */
  applying: LogPosition;
  /** The snapshot that is being fetched. */
  fetching: LogPosition | undefined;
  isCheckpointing: boolean;
}

export class RaftNetwork {
  readonly replicas: readonly SimReplica[];
  readonly checkers: RaftCheckers;
  readonly trace: TraceLog = new TraceLog();
  readonly coverage: RaftCoverage = newCoverage();
  /** Directed links that are down, as "from>to". */
  readonly cuts: Set<string> = new Set();
  /** Ends loss, duplication, long delays and repeats. */
  isCalm = false;
  readonly #prng: Prng;
  readonly #mix: FaultMix;
  readonly #queue: EventQueue;
  readonly #onOutput: (replica: SimReplica, output: Output) => void;
  readonly #oldMessages: { readonly from: ReplicaId; readonly outbound: Outbound }[] = [];

  constructor(
    prng: Prng,
    mix: FaultMix,
    queue: EventQueue,
    onOutput: (replica: SimReplica, output: Output) => void,
  ) {
    this.#prng = prng;
    this.#mix = mix;
    this.#queue = queue;
    this.#onOutput = onOutput;
    const disks = new Map<ReplicaId, SimDisk>();
    this.replicas = Array.from({ length: mix.voters }, (_, at) => {
      const id = (at + 1) as ReplicaId;
      const disk = new SimDisk((entry, term) => this.checkers.truncated(entry, term));
      disks.set(id, disk);
      return newReplica(id, disk, mix.diskMsMax);
    });
    this.checkers = new RaftCheckers(disks, mix.tickMs);
  }

  /** Starts a replica from its disk. */
  start(replica: SimReplica): void {
    const config = this.#configOf(replica.id);
    const restored = replica.disk.restore();
    const core = new RaftCore(config, restored);
    if (restored.snapshot.index > 0) this.coverage.startsFromSnapshot++;
    replica.applying = restored.snapshot;
    replica.fetching = undefined;
    replica.isCheckpointing = false;
    this.checkers.restarted(replica.id, core);
    replica.incarnation++;
    replica.running = { core, config };
    const { incarnation } = replica;
    const tick = (): void => {
      if (replica.incarnation !== incarnation) return;
      if (replica.isPaused) replica.missedTick = true;
      else this.give(replica, { kind: "tick" });
      this.#queue.after(this.#mix.tickMs, tick);
    };
    this.#queue.after(this.#prng.nextFraction() * this.#mix.tickMs, tick);
  }

  /** Power is lost: of what was being written, a random prefix is on disk. */
  crash(replica: SimReplica): void {
    if (replica.running === undefined) return;
    const { pendingSteps } = replica.disk;
    const kept = this.#prng.nextInteger(0, pendingSteps);
    if (kept < pendingSteps) this.coverage.crashesWithLoss++;
    if (kept > 0) this.coverage.crashesWithTornWrite++;
    replica.disk.crash(kept);
    replica.running = undefined;
    replica.incarnation++;
    replica.isPaused = false;
    replica.missedTick = false;
    replica.inbox = [];
    for (const readId of replica.openReads) this.checkers.readLost(readId);
    replica.openReads.clear();
  }

  /**
   * The process goes on: first what lay in its sockets, then the tick that is late. Which socket
   * comes first, its clients' or its peers', is open.
   */
  resume(replica: SimReplica): void {
    if (!replica.isPaused) return;
    replica.isPaused = false;
    const waiting = replica.inbox;
    replica.inbox = [];
    const clients = waiting.filter(({ kind }) => kind === "readIndex" || kind === "propose");
    const peers = waiting.filter((given) => !clients.includes(given));
    const order = this.#prng.chance(0.5) ? [...clients, ...peers] : [...peers, ...clients];
    for (const given of order) this.give(replica, given);
    if (replica.missedTick) this.give(replica, { kind: "tick" });
    replica.missedTick = false;
  }

  /** Whether a client's request is heard: at once, or when the replica wakes. */
  mayHear(replica: SimReplica): boolean {
    return !replica.isPaused || replica.inbox.length < INBOX_MAX;
  }

  /** Hands an input to a replica, or keeps it for when the replica wakes. */
  give(replica: SimReplica, given: Given): void {
    if (replica.running === undefined) return;
    if (!replica.isPaused) this.#step(replica, given);
    else if (replica.inbox.length < INBOX_MAX || given.kind === "persisted") {
      replica.inbox.push(given);
    }
  }

  /** A message of long ago arrives once more. */
  repeatOldMessage(): void {
    if (this.#oldMessages.length === 0) return;
    const { from, outbound } = this.#prng.pick(this.#oldMessages);
    this.coverage.oldMessages++;
    this.#deliver(from, outbound);
  }

  #step(replica: SimReplica, given: Given): void {
    const { running } = replica;
    if (running === undefined) return;
    const nowMs = (this.#queue.nowMs + replica.clockOffsetMs) as MonotonicMs;
    const input: Input = { ...given, nowMs };
    const { core, config } = running;
    const before = core.status();
    const output = core.step(input);
    const { nowMs: trueMs } = this.#queue;
    this.trace.record({ atMs: trueMs, replica: replica.id, input, output }, core.status());
    const after = checkStep({ config, core, before, input, output });
    this.checkers.observe({ core, before, after, output, trueMs });
    countStep(this.coverage, output, after.role === "leader");
    if (output.persist?.snapshot === undefined) {
      if (input.kind === "snapshotTaken") this.coverage.checkpointsTooLate++;
      if (input.kind === "snapshotReceived") this.coverage.snapshotsUseless++;
    }
    this.#carryOut(replica, output);
  }

  /** What a host does with an output, in the order that output.ts prescribes. */
  #carryOut(replica: SimReplica, output: Output): void {
    if (output.persist !== undefined) replica.disk.submit(output.persist);
    for (const outbound of output.sendNow) this.#send(replica.id, outbound);
    for (const outbound of output.sendAfterPersist) {
      if (!replica.disk.hold(outbound)) this.#send(replica.id, outbound);
    }
    this.#startWrite(replica);
    for (const { readId } of output.readsReady) replica.openReads.delete(readId);
    for (const { kind, id } of output.refused) if (kind === "read") replica.openReads.delete(id);
    const applied = output.committed.at(-1) ?? output.install;
    if (applied !== undefined) this.#apply(replica, applied);
    for (const fetch of output.fetches) this.#fetch(replica, fetch);
    this.#onOutput(replica, output);
  }

  #apply(replica: SimReplica, { index, term, timeMs }: LogPosition): void {
    replica.applying = { index, term, timeMs };
    this.#later(replica, 2, () => {
      this.give(replica, { kind: "applied", index: replica.applying.index });
      this.#considerCheckpoint(replica);
    });
  }

  /** The state as it is now becomes a file, some time later. */
  #considerCheckpoint(replica: SimReplica): void {
    const status = replica.running?.core.status();
    const { checkpointEvery, snapshotMsMax } = this.#mix;
    if (status === undefined || replica.isCheckpointing || checkpointEvery === 0) return;
    if (status.appliedIndex < status.snapshotIndex + checkpointEvery) return;
    if (status.appliedIndex !== replica.applying.index) return;
    const position = replica.applying;
    replica.isCheckpointing = true;
    this.#later(replica, snapshotMsMax, () => {
      replica.isCheckpointing = false;
      replica.disk.addFile(position);
      this.coverage.checkpoints++;
      this.give(replica, { kind: "snapshotTaken", position });
    });
  }

  /** Fetches a file, if its owner still has it and can be reached when the transfer ends. */
  #fetch(replica: SimReplica, { from, position }: Fetch): void {
    if (replica.fetching !== undefined) return;
    replica.fetching = position;
    this.#later(replica, this.#mix.snapshotMsMax, () => {
      replica.fetching = undefined;
      const source = this.replicas[from - 1];
      const isCut =
        this.cuts.has(`${from}>${replica.id}`) || this.cuts.has(`${replica.id}>${from}`);
      const hasIt = source?.running !== undefined && source.disk.hasFile(position);
      if (isCut || !hasIt || source.isPaused) {
        this.coverage.transfersFailed++;
        return;
      }
      replica.disk.addFile(position);
      this.give(replica, { kind: "snapshotReceived", position });
    });
  }

  #later(replica: SimReplica, msMax: number, run: () => void): void {
    const { incarnation } = replica;
    this.#queue.after(this.#prng.nextFraction() * msMax, () => {
      if (replica.incarnation === incarnation) run();
    });
  }

  /** The disk is no longer hung: what waits is written. */
  wakeDisk(replica: SimReplica): void {
    this.#startWrite(replica);
  }

  #startWrite(replica: SimReplica): void {
    const { disk, incarnation } = replica;
    if (replica.isDiskHung || !disk.startWrite(this.#mix.diskStepsMax)) return;
    const finish = (): void => {
      if (replica.incarnation !== incarnation) return;
      if (replica.isDiskHung) {
        this.#queue.after(this.#mix.tickMs, finish);
        return;
      }
      for (const { persist, held } of disk.finishWrite()) {
        for (const outbound of held) this.#send(replica.id, outbound);
        const { lastTerm, lastIndex } = persist;
        this.give(replica, { kind: "persisted", lastTerm, lastIndex });
        if (persist.snapshot !== undefined) this.#removeFiles(replica);
      }
      this.#startWrite(replica);
    };
    this.#queue.after(this.#prng.nextFraction() * replica.diskMs, finish);
  }

  /** A paused process removes nothing: it may have to hear yet what it has just written. */
  #removeFiles({ running, isPaused, disk }: SimReplica): void {
    if (running !== undefined && !isPaused) disk.retainFiles(running.core.snapshotsInUse);
  }

  #send(from: ReplicaId, outbound: Outbound): void {
    this.checkers.sending(from, outbound);
    this.#keepOld(from, outbound);
    if (this.cuts.has(`${from}>${outbound.to}`)) return;
    if (!this.isCalm && this.#prng.chance(this.#mix.loss)) {
      this.coverage.lostMessages++;
      return;
    }
    this.#queue.after(this.#delayMs(), () => this.#deliver(from, outbound));
    if (this.isCalm || !this.#prng.chance(this.#mix.duplication)) return;
    this.coverage.duplicates++;
    this.#queue.after(this.#delayMs() * 3, () => this.#deliver(from, outbound));
  }

  #deliver(from: ReplicaId, { to, message }: Outbound): void {
    const receiver = this.replicas[to - 1];
    if (receiver !== undefined) this.give(receiver, { kind: "message", from, message });
  }

  #delayMs(): number {
    if (this.isCalm) return this.#prng.nextFraction();
    const delayMs = this.#prng.nextFraction() * this.#mix.delayMsMax;
    return this.#prng.chance(this.#mix.longDelay) ? delayMs + 40 * this.#mix.tickMs : delayMs;
  }

  #keepOld(from: ReplicaId, outbound: Outbound): void {
    if (this.#oldMessages.length < OLD_MESSAGES_MAX) this.#oldMessages.push({ from, outbound });
    else if (this.#prng.chance(0.1)) {
      const at = this.#prng.nextInteger(0, OLD_MESSAGES_MAX - 1);
      this.#oldMessages[at] = { from, outbound };
    }
  }

  #configOf(self: ReplicaId): RaftConfig {
    const mix = this.#mix;
    return {
      group: 0 as GroupId,
      self,
      configuration: { voters: this.replicas.map(({ id }) => id) },
      tickMs: mix.tickMs,
      heartbeatTicks: 1,
      electionTimeoutTicksMin: ELECTION_TICKS_MIN,
      electionTimeoutTicksMax: ELECTION_TICKS_MAX,
      inflightMessagesMax: mix.inflightMessagesMax,
      appendBytesMax: mix.appendBytesMax,
      uncommittedBytesMax: mix.uncommittedBytesMax,
      pendingReadsMax: mix.pendingReadsMax,
      logTrailingBytes: mix.logTrailingBytes,
      logHeldBytesMax: mix.logHeldBytesMax,
      seed: this.#prng.nextUint32(),
    };
  }
}

function newReplica(id: ReplicaId, disk: SimDisk, diskMs: number): SimReplica {
  return {
    id,
    disk,
    running: undefined,
    incarnation: 0,
    isPaused: false,
    missedTick: false,
    inbox: [],
    clockOffsetMs: 0,
    diskMs,
    isDiskHung: false,
    openReads: new Set(),
    applying: LOG_START,
    fetching: undefined,
    isCheckpointing: false,
  };
}
