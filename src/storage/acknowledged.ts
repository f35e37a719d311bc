/**
 * Keeps the second durable record (acknowledged-file.ts) up with the log store, and judges a log
 * store by it.
 *
 * A changed term or vote is written at once, after the log store's own write and before anything
 * that depends on it is told: so the record is never ahead of the log store, whenever a crash
 * comes. Indexes are written up to a second late, and nothing waits for them.
 */

import type { GroupId } from "../base/brands.ts";
import type { Timers } from "../replica/ports.ts";
import {
  type Acknowledged,
  type AcknowledgedContent,
  type AcknowledgedSlot,
  writeSlot,
} from "./acknowledged-file.ts";
import { StorageError } from "./errors.ts";
import type { FileStore } from "./files.ts";
import type { GroupLog } from "./group-log.ts";

/** How late an index may be (law 30). */
const LATE_MS_MAX = 1_000;

/** What a group has acknowledged when this is durable, and told. */
export function acknowledgedOf(log: GroupLog): Acknowledged {
  const { group, hardState, lastIndex } = log;
  const { term, votedFor } = hardState;
  const isOfTerm = log.termAt(lastIndex) === term;
  return { group, term, votedFor, index: isOfTerm ? lastIndex : NO_INDEX };
}

const NO_INDEX = 0 as GroupLog["lastIndex"];

/**
 * Throws `foreign` when the record is of another store, `regressed` when a log is behind what the
 * record says that it acknowledged.
 */
export function judgeLogs(
  slot: AcknowledgedSlot,
  found: {
    readonly dir: string;
    readonly storeUuid: string;
    readonly logs: ReadonlyMap<GroupId, GroupLog>;
  },
): void {
  const { dir, storeUuid, logs } = found;
  if (slot.storeUuid !== storeUuid) {
    const what = `${dir} holds the log store ${storeUuid} and the record of ${slot.storeUuid}`;
    throw new StorageError("foreign", { dir, what });
  }
  for (const { group } of logs.values()) {
    if (slot.groups.some((one) => one.group === group)) continue;
    const what = `the record of what was acknowledged in ${dir} knows no group ${group}`;
    throw new StorageError("foreign", { dir, what, place: { group, index: undefined } });
  }
  for (const told of slot.groups) {
    const log = logs.get(told.group);
    const lag = log === undefined ? "there is no such group" : lagOf(acknowledgedOf(log), told);
    if (lag === undefined) continue;
    const { group, term, index } = told;
    const what =
      `the log store in ${dir} fell back: group ${group} acknowledged ` +
      `index ${index} in term ${term}, and now ${lag}`;
    throw new StorageError("regressed", { dir, what, place: { group, index } });
  }
}

/** How what is now is behind what was told, in words; undefined when it is not. */
export function lagOf(
  now: Omit<Acknowledged, "group">,
  told: Omit<Acknowledged, "group">,
): string | undefined {
  if (now.term > told.term) return undefined;
  if (now.term < told.term) return `its term is ${now.term}`;
  if (told.votedFor !== undefined && now.votedFor !== told.votedFor) {
    return `its vote for ${told.votedFor} is gone`;
  }
  return now.index < told.index ? `its log of that term ends at ${now.index}` : undefined;
}

export interface AcknowledgementsOptions {
  readonly files: FileStore;
  readonly timers: Pick<Timers, "after">;
  readonly content: AcknowledgedContent;
  /** Of every group, as the log store has it. */
  readonly groups: readonly Acknowledged[];
  /** A write was rejected: the file must not be written any more, and nothing be told. */
  readonly onRejected: (error: unknown) => void;
}

export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  readonly #groups = new Map<GroupId, Acknowledged>();
  #number: number;
  /** Counts changes; what each of the last two slots holds is told by the count at its write. */
  #changes = 1;
  #lastWrittenChanges = 0;
  #otherWrittenChanges = 0;
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | undefined;
  #isEnded = false;

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
    this.#number = options.content.slot.number;
    for (const one of options.groups) this.#groups.set(one.group, one);
    const { slot, isTwofold } = options.content;
    const isKnown = slot.groups.every((told) => isSame(this.#groups.get(told.group), told));
    if (!isKnown) return;
    this.#lastWrittenChanges = this.#changes;
    if (isTwofold) this.#otherWrittenChanges = this.#changes;
  }

  /**
   * What became durable in the log store, in that order. Answers whether it must be written before
   * it is told; if not, it is written within a second.
   */
  note(durable: readonly Acknowledged[]): boolean {
    let isUrgent = false;
    for (const one of durable) {
      const before = this.#groups.get(one.group);
      if (isSame(before, one)) continue;
      isUrgent ||= before?.term !== one.term || before.votedFor !== one.votedFor;
      this.#groups.set(one.group, one);
      this.#changes++;
    }
    this.#planWrite();
    return isUrgent;
  }

  /** Resolves when all that was noted is durable in one slot. Rejects like `onRejected`. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      if (this.#isEnded || this.#lastWrittenChanges === this.#changes) return;
      await this.#writeSlot();
    });
    return this.#writing;
  }

  /** Resolves when both slots hold all that was noted. */
  async settle(): Promise<void> {
    await this.write();
    this.#writing = this.#writing.then(async () => {
      if (!this.#isEnded && this.#otherWrittenChanges < this.#changes) await this.#writeSlot();
    });
    await this.#writing;
  }

  /** Writes nothing any more. */
  end(): void {
    this.#isEnded = true;
    this.#cancelTimer?.();
  }

  async #writeSlot(): Promise<void> {
    const { files, content } = this.#options;
    const changes = this.#changes;
    const groups = [...this.#groups.values()].toSorted((a, b) => a.group - b.group);
    const number = ++this.#number;
    const slot = { number, storeUuid: content.slot.storeUuid, groups };
    await writeSlot(files, slot, content.slotBytes);
    this.#otherWrittenChanges = this.#lastWrittenChanges;
    this.#lastWrittenChanges = changes;
    this.#planWrite();
  }

  /** Both slots follow, one after the other, each a second after the last or after a change. */
  #planWrite(): void {
    if (this.#isEnded || this.#cancelTimer !== undefined) return;
    if (this.#otherWrittenChanges === this.#changes) return;
    this.#cancelTimer = this.#options.timers.after(LATE_MS_MAX, () => {
      this.#cancelTimer = undefined;
      this.#writing = this.#writing.then(() => (this.#isEnded ? undefined : this.#writeSlot()));
      this.#writing.catch((error: unknown) => this.#options.onRejected(error));
    });
  }
}

function isSame(one: Acknowledged | undefined, other: Acknowledged): boolean {
  return one?.term === other.term && one.votedFor === other.votedFor && one.index === other.index;
}
