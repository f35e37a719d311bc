/**
 * The host of one group's replica: feeds inputs to the core, carries its outputs out through the
 * ports, applies committed entries to the machine, and answers those who wait.
 *
 * Synchronous: adapters finish by posting an input. Inputs that come in one turn are stepped in one
 * flush, and the log store writes what a flush produced with one sync (group commit falls out).
 * Nothing here awaits, so nothing can change between looking and acting.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, LogIndex, LogTimeMs, MonotonicMs, ReplicaId } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";
import { Prng } from "../base/prng.ts";
import type { AppliedEntry, GroupMachine } from "../machine/group.ts";
import { RaftCore } from "../raft/core.ts";
import type { Input } from "../raft/input.ts";
import type { Message } from "../raft/messages.ts";
import type { Outbound, Output, Persist, Proposed, Refused, Transition } from "../raft/output.ts";
import type { Entry, RaftConfig } from "../raft/types.ts";
import { ApplyQueue } from "./apply-queue.ts";
import { OutputQueue } from "./output-queue.ts";
import type { Clock, LoadedReplica, Logger, LogStore, Timers } from "./ports.ts";
import { ReadBatches, type ReadFailure } from "./reads.ts";
import { AppliedWaiters, type ProposeOutcome, ProposalWaiters } from "./waiters.ts";

/** Inputs that may wait for a flush; beyond it messages are dropped and proposals refused. */
const INPUTS_MAX = 10_000;

export interface ReplicaOptions<Request, Answer, Event> {
  readonly loaded: LoadedReplica;
  /** Group, self and configuration come from `loaded`. The seed is fresh for every start. */
  readonly raft: Omit<RaftConfig, "group" | "self" | "configuration">;
  readonly machine: GroupMachine<Request, Answer, Event>;
  readonly store: LogStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly send: (to: ReplicaId, message: Message) => void;
  readonly onApplied: (applied: AppliedEntry<Answer, Event>) => void;
  /** The core's role or leader changed, or a leader became ready. */
  readonly onTransition: (transition: Transition) => void;
  /** An entry that this version cannot read: the replica stops exactly there. */
  readonly onHalt: (reason: string) => void;
}

/** An index that a read may be served at, once it is applied; it is when this resolves. */
export type ReadOutcome = "ready" | ReadFailure;

interface Starting<Answer> {
  readonly deadlineMs: MonotonicMs;
  readonly settle: (outcome: ProposeOutcome<Answer>) => void;
}

export class Replica<Request, Answer, Event> {
  readonly group: GroupId;
  readonly self: ReplicaId;
  readonly machine: GroupMachine<Request, Answer, Event>;
  readonly core: RaftCore;
  /** Of the entries handed out before this process took part: all applied, it has caught up. */
  readonly replayedIndex: LogIndex;
  readonly #options: ReplicaOptions<Request, Answer, Event>;
  readonly #outputs: OutputQueue;
  readonly #proposals = new ProposalWaiters<Answer>();
  readonly #applied = new AppliedWaiters();
  readonly #reads: ReadBatches;
  readonly #starting = new Map<number, Starting<Answer>>();
  readonly #committed = new ApplyQueue();
  #queue: Input[] = [];
  #lastProposalId = 0;
  #appliedIndex = 0 as LogIndex;
  #isFlushing = false;
  #isFlushPlanned = false;
  /** When the present turn has applied enough. */
  #sliceEndMs = 0 as MonotonicMs;
  #isSlicePlanned = false;
  #isExpiring = false;
  #isStopped = false;

  constructor(options: ReplicaOptions<Request, Answer, Event>) {
    const { loaded, raft, machine } = options;
    const { group, replicaId: self, configuration, ...restored } = loaded;
    assert(machine.group === group, "a replica applies its own group's machine");
    this.#options = options;
    this.group = group;
    this.self = self;
    this.machine = machine;
    this.core = new RaftCore({ ...raft, group, self, configuration }, restored);
    this.replayedIndex = restored.hardState.commitIndex;
    this.#reads = new ReadBatches(Prng.fromSeed(raft.seed));
    this.#outputs = new OutputQueue({
      group,
      store: options.store,
      send: (messages) => this.#send(messages),
      onPersisted: (step) => this.#onPersisted(step),
    });
  }

  get appliedIndex(): LogIndex {
    return this.#appliedIndex;
  }

  get pendingProposals(): number {
    return this.#proposals.size + this.#starting.size;
  }

  /** When the last query was sent that the leader answered after a quorum round. */
  get confirmedAtMs(): MonotonicMs | undefined {
    return this.#reads.confirmedAtMs;
  }

  /** Committed, as far as this replica has heard. */
  get knownCommitIndex(): LogIndex {
    return Math.max(this.core.commitIndex, this.#reads.confirmedIndex) as LogIndex;
  }

  /** Queues a message from a peer. Dropped when too much waits; raft repeats what matters. */
  receive(from: ReplicaId, message: Message): void {
    if (this.#queue.length >= INPUTS_MAX) return;
    this.#post({ kind: "message", nowMs: this.#now(), from, message });
  }

  peerUnreachable(peer: ReplicaId): void {
    this.#post({ kind: "peerUnreachable", nowMs: this.#now(), peer });
  }

  /** One tick interval has passed; a host that stalled calls it once. */
  tick(): void {
    const nowMs = this.#now();
    this.#proposals.expire(nowMs);
    this.#applied.expire(nowMs);
    this.#reads.expire(nowMs);
    this.#expireStarting(nowMs);
    this.#post({ kind: "tick", nowMs });
    this.#proposeExpiry();
  }

  /** Appends a request if this replica leads; answers when it was applied, or at the deadline. */
  propose(request: Request, deadlineMs: MonotonicMs): Promise<ProposeOutcome<Answer>> {
    return this.proposeEncoded(this.machine.encodeRequest(request), deadlineMs);
  }

  proposeEncoded(payload: Bytes, deadlineMs: MonotonicMs): Promise<ProposeOutcome<Answer>> {
    return new Promise((settle) => {
      if (this.#isStopped || this.#queue.length >= INPUTS_MAX) {
        const reason = this.#isStopped ? "shuttingDown" : "overloaded";
        settle({ kind: "failed", outcome: "notApplied", reason });
        return;
      }
      const proposalId = ++this.#lastProposalId;
      const input: Input = { kind: "propose", nowMs: this.#now(), proposalId, payload };
      this.#starting.set(proposalId, { deadlineMs, settle });
      this.#post(input);
    });
  }

  /** Resolves "ready" when everything acknowledged before the call is applied here. */
  readIndex(deadlineMs: MonotonicMs): Promise<ReadOutcome> {
    return new Promise((resolve) => {
      if (this.#isStopped) {
        resolve("notLeader");
        return;
      }
      this.#reads.join({
        deadlineMs,
        settle: (outcome) => {
          if (typeof outcome === "string") resolve(outcome);
          else this.#whenApplied(outcome, deadlineMs, resolve);
        },
      });
      this.#planFlush();
    });
  }

  /** Resolves "ready" when the entry at `index` is applied here, whoever leads. */
  waitApplied(index: LogIndex, deadlineMs: MonotonicMs): Promise<ReadOutcome> {
    return new Promise((resolve) => {
      this.#whenApplied(index, deadlineMs, resolve);
    });
  }

  /** Takes no more part; those who wait are told that the outcome is unknown. */
  stop(): void {
    this.#isStopped = true;
    this.#queue = [];
    this.#proposals.failAll("shuttingDown");
    for (const [id, waiter] of this.#starting) {
      this.#starting.delete(id);
      waiter.settle({ kind: "failed", outcome: "notApplied", reason: "shuttingDown" });
    }
    this.#applied.failAll();
    this.#reads.failAll();
  }

  #whenApplied(
    index: LogIndex,
    deadlineMs: MonotonicMs,
    resolve: (outcome: ReadOutcome) => void,
  ): void {
    if (index <= this.#appliedIndex) {
      resolve("ready");
      return;
    }
    if (this.#isStopped) {
      resolve("notLeader");
      return;
    }
    const settle = (isApplied: boolean): void => {
      resolve(isApplied ? "ready" : "deadlineExceeded");
    };
    this.#applied.add({ index, deadlineMs, settle });
  }

  #now(): MonotonicMs {
    return this.#options.clock.nowMs();
  }

  #post(input: Input): void {
    if (this.#isStopped) return;
    this.#queue.push(input);
    this.#planFlush();
  }

  #planFlush(): void {
    if (this.#isFlushPlanned || this.#isFlushing || this.#isStopped) return;
    this.#isFlushPlanned = true;
    this.#options.timers.soon(() => {
      this.#isFlushPlanned = false;
      this.#flush();
    });
  }

  /** Steps all that waits. What is posted meanwhile (by callbacks) is stepped as well. */
  #flush(): void {
    if (this.#isStopped) return;
    this.#isFlushing = true;
    this.#sliceEndMs = (this.#now() + APPLY_SLICE_MS) as MonotonicMs;
    this.#applyCommitted();
    for (;;) {
      if (this.#reads.hasGathered) {
        const nowMs = this.#now();
        this.#queue.push({ kind: "readIndex", nowMs, readId: this.#reads.take(nowMs) });
      }
      const queue = this.#queue;
      if (queue.length === 0) break;
      this.#queue = [];
      for (const input of queue) {
        // Halted by an entry of this very turn: what waits was answered, and must not be appended.
        if (this.#isStopped) return;
        this.#carryOut(this.core.step(input));
      }
    }
    this.#isFlushing = false;
  }

  #carryOut(output: Output): void {
    for (const proposed of output.proposed) this.#onProposed(proposed);
    for (const refused of output.refused) this.#onRefused(refused);
    this.#outputs.push(output);
    for (const transition of output.transitions) this.#onTransition(transition);
    this.#committed.push(output.committed);
    this.#applyCommitted();
    for (const { readId, readIndex } of output.readsReady) {
      this.#reads.confirmed(readId, readIndex);
    }
  }

  #send(messages: readonly Outbound[]): void {
    if (this.#isStopped) return;
    for (const { to, message } of messages) this.#options.send(to, message);
  }

  #onPersisted({ lastTerm, lastIndex }: Persist): void {
    this.#post({ kind: "persisted", nowMs: this.#now(), lastTerm, lastIndex });
  }

  #onProposed({ proposalId, index, term }: Proposed): void {
    const waiter = this.#starting.get(proposalId);
    if (waiter === undefined) return;
    this.#starting.delete(proposalId);
    this.#proposals.add(index, { ...waiter, term });
  }

  #onRefused({ kind, id, reason }: Refused): void {
    if (kind === "read") {
      this.#reads.refused(id, reason);
      return;
    }
    const waiter = this.#starting.get(id);
    this.#starting.delete(id);
    waiter?.settle({ kind: "failed", outcome: "notApplied", reason });
  }

  #onTransition(transition: Transition): void {
    if (transition.kind === "steppedDown") this.#isExpiring = false;
    this.#options.onTransition(transition);
  }

  /**
   * Applies what is committed, for the length of a slice. The rest follows in slices of its own,
   * after the sockets were read: a long log after a restart must not make this server deaf, and
   * nobody who waits for an index is answered before it is applied.
   */
  #applyCommitted(): void {
    if (this.#isSlicePlanned || this.#committed.isEmpty) return;
    while (!this.#isStopped && !this.#isSlicePlanned) {
      const entry = this.#committed.take();
      if (entry === undefined) break;
      this.#apply(entry);
      if (!this.#committed.isEmpty && this.#now() >= this.#sliceEndMs) this.#planSlice();
    }
    this.#reportApplied();
  }

  #planSlice(): void {
    this.#isSlicePlanned = true;
    this.#options.timers.afterReading(() => {
      this.#isSlicePlanned = false;
      this.#flush();
    });
  }

  #apply(entry: Entry): void {
    const { machine, onHalt } = this.#options;
    const { index, term, timeMs } = entry;
    let request: Request | undefined;
    if (entry.kind === "command") {
      const decoded = machine.decodeRequest(entry.payload);
      if (!decoded.ok) {
        this.stop();
        onHalt(`group ${this.group}: the command at index ${index} is unknown: ${decoded.error}`);
        return;
      }
      request = decoded.value;
    }
    const applied = machine.apply({ index, term, timeMs }, request);
    this.#appliedIndex = index;
    this.#options.onApplied(applied);
    this.#proposals.applied(index, term, applied.answer);
    this.#applied.applied(index);
  }

  #reportApplied(): void {
    const index = this.#appliedIndex;
    this.#queue.push({ kind: "applied", nowMs: this.#now(), index });
  }

  /** Proposes Expire when something is due (law 9), never on a schedule. */
  #proposeExpiry(): void {
    if (this.#isExpiring || !this.core.isLeaderReady) return;
    const dueMs = this.machine.nextDueMs();
    const request = this.machine.expireRequest();
    if (dueMs === undefined || request === undefined || dueMs > this.#leaderTimeMs()) return;
    this.#isExpiring = true;
    const done = (): void => {
      this.#isExpiring = false;
    };
    const deadlineMs = (this.#now() + EXPIRE_TIMEOUT_MS) as MonotonicMs;
    // A failed attempt needs no care: the next tick sees what is still due.
    this.propose(request, deadlineMs).then(done, done);
  }

  #leaderTimeMs(): LogTimeMs {
    return this.core.leaderTimeMs ?? (0 as LogTimeMs);
  }

  #expireStarting(nowMs: MonotonicMs): void {
    for (const [id, waiter] of this.#starting) {
      if (waiter.deadlineMs > nowMs) continue;
      this.#starting.delete(id);
      // It is still queued and may be appended yet.
      waiter.settle({ kind: "failed", outcome: "unknown", reason: "deadlineExceeded" });
    }
  }
}

/** Applying in one turn: short beside a tick, long beside the way through the loop. */
const APPLY_SLICE_MS = 10;

/** How long one Expire may be under way before another is proposed. */
const EXPIRE_TIMEOUT_MS = 2_000;
