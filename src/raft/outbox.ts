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
  Outbound,
  Output,
  Persist,
  Proposed,
  ReadReady,
  Refused,
  Transition,
} from "./output.ts";
import type { Entry } from "./types.ts";

const NOTHING: readonly never[] = Object.freeze([]);

export class Outbox {
  #sendNow: Outbound[] | undefined;
  #sendAfterPersist: Outbound[] | undefined;
  #readsReady: ReadReady[] | undefined;
  #proposed: Proposed[] | undefined;
  #refused: Refused[] | undefined;
  #transitions: Transition[] | undefined;
  /** Where this step truncated, and what it appended after that. At most one of each per step. */
  #truncateFrom: LogIndex | undefined;
  #appended: readonly Entry[] = NOTHING;

  get truncateFrom(): LogIndex | undefined {
    return this.#truncateFrom;
  }

  get appended(): readonly Entry[] {
    return this.#appended;
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

  transition(transition: Transition): void {
    (this.#transitions ??= []).push(transition);
  }

  /** Everything collected, and an empty outbox for the next step. */
  take(persist: Persist | undefined, committed: readonly Entry[] | undefined): Output {
    const output: Output = {
      persist,
      sendNow: this.#sendNow ?? NOTHING,
      sendAfterPersist: this.#sendAfterPersist ?? NOTHING,
      committed: committed ?? NOTHING,
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
    this.#transitions = undefined;
    this.#truncateFrom = undefined;
    this.#appended = NOTHING;
    return output;
  }
}
