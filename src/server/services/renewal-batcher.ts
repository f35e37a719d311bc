/**
 * Gathers renewals so that many sessions share an entry: at most one renewal entry per interval and
 * group (law 8). The first renewal after a quiet interval leaves at once.
 *
 * Runs on every server: a follower gathers what its clients send and forwards one command; the
 * leader merges forwarded ones with its own. While nobody leads, renewals wait here, in one batch,
 * and not each in an attempt of its own: the next leader gets one entry, not one per interval.
 */

import type { Revision } from "../../base/brands.ts";
import type { Span } from "../../base/span.ts";
import type { RenewalAnswer } from "../../machine/shard/answers.ts";
import type { Renewal } from "../../machine/shard/commands.ts";
import type { Clock, Timers } from "../../replica/ports.ts";
import { isPassing, type SubmitFailure } from "../../replica/group-access.ts";
import type { ShardAccess } from "./cluster-groups.ts";
import { recordBytes } from "./records.ts";

/** Renewals of one entry; with 256 excepted spans each they stay below a message's bound. */
const BATCH_RENEWALS_MAX = 256;
/** Encoded bytes of one entry, about; a renewal with large exceptions travels with few others. */
const BATCH_BYTES_MAX = 128 * 1024;

export type RenewalOutcome =
  | {
      readonly kind: "answered";
      readonly revision: Revision;
      /** One for each renewal, in order. */
      readonly answers: readonly RenewalAnswer[];
    }
  | {
      readonly kind: "failed";
      readonly outcome: "notApplied" | "unknown";
      readonly reason: SubmitFailure;
    };

/** A sequence and a nonce, in their longest form. */
const PAIR_BYTES_MAX = 16;

/** Records of changes in one answer, about: below what peers accept as a forwarded result. */
const CHANGES_BYTES_MAX = 512 * 1024;
/** The lease terms in those answers, about: the two together fit a forwarded result. */
const TERMS_BYTES_MAX = 384 * 1024;

interface RenewalCall {
  readonly timeoutMs: number;
  /** It came from another server, and must not be forwarded again. */
  readonly isForwarded: boolean;
}

interface Waiting {
  readonly isForwarded: boolean;
  readonly renewals: readonly Renewal[];
  readonly bytes: number;
  readonly deadlineMs: number;
  /** In an entry that may be applied: a timeout is "unknown" then. */
  isSent: boolean;
  isSettled: boolean;
  readonly settle: (outcome: RenewalOutcome) => void;
}

export class RenewalBatcher {
  /** Renewals by how they ended, since the start of the process. */
  readonly counts: { extended: number; refused: number; failed: number } = {
    extended: 0,
    refused: 0,
    failed: 0,
  };
  readonly #access: ShardAccess;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #intervalMs: number;
  readonly #termsBytes: () => number;
  #waiting: Waiting[] = [];
  #lastSentMs = Number.NEGATIVE_INFINITY;
  #isPlanned = false;

  constructor(options: {
    readonly access: ShardAccess;
    readonly clock: Clock;
    readonly timers: Timers;
    readonly intervalMs: number;
    /** What the lease terms in one renewal's answer take, about. */
    readonly termsBytes?: () => number;
  }) {
    this.#access = options.access;
    this.#clock = options.clock;
    this.#timers = options.timers;
    this.#intervalMs = options.intervalMs;
    this.#termsBytes = options.termsBytes ?? (() => 0);
  }

  /** Renews sessions in one entry with others. Safe to repeat. Answers within the timeout. */
  renew(renewals: readonly Renewal[], call: RenewalCall): Promise<RenewalOutcome> {
    const { timeoutMs, isForwarded } = call;
    return new Promise((resolve) => {
      const cancelTimer = this.#timers.after(Math.max(0, timeoutMs), () => {
        const outcome = waiting.isSent ? "unknown" : "notApplied";
        const reason = waiting.isSent ? "deadlineExceeded" : "noLeader";
        waiting.settle({ kind: "failed", outcome, reason });
      });
      const waiting: Waiting = {
        isForwarded,
        renewals,
        bytes: renewals.reduce((sum, renewal) => sum + renewalBytes(renewal), 0),
        deadlineMs: this.#clock.nowMs() + timeoutMs,
        isSent: false,
        isSettled: false,
        settle: (outcome) => {
          if (waiting.isSettled) return;
          waiting.isSettled = true;
          cancelTimer();
          this.#count(waiting, outcome);
          resolve(outcome);
        },
      };
      this.#waiting.push(waiting);
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    const waitMs = this.#lastSentMs + this.#intervalMs - this.#clock.nowMs();
    const send = (): void => {
      this.#isPlanned = false;
      this.#send();
    };
    if (waitMs <= 0) this.#timers.soon(send);
    else this.#timers.after(waitMs, send);
  }

  #send(): void {
    this.#waiting = this.#waiting.filter(({ isSettled }) => !isSettled);
    if (!this.#access.isLeader) this.#returnForwarded(this.#waiting);
    if (this.#waiting.length === 0) return;
    this.#lastSentMs = this.#clock.nowMs();
    if (!this.#access.mayReachLeader()) {
      this.#plan();
      return;
    }
    const batch = this.#takeBatch();
    if (this.#waiting.length > 0) this.#plan();
    void this.#submit(batch);
  }

  /** A forwarded renewal that finds another leader goes back to where it came from. */
  #returnForwarded(from: readonly Waiting[]): void {
    this.#waiting = from.filter((waiting) => {
      if (waiting.isForwarded) {
        waiting.settle({ kind: "failed", outcome: "notApplied", reason: "notLeader" });
      }
      return !waiting.isForwarded;
    });
  }

  #takeBatch(): Waiting[] {
    let renewals = 0;
    let bytes = 0;
    let count = 0;
    // A leader's answers need not fit one message: each goes back to where it came from.
    const termsBytes = this.#access.isLeader ? 0 : this.#termsBytes();
    for (const waiting of this.#waiting) {
      renewals += waiting.renewals.length;
      bytes += waiting.bytes;
      const isTooMany = renewals > BATCH_RENEWALS_MAX || renewals * termsBytes > TERMS_BYTES_MAX;
      if (count > 0 && (isTooMany || bytes > BATCH_BYTES_MAX)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #submit(batch: readonly Waiting[]): Promise<void> {
    const renewals = batch.flatMap((waiting) => waiting.renewals);
    const endMs = Math.max(...batch.map(({ deadlineMs }) => deadlineMs));
    for (const waiting of batch) waiting.isSent = true;
    const request = { requestId: undefined, command: { kind: "renew", renewals } } as const;
    const outcome = await this.#access.submitOnce(request, endMs - this.#clock.nowMs());
    if (outcome.kind === "failed") {
      if (outcome.outcome === "notApplied" && isPassing(outcome.reason)) this.#sendAgain(batch);
      else for (const waiting of batch) waiting.settle(outcome);
      return;
    }
    const { revision, result } = outcome.answer;
    if (result.kind !== "renewed") {
      const failure = { kind: "failed", outcome: "unknown", reason: "badAnswer" } as const;
      for (const waiting of batch) waiting.settle(failure);
      return;
    }
    let at = 0;
    for (const waiting of batch) {
      const end = at + waiting.renewals.length;
      const answers = boundChanges(result.answers.slice(at, end), revision);
      waiting.settle({ kind: "answered", revision, answers });
      at = end;
    }
  }

  /** Certainly without effect: these go first when a leader is known. */
  #sendAgain(batch: readonly Waiting[]): void {
    for (const waiting of batch) waiting.isSent = false;
    this.#returnForwarded([...batch, ...this.#waiting]);
    this.#plan();
  }

  #count({ renewals }: Waiting, outcome: RenewalOutcome): void {
    if (outcome.kind === "failed") {
      this.counts.failed += renewals.length;
      return;
    }
    for (const { kind } of outcome.answers) {
      this.counts[kind === "extended" ? "extended" : "refused"]++;
    }
  }
}

/**
 * An answer whose changes weigh too much is cut short, and extends nothing: the owner refreshes its
 * view to this revision and renews again (law 8). Otherwise it would never get an answer at all.
 */
function boundChanges(
  answers: readonly RenewalAnswer[],
  revision: Revision,
): readonly RenewalAnswer[] {
  let room = CHANGES_BYTES_MAX;
  return answers.map((answer) => {
    if (answer.kind !== "extended") return answer;
    const bytes = answer.changes.reduce((sum, { range }) => sum + recordBytes(range), 0);
    if (bytes > room) return { kind: "viewTooOld", floor: revision };
    room -= bytes;
    return answer;
  });
}

function renewalBytes({ nodeId, except, known }: Renewal): number {
  return nodeId.length + 20 + exceptBytes(except) + (known.length + 1) * PAIR_BYTES_MAX;
}

/** Bytes that the excepted spans of a renewal take in its entry, about. */
export function exceptBytes(except: readonly Span[]): number {
  let bytes = 0;
  for (const { startKey, endKey } of except) bytes += startKey.length + (endKey?.length ?? 0) + 8;
  return bytes;
}
