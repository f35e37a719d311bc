/**
 * Gathers renewals so that many sessions share an entry: at most one renewal entry per interval and
 * group (law 8). The first renewal after a quiet interval leaves at once.
 *
 * Runs on every server: a follower gathers what its clients send and forwards one command; the
 * leader merges forwarded ones with its own.
 */

import type { Revision } from "../../base/brands.ts";
import type { RenewalAnswer } from "../../machine/shard/answers.ts";
import type { Renewal } from "../../machine/shard/commands.ts";
import type { Clock, Timers } from "../../replica/ports.ts";
import type { SubmitFailure } from "../../replica/group-access.ts";
import type { ShardAccess } from "./cluster-groups.ts";

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

interface Waiting {
  /** It came from another server, and must not be forwarded again. */
  readonly isForwarded: boolean;
  readonly renewals: readonly Renewal[];
  readonly bytes: number;
  readonly timeoutMs: number;
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
  #waiting: Waiting[] = [];
  #lastSentMs = Number.NEGATIVE_INFINITY;
  #isPlanned = false;

  constructor(options: {
    readonly access: ShardAccess;
    readonly clock: Clock;
    readonly timers: Timers;
    readonly intervalMs: number;
  }) {
    this.#access = options.access;
    this.#clock = options.clock;
    this.#timers = options.timers;
    this.#intervalMs = options.intervalMs;
  }

  /** Renews sessions in one entry with others. Safe to repeat. */
  renew(
    renewals: readonly Renewal[],
    call: { readonly timeoutMs: number; readonly isForwarded: boolean },
  ): Promise<RenewalOutcome> {
    return new Promise((settle) => {
      const bytes = renewals.reduce((sum, renewal) => sum + renewalBytes(renewal), 0);
      this.#waiting.push({ renewals, bytes, settle, ...call });
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
    const batch = this.#takeBatch();
    this.#lastSentMs = this.#clock.nowMs();
    if (this.#waiting.length > 0) this.#plan();
    // A forwarded renewal that finds another leader goes back to where it came from.
    const lost = this.#access.isLeader ? [] : batch.filter((waiting) => waiting.isForwarded);
    for (const { settle } of lost) {
      settle({ kind: "failed", outcome: "notApplied", reason: "notLeader" });
    }
    const own = batch.filter((waiting) => !lost.includes(waiting));
    if (own.length > 0) void this.#submit(own);
  }

  #takeBatch(): Waiting[] {
    let renewals = 0;
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      renewals += waiting.renewals.length;
      bytes += waiting.bytes;
      if (count > 0 && (renewals > BATCH_RENEWALS_MAX || bytes > BATCH_BYTES_MAX)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #submit(batch: readonly Waiting[]): Promise<void> {
    const renewals = batch.flatMap((waiting) => waiting.renewals);
    const timeoutMs = Math.max(...batch.map((waiting) => waiting.timeoutMs));
    const request = { requestId: undefined, command: { kind: "renew", renewals } } as const;
    const outcome = await this.#access.submit(request, timeoutMs);
    if (outcome.kind === "failed" || outcome.answer.result.kind !== "renewed") {
      const failure: RenewalOutcome =
        outcome.kind === "failed"
          ? outcome
          : { kind: "failed", outcome: "unknown", reason: "badAnswer" };
      this.counts.failed += renewals.length;
      for (const waiting of batch) waiting.settle(failure);
      return;
    }
    const { revision, result } = outcome.answer;
    for (const { kind } of result.answers) {
      this.counts[kind === "extended" ? "extended" : "refused"]++;
    }
    let at = 0;
    for (const waiting of batch) {
      const end = at + waiting.renewals.length;
      waiting.settle({ kind: "answered", revision, answers: result.answers.slice(at, end) });
      at = end;
    }
  }
}

function renewalBytes({ nodeId, except }: Renewal): number {
  let bytes = nodeId.length + 20;
  for (const { startKey, endKey } of except) bytes += startKey.length + (endKey?.length ?? 0) + 8;
  return bytes;
}
