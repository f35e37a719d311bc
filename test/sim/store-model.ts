/**
 * What one server's log store has promised: each submitted step, and how many it has called
 * durable. It stands between the replicas and the store, sees nothing of the disk, and judges what
 * a restart finds (property 12): the state after all durable steps and some of the others in order.
 */

import type { GroupId } from "../../src/base/brands.ts";
import type { DurableStep, LoadedReplica, LogStore } from "../../src/replica/ports.ts";
import {
  type Entry,
  type HardState,
  INITIAL_HARD_STATE,
  LOG_START,
  type LogPosition,
} from "../../src/raft/types.ts";
import { sameEntry } from "./entries.ts";
import { must } from "./must.ts";

/** One group's log as some steps have made it. */
export class DurableLog {
  hardState: HardState = INITIAL_HARD_STATE;
  base: LogPosition = LOG_START;
  snapshot: LogPosition = LOG_START;
  entries: Entry[] = [];

  get lastIndex(): number {
    return this.base.index + this.entries.length;
  }

  /** undefined: not held, or below the base. */
  entryAt(index: number): Entry | undefined {
    return this.entries[index - this.base.index - 1];
  }

  /** Answers what was cut off the end, what a snapshot stands for aside. */
  take(step: Omit<DurableStep, "onDurable">): readonly Entry[] {
    const { truncateFrom, base, snapshot, entries, hardState } = step;
    const cut =
      truncateFrom === undefined ? [] : this.entries.splice(truncateFrom - this.base.index - 1);
    if (base !== undefined) {
      this.entries.splice(0, base.index - this.base.index);
      this.base = base;
    }
    if (snapshot !== undefined) this.snapshot = snapshot;
    for (const entry of entries) this.entries.push(entry);
    if (hardState !== undefined) this.hardState = hardState;
    return cut.filter(({ index }) => index > this.base.index);
  }

  isSameAs(loaded: LoadedReplica): boolean {
    const { term, votedFor, commitIndex } = this.hardState;
    const found = loaded.hardState;
    return (
      term === found.term &&
      votedFor === found.votedFor &&
      commitIndex === found.commitIndex &&
      this.base.index === loaded.base.index &&
      this.base.term === loaded.base.term &&
      this.snapshot.index === loaded.snapshot.index &&
      this.entries.length === loaded.entries.length &&
      this.entries.every((entry, at) => sameEntry(entry, loaded.entries[at]))
    );
  }

  copy(): DurableLog {
    const copy = new DurableLog();
    copy.hardState = this.hardState;
    copy.base = this.base;
    copy.snapshot = this.snapshot;
    copy.entries = [...this.entries];
    return copy;
  }
}

export class StoreModel {
  #logs = new Map<GroupId, DurableLog>();
  /** Submitted and not called durable, oldest first. */
  #pending: DurableStep[] = [];
  readonly #onCut: (group: GroupId, entries: readonly Entry[], byTerm: number) => void;

  /** `onCut` is told of entries that the disk has lost by a truncation, and in which term. */
  constructor(onCut: (group: GroupId, entries: readonly Entry[], byTerm: number) => void) {
    this.#onCut = onCut;
  }

  /** What is durable of a group for certain. */
  durable(group: GroupId): DurableLog {
    let log = this.#logs.get(group);
    if (log === undefined) {
      log = new DurableLog();
      this.#logs.set(group, log);
    }
    return log;
  }

  get pendingSteps(): number {
    return this.#pending.length;
  }

  /** The store, with everything that passes it noted. */
  wrap(store: LogStore): LogStore {
    return {
      submit: (step) => {
        this.#pending.push(step);
        store.submit({
          ...step,
          onDurable: () => {
            must(this.#pending[0] === step, 12, "steps are called durable in their order");
            this.#pending.shift();
            this.#keep(step);
            step.onDurable();
          },
        });
      },
      close: () => store.close(),
    };
  }

  /** A process has opened the store. Answers how many submitted steps were lost. */
  reopened(replicas: readonly LoadedReplica[]): number {
    for (let lost = this.#pending.length; ; lost--) {
      if (this.#explains(replicas)) {
        this.#pending = [];
        return lost;
      }
      const next = this.#pending.shift();
      must(next !== undefined, 12, `an open found what was never written: ${describe(replicas)}`);
      this.#keep(next);
    }
  }

  /** The store is another one, empty or of an earlier day: nothing is promised any more. */
  forget(replicas: readonly LoadedReplica[]): void {
    this.#pending = [];
    this.#logs = new Map();
    for (const { group, hardState, base, snapshot, entries } of replicas) {
      const log = this.durable(group);
      log.hardState = hardState;
      log.base = base;
      log.snapshot = snapshot;
      log.entries = [...entries];
    }
  }

  #explains(replicas: readonly LoadedReplica[]): boolean {
    return replicas.every((loaded) => this.durable(loaded.group).isSameAs(loaded));
  }

  #keep(step: DurableStep): void {
    const log = this.durable(step.group);
    const cut = log.take(step);
    if (cut.length > 0) this.#onCut(step.group, cut, log.hardState.term);
  }
}

function describe(replicas: readonly LoadedReplica[]): string {
  return replicas
    .map(({ group, hardState, entries, base }) => {
      const last = entries.at(-1);
      const end = last === undefined ? "-" : `${last.term}/${last.index}`;
      return `group ${group} term ${hardState.term} base ${base.index} end ${end}`;
    })
    .join(", ");
}
