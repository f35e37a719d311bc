/**
 * The LogStore port on plain arrays, for simulations and unit tests: writes become durable when the
 * test says so, a crash loses what was not durable, and a write can be made to fail.
 *
 * It groups steps as the LevelDB store does: one write in flight, and the steps that come meanwhile
 * share the next. The difference is time: without a test's completeNext() nothing ever completes.
 */

import { assert, defined } from "../base/assert.ts";
import type { GroupId, LogIndex, LogTimeMs, ReplicaId, Term } from "../base/brands.ts";
import type { DurableStep, LoadedReplica, LogStore } from "../replica/ports.ts";
import {
  type Configuration,
  type Entry,
  type HardState,
  INITIAL_HARD_STATE,
  LOG_START,
  type LogPosition,
} from "../raft/types.ts";
import { StorageError } from "../storage/errors.ts";
import { assertStepFits, type KnownLog, lastKeptIndex } from "../storage/step-contract.ts";

/** A replica as it is created: no entries, no vote. */
export interface MemoryReplica {
  readonly group: GroupId;
  readonly replicaId: ReplicaId;
  readonly configuration: Configuration;
}

export class MemoryLogStore implements LogStore {
  readonly #replicas: readonly MemoryReplica[];
  readonly #durable: Map<GroupId, MemoryLog>;
  /** As it is once all that was submitted is durable. */
  readonly #submitted: Map<GroupId, MemoryLog>;
  readonly #onFatal: (error: StorageError) => void;
  /** The first is in flight. Only the last of several takes further steps. */
  #writes: DurableStep[][] = [];
  #state: "open" | "closed" | "failed" | "crashed" = "open";

  /** An empty store of new replicas; a used one comes from {@link reopen}. */
  constructor(options: {
    readonly replicas: readonly MemoryReplica[];
    readonly onFatal?: (error: StorageError) => void;
    readonly durable?: ReadonlyMap<GroupId, MemoryLog>;
  }) {
    this.#replicas = options.replicas.toSorted((a, b) => a.group - b.group);
    this.#onFatal = options.onFatal ?? ignoreFailure;
    this.#durable = copyLogs(this.#replicas, options.durable);
    this.#submitted = copyLogs(this.#replicas, options.durable);
  }

  submit(step: DurableStep): void {
    if (this.#state !== "open") return;
    const log = logOf(this.#submitted, step.group);
    assertStepFits(log, step);
    log.take(step);
    const last = this.#writes.at(-1);
    if (last === undefined || this.#writes.length === 1) this.#writes.push([step]);
    else last.push(step);
  }

  /** Writes that are not durable: none, the one in flight, or that one and the next. */
  get pendingWrites(): number {
    return this.#writes.length;
  }

  /** Makes the write in flight durable and tells its steps. Answers whether there was one. */
  completeNext(): boolean {
    const write = this.#writes.shift();
    if (write === undefined) return false;
    this.#keep(write);
    for (const step of write) step.onDurable();
    return true;
  }

  /** Completes writes, those that their completion causes included, until none is pending. */
  completeAll(): void {
    while (this.completeNext());
  }

  /** The write in flight is rejected: nothing is told, and nothing is accepted any more. */
  failNext(): void {
    assert(this.#writes.length > 0, "a write is in flight");
    this.#writes = [];
    this.#state = "failed";
    this.#onFatal(new StorageError("ioError", { dir: "memory", what: "an injected failure" }));
  }

  /**
   * The process dies. Writes that were not completed are lost, except the first `keptWrites`,
   * which reached the disk although nobody was told.
   */
  crash(keptWrites = 0): void {
    for (const write of this.#writes.slice(0, keptWrites)) this.#keep(write);
    this.#writes = [];
    this.#state = "crashed";
  }

  /** The store of the next process, and what it finds. This one must be closed or dead. */
  reopen(onFatal?: (error: StorageError) => void): {
    readonly store: MemoryLogStore;
    readonly replicas: LoadedReplica[];
  } {
    assert(this.#state !== "open", "a store is opened once at a time");
    const replicas = this.#replicas;
    const durable = this.#durable;
    const store = new MemoryLogStore({ replicas, durable, ...(onFatal && { onFatal }) });
    return { store, replicas: this.loaded() };
  }

  /** What is durable, as an open would find it. */
  loaded(): LoadedReplica[] {
    return this.#replicas.map((replica) => {
      const { hardState, snapshot, base, entries } = logOf(this.#durable, replica.group);
      return { ...replica, hardState, snapshot, base, entries: [...entries] };
    });
  }

  close(): Promise<void> {
    if (this.#state === "open") {
      this.#state = "closed";
      this.completeAll();
    }
    return Promise.resolve();
  }

  #keep(write: readonly DurableStep[]): void {
    for (const step of write) logOf(this.#durable, step.group).take(step);
  }
}

class MemoryLog implements KnownLog {
  hardState: HardState = INITIAL_HARD_STATE;
  snapshot: LogPosition = LOG_START;
  base: LogPosition = LOG_START;
  /** From base.index + 1 on. */
  entries: Entry[] = [];

  get lastIndex(): LogIndex {
    return (this.base.index + this.entries.length) as LogIndex;
  }

  termAt(index: LogIndex): Term {
    return index === this.base.index ? this.base.term : this.#at(index).term;
  }

  timeAt(index: LogIndex): LogTimeMs {
    return index === this.base.index ? this.base.timeMs : this.#at(index).timeMs;
  }

  take(step: DurableStep): void {
    this.entries.length = lastKeptIndex(this, step) - this.base.index;
    if (step.base !== undefined) {
      this.entries.splice(0, step.base.index - this.base.index);
      this.base = step.base;
    }
    for (const entry of step.entries) this.entries.push(entry);
    this.snapshot = step.snapshot ?? this.snapshot;
    this.hardState = step.hardState ?? this.hardState;
  }

  copy(): MemoryLog {
    const copy = new MemoryLog();
    copy.hardState = this.hardState;
    copy.snapshot = this.snapshot;
    copy.base = this.base;
    copy.entries = [...this.entries];
    return copy;
  }

  #at(index: LogIndex): Entry {
    return defined(this.entries[index - this.base.index - 1], "an entry lies within the log");
  }
}

function copyLogs(
  replicas: readonly MemoryReplica[],
  from: ReadonlyMap<GroupId, MemoryLog> | undefined,
): Map<GroupId, MemoryLog> {
  return new Map(replicas.map(({ group }) => [group, from?.get(group)?.copy() ?? new MemoryLog()]));
}

function logOf(logs: ReadonlyMap<GroupId, MemoryLog>, group: GroupId): MemoryLog {
  return defined(logs.get(group), "a step belongs to a group of this store");
}

function ignoreFailure(): void {}
