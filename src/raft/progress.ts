/**
 * What a leader knows of one follower, and what it may send to it next.
 *
 * Three modes. *probe*: nextIndex is a guess, one append is under way until it is answered.
 * *replicate*: the follower's log is known to match up to matchIndex, appends stream ahead of
 * their answers within a window, and nextIndex moves on as they are sent. *snapshot*: what it lacks
 * was compacted away; it is offered a snapshot and sent no appends until it says that it goes on
 * from there, or that it needs none.
 *
 * Invariant (R12): 0 <= matchIndex < nextIndex <= last index + 1, and in replicate mode the
 * appends under way cover exactly (matchIndex, nextIndex - 1].
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, ReplicaId } from "../base/brands.ts";
import type { LogPosition } from "./types.ts";

export type ProgressMode = "probe" | "replicate" | "snapshot";

const MODE_NUMBERS: Readonly<Record<ProgressMode, number>> = {
  probe: 0,
  replicate: 1,
  snapshot: 2,
};

export class Progress {
  readonly peer: ReplicaId;
  #mode: ProgressMode = "probe";
  /** Durable at the follower, by an answer of this term. Never decreases. */
  #matchIndex = 0 as LogIndex;
  #nextIndex: LogIndex;
  /** Last index of each append under way, ascending. Only in replicate mode. */
  #inflight: LogIndex[] = [];
  /** An append of probe mode is not answered yet. */
  #probeOutstanding = false;
  /** Only in snapshot mode. */
  #offered: LogPosition | undefined;
  /** It was brought up with a snapshot in this term. */
  #isBroughtUp = false;
  /** A heartbeat interval passed without an answer to what is under way: ask again. */
  #resendDue = false;
  /** An append was acknowledged since the last heartbeat was sent. */
  #heardAck = false;
  /** Ticks since the follower last answered in this term. */
  contactElapsedTicks = 0;
  /** Highest read round that it has confirmed. */
  ackedRound = 0;
  /** Highest commit index that it has been told, as far as sending tells. */
  toldCommitIndex = 0 as LogIndex;

  constructor(peer: ReplicaId, nextIndex: LogIndex) {
    assert(nextIndex >= 1, "nextIndex is above matchIndex (R12)");
    this.peer = peer;
    this.#nextIndex = nextIndex;
  }

  get mode(): ProgressMode {
    return this.#mode;
  }

  get matchIndex(): LogIndex {
    return this.#matchIndex;
  }

  get nextIndex(): LogIndex {
    return this.#nextIndex;
  }

  get inflightMessages(): number {
    switch (this.#mode) {
      case "probe":
        return Number(this.#probeOutstanding);
      case "replicate":
        return this.#inflight.length;
      case "snapshot":
        return 0;
    }
  }

  /** The snapshot that this follower is being brought up with; undefined but in snapshot mode. */
  get offeredSnapshot(): LogPosition | undefined {
    return this.#offered;
  }

  /**
   * What follows this entry must be kept for the follower, or the snapshot that it is brought up
   * with would be for nothing: while it is on its way, and while the follower catches up from it.
   */
  get neededIndex(): LogIndex | undefined {
    return this.#offered?.index ?? (this.#isBroughtUp ? this.#matchIndex : undefined);
  }

  /** Whether an append with entries may leave now. */
  mayAppend(windowMessages: number): boolean {
    switch (this.#mode) {
      case "probe":
        return !this.#probeOutstanding;
      case "replicate":
        return this.#inflight.length < windowMessages;
      case "snapshot":
        return false;
    }
  }

  /** An append with entries up to lastIndex (or none, as a probe) has been sent. */
  sent(lastIndex: LogIndex): void {
    assert(this.#mode !== "snapshot", "who awaits a snapshot is sent no appends");
    if (this.#mode === "probe") {
      this.#probeOutstanding = true;
      return;
    }
    assert(lastIndex >= this.#nextIndex, "only appends with entries take a place in the window");
    this.#inflight.push(lastIndex);
    this.#nextIndex = (lastIndex + 1) as LogIndex;
  }

  /** A snapshot at this position was offered, perhaps once more. */
  offered(position: LogPosition): void {
    this.#mode = "snapshot";
    this.#offered = position;
    this.#inflight = [];
    this.#probeOutstanding = false;
    this.#resendDue = false;
  }

  /**
   * The follower holds everything up to matchIndex durably. True when that was news, or ended a
   * probe. A late answer can be below what is known already. baseIndex is where our log begins:
   * who holds it needs no snapshot.
   */
  accepted(matchIndex: LogIndex, baseIndex: LogIndex): boolean {
    const isNews = matchIndex > this.#matchIndex;
    if (isNews) {
      this.#matchIndex = matchIndex;
      this.#heardAck = true;
    }
    if (this.#mode === "snapshot") return this.#acceptedWhileOffered(baseIndex, isNews);
    if (this.#mode === "probe") {
      if (!isNews && matchIndex < this.#nextIndex - 1) return false;
      this.#mode = "replicate";
      this.#probeOutstanding = false;
      this.#nextIndex = (this.#matchIndex + 1) as LogIndex;
      return true;
    }
    while (this.#inflight.length > 0 && (this.#inflight[0] as number) <= matchIndex) {
      this.#inflight.shift();
    }
    if (this.#nextIndex <= matchIndex) this.#nextIndex = (matchIndex + 1) as LogIndex;
    return isNews;
  }

  /**
   * It has installed the snapshot, or its log went far enough anyway. If our log begins later by
   * now, it needs another snapshot.
   */
  #acceptedWhileOffered(baseIndex: LogIndex, isNews: boolean): boolean {
    const holdsOffered = this.#matchIndex >= (this.#offered?.index ?? 0);
    this.#nextIndex = (this.#matchIndex + 1) as LogIndex;
    if (this.#matchIndex < baseIndex && !holdsOffered) return isNews;
    this.startProbing();
    if (this.#matchIndex >= baseIndex) {
      this.#mode = "replicate";
      this.#isBroughtUp = true;
    }
    return true;
  }

  /**
   * The follower's log does not match at prevIndex; retryIndex is where it may, by its hint. Only
   * the answer to the append under way counts: late ones would undo the backtracking. True when it
   * counted, and a new probe is due.
   */
  rejected(prevIndex: LogIndex, retryIndex: LogIndex): boolean {
    if (prevIndex <= this.#matchIndex || this.#mode === "snapshot") return false;
    if (this.#mode === "replicate") {
      this.startProbing();
      return true;
    }
    if (prevIndex !== this.#nextIndex - 1) return false;
    const next = Math.min(prevIndex, retryIndex + 1);
    this.#nextIndex = Math.max(next, this.#matchIndex + 1) as LogIndex;
    this.#probeOutstanding = false;
    return true;
  }

  /** Back to one append at a time, from what is known to match. */
  startProbing(): void {
    this.#mode = "probe";
    this.#offered = undefined;
    this.#inflight = [];
    this.#probeOutstanding = false;
    this.#resendDue = false;
    this.#nextIndex = (this.#matchIndex + 1) as LogIndex;
  }

  /** The connection broke: appends under way may be lost. A snapshot comes by another way. */
  disconnected(): void {
    if (this.#mode !== "snapshot") this.startProbing();
  }

  /** A heartbeat is sent: what is under way without a sign since the last one may be lost. */
  heartbeatSent(): void {
    const isOpen = this.inflightMessages > 0 || this.#mode === "snapshot";
    if (isOpen && !this.#heardAck) this.#resendDue = true;
    this.#heardAck = false;
  }

  /** Whether to ask again, once per heartbeat: the follower lives and has left something open. */
  takeResend(): boolean {
    const isOpen = this.inflightMessages > 0 || this.#mode === "snapshot";
    const isDue = this.#resendDue && isOpen;
    this.#resendDue = false;
    return isDue;
  }

  /** The state as numbers, for the canonical form. */
  get parts(): readonly number[] {
    return [
      this.peer,
      MODE_NUMBERS[this.#mode],
      this.#offered?.index ?? 0,
      Number(this.#isBroughtUp),
      this.#matchIndex,
      this.#nextIndex,
      Number(this.#probeOutstanding),
      Number(this.#resendDue),
      Number(this.#heardAck),
      this.contactElapsedTicks,
      this.ackedRound,
      this.toldCommitIndex,
      ...this.#inflight,
    ];
  }

  clone(): Progress {
    const copy = new Progress(this.peer, this.#nextIndex);
    copy.#mode = this.#mode;
    copy.#matchIndex = this.#matchIndex;
    copy.#inflight = [...this.#inflight];
    copy.#probeOutstanding = this.#probeOutstanding;
    copy.#offered = this.#offered;
    copy.#isBroughtUp = this.#isBroughtUp;
    copy.#resendDue = this.#resendDue;
    copy.#heardAck = this.#heardAck;
    copy.contactElapsedTicks = this.contactElapsedTicks;
    copy.ackedRound = this.ackedRound;
    copy.toldCommitIndex = this.toldCommitIndex;
    return copy;
  }
}
