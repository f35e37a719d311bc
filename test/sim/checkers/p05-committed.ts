/**
 * Property 5: what is committed is durable on a quorum when the first replica calls it so, is the
 * same everywhere, and stays so, whatever single disks cut off.
 * Property 7, its first half: only a leader is the first to commit, by an entry of its own term.
 */

import type { LogIndex, ServerId } from "../../../src/base/brands.ts";
import { quorumSize } from "../../../src/raft/quorum.ts";
import type { Entry } from "../../../src/raft/types.ts";
import { sameEntry } from "../entries.ts";
import type { GroupHistory, Step } from "../group-history.ts";
import { must } from "../must.ts";
import type { DurableLog } from "../store-model.ts";

export class CommittedChecker {
  readonly #history: GroupHistory;
  readonly #disks: () => readonly DurableLog[];
  readonly #onCommitted: (entry: Entry) => void;

  /** `onCommitted` is told of each entry once, in order. */
  constructor(options: {
    readonly history: GroupHistory;
    /** Of all voters. */
    readonly disks: () => readonly DurableLog[];
    readonly onCommitted: (entry: Entry) => void;
  }) {
    this.#history = options.history;
    this.#disks = options.disks;
    this.#onCommitted = options.onCommitted;
  }

  onStep({ before, after, core, server }: Step): void {
    if (after.commitIndex === before.commitIndex) return;
    const history = this.#history;
    const isFirst = after.commitIndex > history.committedIndex;
    if (isFirst) {
      const byCount = core.entryAt(after.commitIndex);
      const isLeader = after.role === "leader";
      must(isLeader, 7, `server ${server} is the first to commit, and does not lead`);
      must(byCount?.term === after.term, 7, `an entry of term ${byCount?.term} is counted`);
    }
    for (let index = before.commitIndex + 1; index <= after.commitIndex; index++) {
      const entry = core.entryAt(index as LogIndex);
      if (index <= history.committedIndex) this.#checkSame(server, index, entry);
      else this.#commit(entry, index, after.term);
    }
  }

  onRestart(server: ServerId, commitIndex: number, entryAt: (index: number) => Entry | undefined) {
    const { committedIndex } = this.#history;
    must(commitIndex <= committedIndex, 5, `${commitIndex} was never committed`);
    for (let index = 1; index <= commitIndex; index++) {
      this.#checkSame(server, index, entryAt(index));
    }
  }

  /**
   * A disk has lost these by a truncation in this term. A replica that follows a leader of the past
   * may lose them while a later leader commits them with others; none in that term or after.
   */
  onCut(entries: readonly Entry[], byTerm: number): void {
    const history = this.#history;
    for (const entry of entries.filter((one) => history.isCommitted(one))) {
      const what = `committed ${entry.term}/${entry.index}`;
      must(this.#copies(entry) >= this.#needed(), 5, `${what} is not durable on a quorum any more`);
      const committedIn = history.committedInTerm[entry.index - 1] ?? 0;
      must(byTerm < committedIn, 5, `${what} of term ${committedIn} is cut off in term ${byTerm}`);
    }
  }

  #commit(entry: Entry | undefined, index: number, term: number): void {
    must(entry !== undefined, 6, `${index} is committed, and the log is shorter`);
    const copies = this.#copies(entry);
    const isSafe = copies >= this.#needed();
    must(isSafe, 5, `${entry.term}/${index} is committed with ${copies} durable copies`);
    this.#history.committed.push(entry);
    this.#history.committedInTerm.push(term);
    this.#onCommitted(entry);
  }

  #needed(): number {
    return quorumSize(this.#disks().length);
  }

  #copies(entry: Entry): number {
    const holders = this.#disks().filter(
      (disk) => disk.base.index >= entry.index || sameEntry(disk.entryAt(entry.index), entry),
    );
    return holders.length;
  }

  /** Below a replica's base there is nothing to compare. */
  #checkSame(server: ServerId, index: number, entry: Entry | undefined): void {
    if (entry === undefined) return;
    const isSame = sameEntry(entry, this.#history.committedAt(index));
    must(isSame, 5, `server ${server} has another entry at ${index} than was committed`);
  }
}
