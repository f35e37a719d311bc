/**
 * Collects what a step decides, and hands it over as an Output.
 *
 * Lists come into being with their first element; an Output without them shares one frozen empty
 * list, so that a step that does little allocates little.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, ReplicaId } from "../base/brands.ts";
import type { Message } from "./messages.ts";
import type {
  Fetch,
  Outbound,
  Output,
  Persist,
  Proposed,
  ReadReady,
  Refused,
  Transition,
} from "./output.ts";
import type { Entry, LogPosition } from "./types.ts";

const NOTHING: readonly never[] = Object.freeze([]);

export class Outbox {
  #sendNow: Outbound[] | undefined;
  #sendAfterPersist: Outbound[] | undefined;
  #readsReady: ReadReady[] | undefined;
  #proposed: Proposed[] | undefined;
  #refused: Refused[] | undefined;
  #fetches: Fetch[] | undefined;
  #transitions: Transition[] | undefined;
  /** Where this step truncated, and what it appended after that. At most one of each per step. */
  #truncateFrom: LogIndex | undefined;
  #appended: readonly Entry[] = NOTHING;
  #snapshot: LogPosition | undefined;
  #base: LogPosition | undefined;

  get truncateFrom(): LogIndex | undefined {
    return this.#truncateFrom;
  }

  get appended(): readonly Entry[] {
    return this.#appended;
  }

  get newSnapshot(): LogPosition | undefined {
    return this.#snapshot;
  }

  get newBase(): LogPosition | undefined {
    return this.#base;
  }

  /** The snapshot to start from moves, and with it perhaps the beginning of the log. */
  snapshot(position: LogPosition, base: LogPosition | undefined): void {
    assert(this.#snapshot === undefined, "a step moves the snapshot at most once");
    this.#snapshot = position;
    this.#base = base;
  }

  truncate(fromIndex: LogIndex): void {
    assert(this.#truncateFrom === undefined, "a step truncates at most once");
    assert(this.#appended.length === 0, "a step truncates before it appends");
    this.#truncateFrom = fromIndex;
  }

  append(entries: readonly Entry[]): void {
    assert(this.#appended.length === 0, "a step appends at most once");
    this.#appended = entries;
  }

  sendNow(to: ReplicaId, message: Message): void {
    (this.#sendNow ??= []).push({ to, message });
  }

  sendAfterPersist(to: ReplicaId, message: Message): void {
    (this.#sendAfterPersist ??= []).push({ to, message });
  }

  readReady(ready: ReadReady): void {
    (this.#readsReady ??= []).push(ready);
  }

  proposed(proposed: Proposed): void {
    (this.#proposed ??= []).push(proposed);
  }

  refused(refused: Refused): void {
    (this.#refused ??= []).push(refused);
  }

  fetch(fetch: Fetch): void {
    (this.#fetches ??= []).push(fetch);
  }

  transition(transition: Transition): void {
    (this.#transitions ??= []).push(transition);
  }

  /** Everything collected, and an empty outbox for the next step. */
  take(
    persist: Persist | undefined,
    delivery: { readonly install?: LogPosition; readonly committed?: readonly Entry[] },
  ): Output {
    const output: Output = {
      persist,
      sendNow: this.#sendNow ?? NOTHING,
      sendAfterPersist: this.#sendAfterPersist ?? NOTHING,
      install: delivery.install,
      fetches: this.#fetches ?? NOTHING,
      committed: delivery.committed ?? NOTHING,
      readsReady: this.#readsReady ?? NOTHING,
      proposed: this.#proposed ?? NOTHING,
      refused: this.#refused ?? NOTHING,
      transitions: this.#transitions ?? NOTHING,
    };
    this.#sendNow = undefined;
    this.#sendAfterPersist = undefined;
    this.#readsReady = undefined;
    this.#proposed = undefined;
    this.#refused = undefined;
    this.#fetches = undefined;
    this.#transitions = undefined;
    this.#snapshot = undefined;
    this.#base = undefined;
    this.#truncateFrom = undefined;
    this.#appended = NOTHING;
    return output;
  }
}
