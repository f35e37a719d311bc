/**
 * Applies committed entries to the machine of one replica, in log order, each once, and answers
 * those who wait for an index.
 *
 * In slices: a long log after a restart must not make this server deaf, so what does not fit in a
 * turn follows after the sockets were read, and nobody is answered before his index is applied.
 */

import { assert } from "../base/assert.ts";
import {
  type LogIndex,
  type MonotonicMs,
  REVISION_INDEX_LIMIT,
  type Term,
} from "../base/brands.ts";
import type { AppliedEntry, GroupMachine } from "../machine/group.ts";
import { type Entry, entryBytes, LOG_START, type LogPosition } from "../raft/types.ts";
import { ApplyQueue } from "./apply-queue.ts";
import type { Clock, Timers } from "./ports.ts";
import { AppliedWaiters } from "./waiters.ts";

/** Applying in one turn: short beside a tick, long beside the way through the loop. */
const APPLY_SLICE_MS = 10;

export interface ApplierOptions<Request, Answer, Event> {
  readonly machine: GroupMachine<Request, Answer, Event>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly onApplied: (applied: AppliedEntry<Answer, Event>) => void;
  readonly onAnswer: (index: LogIndex, term: Term, answer: Answer | undefined) => void;
  /** An entry that this version cannot read. Nothing is applied from there on. */
  readonly onUnreadable: (index: LogIndex, problem: string) => void;
  /** Time for the next slice: a turn is to be begun. */
  readonly onSliceDue: () => void;
}

export class Applier<Request, Answer, Event> {
  readonly #options: ApplierOptions<Request, Answer, Event>;
  readonly #committed = new ApplyQueue();
  readonly #waiters = new AppliedWaiters();
  #position: LogPosition = LOG_START;
  /** When the present turn has applied enough. */
  #sliceEndMs = 0;
  #isSlicePlanned = false;
  #isStopped = false;

  constructor(options: ApplierOptions<Request, Answer, Event>) {
    this.#options = options;
  }

  /** Of the last applied entry, or of the snapshot that the machine was restored from. */
  get position(): LogPosition {
    return this.#position;
  }

  beginTurn(): void {
    this.#sliceEndMs = this.#options.clock.nowMs() + APPLY_SLICE_MS;
  }

  /**
   * Takes committed entries and applies what the turn has time for. The bytes of what was applied;
   * undefined when it was nothing.
   */
  apply(committed: readonly Entry[]): number | undefined {
    this.#committed.push(committed);
    if (this.#isStopped || this.#isSlicePlanned || this.#committed.isEmpty) return undefined;
    let bytes = 0;
    while (!this.#isStopped && !this.#isSlicePlanned) {
      const entry = this.#committed.take();
      if (entry === undefined) break;
      this.#apply(entry);
      bytes += entryBytes(entry);
      const isLate = this.#options.clock.nowMs() >= this.#sliceEndMs;
      if (isLate && !this.#committed.isEmpty) this.#planSlice();
    }
    return bytes;
  }

  /**
   * The machine's state is a snapshot's now. What still waited to be applied is in it; who waits
   * for an index that it covers is answered.
   */
  replaced(position: LogPosition): void {
    assert(position.index > this.#position.index, "a snapshot is ahead of what was applied");
    const machineIndex = this.#options.machine.revision % REVISION_INDEX_LIMIT;
    assert(machineIndex === position.index, "a snapshot holds the state of its position");
    this.#committed.dropThrough(position.index);
    this.#position = position;
    this.#waiters.applied(position.index);
  }

  whenApplied(
    index: LogIndex,
    deadlineMs: MonotonicMs,
    settle: (outcome: "ready" | "notLeader" | "deadlineExceeded") => void,
  ): void {
    if (index <= this.#position.index) settle("ready");
    else if (this.#isStopped) settle("notLeader");
    else {
      const end = (isApplied: boolean): void => settle(isApplied ? "ready" : "deadlineExceeded");
      this.#waiters.add({ index, deadlineMs, settle: end });
    }
  }

  expire(nowMs: MonotonicMs): void {
    this.#waiters.expire(nowMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiters.failAll();
  }

  #planSlice(): void {
    this.#isSlicePlanned = true;
    this.#options.timers.afterReading(() => {
      this.#isSlicePlanned = false;
      this.#options.onSliceDue();
    });
  }

  #apply(entry: Entry): void {
    const { machine, onApplied, onAnswer, onUnreadable } = this.#options;
    const { index, term, timeMs } = entry;
    let request: Request | undefined;
    if (entry.kind === "command") {
      const decoded = machine.decodeRequest(entry.payload);
      if (!decoded.ok) {
        this.stop();
        onUnreadable(index, decoded.error);
        return;
      }
      request = decoded.value;
    }
    const applied = machine.apply({ index, term, timeMs }, request);
    this.#position = { index, term, timeMs };
    onApplied(applied);
    onAnswer(index, term, applied.answer);
    this.#waiters.applied(index);
  }
}
