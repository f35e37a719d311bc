/**
 * Carries the durable part of Outputs out in order: writes start at once, and messages that depend
 * on a write leave when it, and all before it, are on disk.
 */

import type { GroupId } from "../base/brands.ts";
import type { Outbound, Output, Persist } from "../raft/output.ts";
import type { LogStore } from "./ports.ts";

export interface OutputQueueOptions {
  readonly group: GroupId;
  readonly store: LogStore;
  readonly send: (messages: readonly Outbound[]) => void;
  /** The step is durable; called before the messages that waited for it are sent. */
  readonly onPersisted: (step: Persist) => void;
}

interface Write {
  readonly step: Persist;
  /** Leave when the write is durable; later outputs without a write of their own add theirs. */
  readonly messages: Outbound[];
}

export class OutputQueue {
  readonly #options: OutputQueueOptions;
  /** Under way, oldest first. */
  readonly #writes: Write[] = [];

  constructor(options: OutputQueueOptions) {
    this.#options = options;
  }

  push({ persist, sendNow, sendAfterPersist }: Output): void {
    if (persist !== undefined) this.#write(persist, sendAfterPersist);
    if (sendNow.length > 0) this.#options.send(sendNow);
    if (persist !== undefined || sendAfterPersist.length === 0) return;
    const last = this.#writes.at(-1);
    if (last === undefined) this.#options.send(sendAfterPersist);
    else last.messages.push(...sendAfterPersist);
  }

  #write(step: Persist, messages: readonly Outbound[]): void {
    const { group, store } = this.#options;
    const { hardState, truncateFrom, base, snapshot, entries } = step;
    this.#writes.push({ step, messages: [...messages] });
    const onDurable = (): void => this.#onDurable();
    store.submit({ group, hardState, truncateFrom, base, snapshot, entries, onDurable });
  }

  #onDurable(): void {
    const write = this.#writes.shift();
    if (write === undefined) return;
    this.#options.onPersisted(write.step);
    if (write.messages.length > 0) this.#options.send(write.messages);
  }
}
