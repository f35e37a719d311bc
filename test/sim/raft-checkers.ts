/**
 * The invariants of a whole group (SPEC.md: R1, R4, R5, R7, R11, R15 to R18, R20, R24), checked as
 * it runs. They see every replica and every simulated disk, which no replica does.
 *
 * Incremental: each step is compared with what is on record, never with all the history. Entries
 * are compared by identity: nothing in the simulation copies them.
 */

import { assert } from "../../src/base/assert.ts";
import type { LogIndex, ReplicaId, Term } from "../../src/base/brands.ts";
import type { RaftCore } from "../../src/raft/core.ts";
import type { Outbound, Output } from "../../src/raft/output.ts";
import { quorumSize } from "../../src/raft/quorum.ts";
import type { RaftStatus } from "../../src/raft/status.ts";
import type { Entry, LogPosition } from "../../src/raft/types.ts";
import type { SimDisk } from "./raft-disk.ts";

/** Log time is rounded down to whole ms. */
const ROUNDING_MS = 1;

interface KnownEntry {
  readonly entry: Entry;
  readonly prevTerm: number;
  /** Log time less true time less what clock jumps may have added, when it was stamped. */
  readonly driftMs: number;
}

export interface Observation {
  readonly core: RaftCore;
  readonly before: RaftStatus;
  readonly after: RaftStatus;
  readonly output: Output;
  readonly trueMs: number;
}

export class RaftCheckers {
  readonly #disks: ReadonlyMap<ReplicaId, SimDisk>;
  readonly #tickMs: number;
  readonly #leaders = new Map<number, ReplicaId>();
  readonly #votesSent = new Map<string, ReplicaId>();
  readonly #termsSent = new Map<ReplicaId, number>();
  readonly #known = new Map<string, KnownEntry>();
  /** The one committed sequence; index i is at i - 1. */
  readonly #committed: Entry[] = [];
  readonly #committedSet = new Set<Entry>();
  /** The term in which each of them was committed: its leader's, not always the entry's. */
  readonly #committedInTerm: number[] = [];
  #lowestDriftMs = Number.POSITIVE_INFINITY;
  #forwardJumps = 0;
  readonly #reads = new Map<number, number>();

  constructor(disks: ReadonlyMap<ReplicaId, SimDisk>, tickMs: number) {
    this.#disks = disks;
    this.#tickMs = tickMs;
  }

  get committedCount(): number {
    return this.#committed.length;
  }

  /** Reads that were neither answered nor refused nor lost with their replica. */
  get openReads(): readonly number[] {
    return [...this.#reads.keys()];
  }

  /** A test starts with this in some log; the first committedCount entries are committed. */
  preset(entries: readonly Entry[], committedCount: number): void {
    let prevTerm = 0;
    for (const entry of entries) {
      this.#known.set(`${entry.index}:${entry.term}`, { entry, prevTerm, driftMs: entry.timeMs });
      prevTerm = entry.term;
      if (entry.index > committedCount || entry.index <= this.#committed.length) continue;
      this.#committed.push(entry);
      this.#committedSet.add(entry);
      this.#committedInTerm.push(entry.term);
    }
  }

  clockJumped(): void {
    this.#forwardJumps++;
  }

  observe(step: Observation): void {
    this.#checkNewEntries(step);
    this.#checkLeader(step);
    this.#checkCommitted(step);
    this.#checkReads(step.output);
    this.#checkSnapshots(step);
  }

  /** A message really leaves: what it promises is on the sender's disk. */
  sending(from: ReplicaId, outbound: Outbound): void {
    const { message, to } = outbound;
    const disk = this.#disk(from);
    const { term, votedFor } = disk.hardState;
    assert(message.term <= term, "R7: a sent term is on disk");
    this.#termsSent.set(from, Math.max(message.term, this.#termsSent.get(from) ?? 0));
    const votes =
      message.kind === "requestVote" || (message.kind === "requestVoteReply" && message.granted);
    if (votes) {
      const choice = message.kind === "requestVote" ? from : to;
      assert(term > message.term || votedFor === choice, "R7: a sent vote is on disk");
      const key = `${from}:${message.term}`;
      assert((this.#votesSent.get(key) ?? choice) === choice, "R5: one vote per term, for ever");
      this.#votesSent.set(key, choice);
    }
    const isAck = message.kind === "appendEntriesReply" && message.result.kind === "accepted";
    if (isAck && term === message.term) {
      const { matchIndex } = message.result;
      assert(matchIndex <= disk.lastIndex, "R7: acknowledged entries are on disk");
    }
  }

  /** A replica starts from its disk: it knows all that it ever let out. */
  restarted(self: ReplicaId, core: RaftCore): void {
    assert(core.term >= (this.#termsSent.get(self) ?? 0), "R4: no sent term is forgotten");
    const { commitIndex, snapshotIndex, deliveredIndex, appliedIndex } = core.status();
    assert(commitIndex <= this.#committed.length, "R17: a restored commit index is true");
    const isAtSnapshot = deliveredIndex === snapshotIndex && appliedIndex === snapshotIndex;
    assert(isAtSnapshot, "R21: a machine starts where its snapshot stands");
    this.#checkPosition(core.base);
    for (const position of core.snapshotsInUse) this.#checkPosition(position);
    for (let index = core.base.index + 1; index <= commitIndex; index++) {
      this.#checkSame(core, index);
    }
  }

  /**
   * A disk has lost this entry for good, by a step of this term. A replica that follows a leader of
   * the past may lose it while a later leader commits it with others; none in that term or after.
   */
  truncated(entry: Entry, byTerm: Term): void {
    if (!this.#committedSet.has(entry)) return;
    assert(this.#isOnQuorum(entry), "R17: what is committed stays durable on a quorum");
    const committedIn = this.#committedInTerm[entry.index - 1] ?? 0;
    assert(
      byTerm < committedIn,
      "R17: nobody deletes what its own term or an earlier one committed",
    );
  }

  readStarted(readId: number): void {
    assert(!this.#reads.has(readId), "readIds are fresh");
    this.#reads.set(readId, this.#committed.length);
  }

  readLost(readId: number): void {
    this.#reads.delete(readId);
  }

  #checkNewEntries({ core, after, output, trueMs }: Observation): void {
    for (const entry of output.persist?.entries ?? []) {
      const prevTerm = core.termAt((entry.index - 1) as LogIndex) ?? -1;
      const key = `${entry.index}:${entry.term}`;
      const known = this.#known.get(key);
      if (known !== undefined) {
        assert(known.entry === entry, "R15: one entry per index and term");
        assert(known.prevTerm === prevTerm, "R15: equal entries have equal predecessors");
        continue;
      }
      assert(after.role === "leader" && entry.term === after.term, "only leaders make entries");
      const driftMs = entry.timeMs - trueMs - this.#forwardJumps * 2 * this.#tickMs;
      this.#known.set(key, { entry, prevTerm, driftMs });
    }
  }

  #checkLeader({ core, before, after }: Observation): void {
    if (after.role !== "leader") return;
    const known = this.#leaders.get(after.term);
    assert(known === undefined || known === after.self, "R1: one leader per term");
    this.#leaders.set(after.term, after.self);
    if (before.role !== "leader") {
      // A late vote can still make a leader of an earlier term, which cannot commit any more.
      this.#committedInTerm.forEach((term, at) => {
        if (term < after.term) this.#checkSame(core, at + 1);
      });
    }
    for (const { peer, matchIndex } of after.progress) {
      const disk = this.#disk(peer);
      if (matchIndex === 0 || disk.hardState.term !== after.term) continue;
      // What either of them has compacted away is committed, and checked as such.
      if (matchIndex <= Math.max(disk.base.index, core.base.index)) continue;
      const held = disk.entryAt(matchIndex);
      assert(held === entryAt(core, matchIndex), "R11: what counts as matching is durable there");
    }
  }

  #isOnQuorum(entry: Entry): boolean {
    let copies = 0;
    for (const disk of this.#disks.values()) {
      if (disk.entryAt(entry.index) === entry || disk.base.index >= entry.index) copies++;
    }
    return copies >= quorumSize(this.#disks.size);
  }

  #checkCommitted({ core, before, after }: Observation): void {
    for (let index = before.commitIndex + 1; index <= after.commitIndex; index++) {
      if (index <= this.#committed.length) {
        this.#checkSame(core, index);
        continue;
      }
      const entry = entryAt(core, index);
      assert(entry !== undefined, "R8: who commits first has the entry");
      assert(this.#isOnQuorum(entry), "R17: committed is durable on a quorum");
      assert(after.role === "leader", "R11: only a leader is the first to commit");
      this.#committed.push(entry);
      this.#committedInTerm.push(after.term);
      this.#committedSet.add(entry);
      this.#checkLogTime(entry);
    }
  }

  #checkLogTime(entry: Entry): void {
    const known = this.#known.get(`${entry.index}:${entry.term}`);
    assert(known !== undefined, "every entry was seen when it was made");
    const gainedMs = known.driftMs - this.#lowestDriftMs;
    assert(!(gainedMs > ROUNDING_MS), "R20: log time runs no faster than true time");
    this.#lowestDriftMs = Math.min(this.#lowestDriftMs, known.driftMs);
  }

  #checkReads({ readsReady, refused }: Output): void {
    for (const { readId, readIndex } of readsReady) {
      const floor = this.#reads.get(readId);
      assert(floor !== undefined, "each read is answered once");
      assert(readIndex >= floor, "R18: a read covers all that was committed when it began");
      assert(readIndex <= this.#committed.length, "R14: a read index is committed");
      this.#reads.delete(readId);
    }
    for (const { kind, id } of refused) {
      if (kind !== "read") continue;
      assert(this.#reads.has(id), "each read is answered once");
      this.#reads.delete(id);
    }
  }

  /** A received snapshot is checked as a position: the entries below it were never here. */
  #checkSnapshots({ output }: Observation): void {
    const { persist, install, fetches, sendNow } = output;
    const positions = [persist?.base, persist?.snapshot, install];
    for (const { position } of fetches) positions.push(position);
    for (const { message } of sendNow) {
      if (message.kind === "snapshotOffer") positions.push(message.position);
    }
    for (const position of positions) if (position !== undefined) this.#checkPosition(position);
  }

  #checkPosition({ index, term, timeMs }: LogPosition): void {
    if (index === 0) return;
    const committed = this.#committed[index - 1];
    assert(
      committed?.term === term && committed.timeMs === timeMs,
      "R24: snapshots stand at committed entries",
    );
  }

  #checkSame(core: RaftCore, index: number): void {
    if (index <= core.base.index) return;
    const committed = this.#committed[index - 1];
    assert(entryAt(core, index) === committed, "R16, R17: what is committed stays the same");
  }

  #disk(replica: ReplicaId): SimDisk {
    const disk = this.#disks.get(replica);
    assert(disk !== undefined, "every voter has a disk");
    return disk;
  }
}

function entryAt(core: RaftCore, index: number): Entry | undefined {
  return core.entryAt(index as LogIndex);
}
