/**
 * Through whom a request reaches a leader that is out of this server's reach: in a network that is
 * whole in parts only, another server may see both. Whether one does is tried by single requests;
 * the one that does is kept for as long as it does.
 */

import type { MonotonicMs, ServerId } from "../base/brands.ts";

/** By then an election is over: there is no leader for anybody, or only none for this server. */
const MISSED_MS_MIN = 1_000;
/** A miss that no other followed for so long belongs to something that is past. */
const MISS_FORGOTTEN_MS = 3_000;
const TRY_EVERY_MS = 250;
/** A request that it does not answer ends as unknown: rarely, but the way back must be found. */
const ASK_ITSELF_EVERY_MS = 5_000;

export class Relays {
  readonly #others: readonly ServerId[];
  /** Since when the leader is unknown, or is not reached; undefined: it is. */
  #missedSinceMs: MonotonicMs | undefined;
  #lastMissedMs = Number.NEGATIVE_INFINITY;
  /** The leader, as this server knows it, that was not reached; undefined: it knows none. */
  #unreached: ServerId | undefined;
  #askedItselfAtMs = Number.NEGATIVE_INFINITY;
  #kept: ServerId | undefined;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #next = 0;

  constructor(others: readonly ServerId[]) {
    this.#others = others;
  }

  onLeaderReached(): void {
    this.#missedSinceMs = undefined;
    this.#unreached = undefined;
    this.#kept = undefined;
  }

  /** undefined: this server knows of none. */
  onLeaderMissed(leader: ServerId | undefined, nowMs: MonotonicMs): void {
    if (nowMs - this.#lastMissedMs > MISS_FORGOTTEN_MS) this.#missedSinceMs = undefined;
    this.#missedSinceMs ??= nowMs;
    this.#lastMissedMs = nowMs;
    this.#unreached = leader;
  }

  /** Whether some server may be asked in the leader's place now. */
  isDue(nowMs: MonotonicMs): boolean {
    if (this.#missedSinceMs === undefined) return false;
    if (nowMs - this.#lastMissedMs > MISS_FORGOTTEN_MS) return false;
    if (nowMs - this.#missedSinceMs < MISSED_MS_MIN) return false;
    return this.#kept !== undefined || nowMs - this.#triedAtMs >= TRY_EVERY_MS;
  }

  /**
   * Which one; undefined: none, for now. One that is tried is not tried again for a while. A leader
   * that is known is asked itself if it is news, and else now and then.
   */
  choose(leader: ServerId | undefined, nowMs: MonotonicMs): ServerId | undefined {
    if (leader !== undefined && leader !== this.#unreached) this.onLeaderReached();
    if (!this.isDue(nowMs)) return undefined;
    if (leader !== undefined && nowMs - this.#askedItselfAtMs >= ASK_ITSELF_EVERY_MS) {
      this.#askedItselfAtMs = nowMs;
      return undefined;
    }
    if (this.#kept !== undefined) return this.#kept;
    this.#triedAtMs = nowMs;
    const possible = this.#others.filter((other) => other !== leader);
    return possible[this.#next++ % possible.length];
  }

  /** Whether the leader has answered through that server: for so long it is missed, too. */
  onRelayed(through: ServerId, wasAnswered: boolean, nowMs: MonotonicMs): void {
    if (wasAnswered) {
      this.#kept = through;
      this.#lastMissedMs = nowMs;
    } else if (this.#kept === through) this.#kept = undefined;
  }
}
