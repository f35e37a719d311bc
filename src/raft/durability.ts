/**
 * What of the log and of the hard state is on disk.
 *
 * Steps reach the disk in the order in which they were emitted, each whole or not at all, and each
 * is reported once. So the disk after a step is exactly the log as it was when the step was
 * emitted:
 *   1. we append 7 in term 3, and its step starts;
 *   2. the leader of term 4 replaces 7: step 2 waits behind, and lowers what step 1 vouches for to
 *      6, because 7 as it stands now is not what step 1 wrote;
 *   3. step 1 completes: durable up to 6. Step 2 completes: durable up to 7, of term 4.
 */

import { assert, defined } from "../base/assert.ts";
import type { LogIndex, ReplicaId, Term } from "../base/brands.ts";
import type { Persist } from "./output.ts";
import type { HardState, LogPosition } from "./types.ts";

interface PendingStep {
  readonly lastTerm: Term;
  readonly lastIndex: LogIndex;
  readonly hardState: HardState | undefined;
  readonly snapshot: LogPosition | undefined;
  /** lastIndex, or less once a later step has truncated: never above what still stands. */
  vouchedIndex: LogIndex;
}

export class Durability {
  /** Emitted and not yet reported, oldest first. */
  readonly #pending: PendingStep[] = [];
  #durableIndex: LogIndex;
  #term: Term;
  #votedFor: ReplicaId | undefined;
  #snapshot: LogPosition;
  #stalledTicks = 0;

  constructor(hardState: HardState, snapshot: LogPosition, lastIndex: LogIndex) {
    this.#snapshot = snapshot;
    this.#durableIndex = lastIndex;
    this.#term = hardState.term;
    this.#votedFor = hardState.votedFor;
  }

  /** The log up to here, as it stands in memory, is on disk. Only truncation lowers it. */
  get durableIndex(): LogIndex {
    return this.#durableIndex;
  }

  /** The term on disk. */
  get term(): Term {
    return this.#term;
  }

  /** The vote on disk, cast in that term. */
  get votedFor(): ReplicaId | undefined {
    return this.#votedFor;
  }

  /** Whatever a restart may start from: the steps that are on disk need not be reported yet. */
  get snapshots(): readonly LogPosition[] {
    const snapshots = [this.#snapshot];
    for (const { snapshot } of this.#pending) if (snapshot !== undefined) snapshots.push(snapshot);
    return snapshots;
  }

  /** Ticks for which the oldest step has been under way; 0 when none is. */
  get stalledTicks(): number {
    return this.#stalledTicks;
  }

  tick(): void {
    if (this.#pending.length > 0) this.#stalledTicks++;
  }

  /** The log in memory lost its entries from here on; a step that says so follows. */
  truncated(fromIndex: LogIndex): void {
    const keptIndex = (fromIndex - 1) as LogIndex;
    if (this.#durableIndex > keptIndex) this.#durableIndex = keptIndex;
    for (const earlier of this.#pending) {
      if (earlier.vouchedIndex > keptIndex) earlier.vouchedIndex = keptIndex;
    }
  }

  /** A step leaves for the disk. */
  started(step: Persist): void {
    this.#pending.push({
      lastTerm: step.lastTerm,
      lastIndex: step.lastIndex,
      hardState: step.hardState,
      snapshot: step.snapshot,
      vouchedIndex: step.lastIndex,
    });
  }

  /** The oldest step is durable. The tag shows that the host means the same step. */
  completed(lastTerm: Term, lastIndex: LogIndex): void {
    const step = defined(this.#pending.shift(), "only emitted steps are reported durable");
    assert(
      step.lastTerm === lastTerm && step.lastIndex === lastIndex,
      "steps are reported durable one by one, in order",
    );
    assert(step.vouchedIndex >= this.#durableIndex, "completions never lower the durable index");
    this.#durableIndex = step.vouchedIndex;
    this.#stalledTicks = 0;
    if (step.snapshot !== undefined) this.#snapshot = step.snapshot;
    if (step.hardState === undefined) return;
    this.#term = step.hardState.term;
    this.#votedFor = step.hardState.votedFor;
  }

  /** The state as numbers, for the canonical form. */
  get parts(): readonly number[] {
    const parts = [this.#durableIndex, this.#term, this.#votedFor ?? 0, this.#stalledTicks];
    parts.push(this.#snapshot.index);
    for (const step of this.#pending) {
      const { hardState } = step;
      parts.push(step.lastTerm, step.lastIndex, step.vouchedIndex);
      parts.push(hardState?.term ?? -1, hardState?.votedFor ?? 0, step.snapshot?.index ?? -1);
    }
    return parts;
  }

  clone(): Durability {
    const hardState = {
      term: this.#term,
      votedFor: this.#votedFor,
      commitIndex: 0 as LogIndex,
    };
    const copy = new Durability(hardState, this.#snapshot, this.#durableIndex);
    for (const step of this.#pending) copy.#pending.push({ ...step });
    copy.#stalledTicks = this.#stalledTicks;
    return copy;
  }
}
