/**
 * The host of one group's replica: feeds inputs to the core, carries its outputs out through the
 * ports, applies committed entries to the machine, and answers those who wait.
 *
 * Synchronous: adapters finish by posting an input. Inputs that come in one turn are stepped in one
 * flush, and the log store writes what a flush produced with one sync (group commit falls out).
 * Nothing here awaits, so nothing can change between looking and acting.
 *
 * One that starts from a snapshot takes no part until its machine holds that state.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, LogIndex, LogTimeMs, MonotonicMs, ReplicaId } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";
import { Prng } from "../base/prng.ts";
import type { AppliedEntry, GroupMachine } from "../machine/group.ts";
import { RaftCore } from "../raft/core.ts";
import type { Input } from "../raft/input.ts";
import type { Message } from "../raft/messages.ts";
import type { Outbound, Output, Persist, Refused, Transition } from "../raft/output.ts";
import type { Entry, LogPosition, RaftConfig } from "../raft/types.ts";
import { Applier } from "./applier.ts";
import { GroupSnapshots, type SnapshotPorts } from "./group-snapshots.ts";
import { OutputQueue } from "./output-queue.ts";
import type { Clock, ForwardFailure, LoadedReplica, Logger, LogStore, Timers } from "./ports.ts";
import { Proposals } from "./proposals.ts";
import { ReadBatches, type ReadFailure } from "./reads.ts";
import type { FetchedSnapshot } from "./snapshot-fetcher.ts";
import { type TransferOutcome, Transfers } from "./transfers.ts";
import type { ProposeOutcome } from "./waiters.ts";

/** Inputs that may wait for a flush; beyond it messages are dropped and proposals refused. */
const INPUTS_MAX = 10_000;

export interface ReplicaOptions<Request, Answer, Event> {
  readonly loaded: LoadedReplica;
  /** Group, self and configuration come from `loaded`. The seed is fresh for every start. */
  readonly raft: Omit<RaftConfig, "group" | "self" | "configuration">;
  readonly machine: GroupMachine<Request, Answer, Event>;
  readonly store: LogStore;
  readonly snapshots: SnapshotPorts;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly send: (to: ReplicaId, message: Message) => void;
  readonly onApplied: (applied: AppliedEntry<Answer, Event>) => void;
  /** The machine's state was replaced by a snapshot's: what was read of the former is past. */
  readonly onReplaced: () => void;
  /** The core's role or leader changed, or a leader became ready. */
  readonly onTransition: (transition: Transition) => void;
  /**
   * It cannot go on: an entry or a snapshot that this version cannot read, or a damaged snapshot.
   * One line, with what to do. The replica has stopped exactly there.
   */
  readonly onHalt: (reason: string) => void;
}

/** An index that a read may be served at, once it is applied; it is when this resolves. */
export type ReadOutcome = "ready" | ReadFailure;

export class Replica<Request, Answer, Event> {
  readonly group: GroupId;
  readonly self: ReplicaId;
  readonly machine: GroupMachine<Request, Answer, Event>;
  readonly core: RaftCore;
  /** Of the entries handed out before this process took part: all applied, it has caught up. */
  readonly replayedIndex: LogIndex;
  readonly snapshots: GroupSnapshots;
  readonly #options: ReplicaOptions<Request, Answer, Event>;
  readonly #outputs: OutputQueue;
  readonly #proposals = new Proposals<Answer>();
  readonly #reads: ReadBatches;
  readonly #transfers = new Transfers();
  readonly #applier: Applier<Request, Answer, Event>;
  #queue: Input[] = [];
  #isFlushing = false;
  #isFlushPlanned = false;
  #isExpiring = false;
  #isStopped = false;
  #isRestored: boolean;

  constructor(options: ReplicaOptions<Request, Answer, Event>) {
    const { loaded, raft, machine } = options;
    const { group, replicaId: self, configuration, ...restored } = loaded;
    assert(machine.group === group, "a replica applies its own group's machine");
    this.#options = options;
    this.group = group;
    this.self = self;
    this.machine = machine;
    this.core = new RaftCore({ ...raft, group, self, configuration }, restored);
    const { hardState, snapshot } = restored;
    this.replayedIndex = hardState.commitIndex;
    this.#reads = new ReadBatches(Prng.fromSeed(raft.seed));
    this.#outputs = new OutputQueue({
      group,
      store: options.store,
      send: (messages) => this.#send(messages),
      onPersisted: (step) => this.#onPersisted(step),
    });
    this.#applier = new Applier({
      ...options,
      onAnswer: (index, term, answer) => this.#proposals.applied(index, term, answer),
      onUnreadable: (index, problem) =>
        this.#halt(
          `the command at index ${index} is unknown: ${problem}; install a version that knows it`,
        ),
      onSliceDue: () => this.#flush(),
    });
    this.snapshots = new GroupSnapshots({
      ...options,
      ...options.snapshots,
      group,
      durable: snapshot,
      inUse: () => this.core.snapshotsInUse,
      appliedPosition: () => this.#applier.position,
      post: (input) => this.#post({ ...input, nowMs: this.#now() }),
    });
    this.#isRestored = snapshot.index === 0;
    if (!this.#isRestored) void this.#restore(snapshot);
  }

  get appliedIndex(): LogIndex {
    return this.#applier.position.index;
  }

  /** False while the machine does not hold the state that this replica starts from. */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  get pendingProposals(): number {
    return this.#proposals.size;
  }

  /** When the last query was sent that the leader answered after a quorum round. */
  get confirmedAtMs(): MonotonicMs | undefined {
    return this.#reads.confirmedAtMs;
  }

  /** The latest moment as of which what is applied here was complete, by a quorum's word. */
  get currentAtMs(): MonotonicMs | undefined {
    return this.#reads.currentAtMs(this.appliedIndex);
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
    this.#applier.expire(nowMs);
    this.#reads.expire(nowMs);
    this.snapshots.tick(this.appliedIndex);
    this.#post({ kind: "tick", nowMs });
    this.#proposeExpiry();
  }

  /** Appends a request if this replica leads; answers when it was applied, or at the deadline. */
  propose(request: Request, deadlineMs: MonotonicMs): Promise<ProposeOutcome<Answer>> {
    return this.proposeEncoded(this.machine.encodeRequest(request), deadlineMs);
  }

  proposeEncoded(payload: Bytes, deadlineMs: MonotonicMs): Promise<ProposeOutcome<Answer>> {
    return new Promise((settle) => {
      const reason = this.#refusal();
      if (reason !== undefined) {
        settle({ kind: "failed", outcome: "notApplied", reason });
        return;
      }
      const proposalId = this.#proposals.begin({ deadlineMs, settle });
      this.#post({ kind: "propose", nowMs: this.#now(), proposalId, payload });
    });
  }

  /**
   * Moves leadership to this follower, or to whoever is furthest. Requests are refused meanwhile,
   * without effect. Resolves when this replica leads no more ("moved"), or when it goes on; a later
   * election may still follow from that. "refused" at once if it does not lead, hears no such
   * follower, or already moves its office elsewhere.
   */
  transferLeadership(target?: ReplicaId): Promise<TransferOutcome> {
    return new Promise((settle) => {
      if (this.#refusal() !== undefined) {
        settle("refused");
        return;
      }
      this.#transfers.asked(settle);
      this.#post({ kind: "transfer", nowMs: this.#now(), target });
    });
  }

  /** Resolves "ready" when everything acknowledged before the call is applied here. */
  readIndex(deadlineMs: MonotonicMs): Promise<ReadOutcome> {
    return new Promise((resolve) => {
      if (this.#isStopped || !this.#isRestored) {
        resolve("notLeader");
        return;
      }
      this.#reads.join({
        deadlineMs,
        settle: (outcome) => {
          if (typeof outcome === "string") resolve(outcome);
          else this.#applier.whenApplied(outcome, deadlineMs, resolve);
        },
      });
      this.#planFlush();
    });
  }

  /** Resolves "ready" when the entry at `index` is applied here, whoever leads. */
  waitApplied(index: LogIndex, deadlineMs: MonotonicMs): Promise<ReadOutcome> {
    return new Promise((resolve) => {
      this.#applier.whenApplied(index, deadlineMs, resolve);
    });
  }

  /** Takes no more part; those who wait are told that the outcome is unknown. */
  stop(): void {
    this.#isStopped = true;
    this.#queue = [];
    this.#proposals.failAll("shuttingDown");
    this.#applier.stop();
    this.#reads.failAll();
    this.#transfers.settleAll("aborted");
    this.snapshots.stop();
  }

  /** Resolves when, after a stop, no file is touched any more. */
  async settled(): Promise<void> {
    await this.snapshots.settled();
  }

  async #restore(position: LogPosition): Promise<void> {
    const restored = await this.snapshots.restore();
    if (this.#isStopped) return;
    if (!restored.ok) {
      this.#halt(`its snapshot at index ${position.index} cannot be restored: ${restored.error}`);
      return;
    }
    this.#applier.replaced(position);
    this.#isRestored = true;
    this.#options.onReplaced();
  }

  #halt(reason: string): void {
    this.stop();
    this.#options.onHalt(`group ${this.group}: ${reason}`);
  }

  #refusal(): ForwardFailure | undefined {
    if (this.#isStopped) return "shuttingDown";
    if (!this.#isRestored) return "notLeader";
    return this.#queue.length >= INPUTS_MAX ? "overloaded" : undefined;
  }

  #now(): MonotonicMs {
    return this.#options.clock.nowMs();
  }

  #post(input: Input): void {
    if (this.#isStopped || !this.#isRestored) return;
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
    this.#applier.beginTurn();
    this.#apply([]);
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
        this.#carryOut(input, this.core.step(input));
      }
    }
    this.#isFlushing = false;
  }

  #carryOut(input: Input, output: Output): void {
    for (const proposed of output.proposed) this.#proposals.placed(proposed);
    for (const refused of output.refused) this.#onRefused(refused);
    this.#outputs.push(output);
    for (const transition of output.transitions) this.#onTransition(transition);
    if (input.kind === "transfer") this.#transfers.stepped(output.transitions);
    const fetched = this.snapshots.stepped(input, output);
    if (fetched !== undefined) this.#replace(fetched);
    this.#apply(output.committed);
    for (const { readId, readIndex } of output.readsReady) {
      this.#reads.confirmed(readId, readIndex);
    }
  }

  #send(messages: readonly Outbound[]): void {
    if (this.#isStopped) return;
    for (const { to, message } of messages) this.#options.send(to, message);
  }

  #onPersisted(step: Persist): void {
    const { lastTerm, lastIndex } = step;
    this.snapshots.reported(step);
    this.#post({ kind: "persisted", nowMs: this.#now(), lastTerm, lastIndex });
  }

  #onRefused({ kind, id, reason }: Refused): void {
    if (kind === "read") this.#reads.refused(id, reason);
    else this.#proposals.refused(id, reason);
  }

  #onTransition(transition: Transition): void {
    if (transition.kind === "steppedDown") {
      this.#isExpiring = false;
      this.#transfers.settleRunning("moved");
    }
    if (transition.kind === "transferAborted") this.#transfers.settleRunning("aborted");
    this.#options.onTransition(transition);
  }

  #replace(fetched: FetchedSnapshot): void {
    const { position, restore } = fetched;
    assert(restore.finish().ok, "a whole snapshot becomes the machine's state");
    this.#applier.replaced(position);
    this.#proposals.replaced(position.index);
    this.snapshots.replaced(fetched);
    this.#options.onReplaced();
    this.#reportApplied();
  }

  #apply(committed: readonly Entry[]): void {
    const appliedBytes = this.#applier.apply(committed);
    if (appliedBytes === undefined) return;
    this.#reportApplied();
    this.snapshots.applied(appliedBytes);
  }

  #reportApplied(): void {
    const index = this.appliedIndex;
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
}

/** How long one Expire may be under way before another is proposed. */
const EXPIRE_TIMEOUT_MS = 2_000;
