/**
 * A seat's session in one group: opened, renewed, opened again when it has ended, and left when the
 * group has closed it because two processes are this incarnation (law 13). Waits for nothing but
 * the directory's answers and its own clock.
 */

import type { MonotonicMs, Revision } from "../base/brands.ts";
import { Backoff } from "../client/backoff.ts";
import { asCoordinationError, type CoordinationError } from "../client/errors.ts";
import { sleep, Waker } from "../client/wait.ts";
import type { Reason } from "../wire/errors.ts";
import type { GroupContext } from "./group-context.ts";
import type { LeaseKeeper } from "./lease.ts";
import type { LeaseEvent, TimelessLeaseInput } from "./lease-steps.ts";
import { type LinedRenewal, RenewalLine } from "./renewal-line.ts";
import type { SentRenewal } from "./renewal.ts";
import { refusedEvent } from "./seat-events.ts";

/** A session's base duration; a third of it is the interval while nothing is held. */
const SESSION_DURATION_MS = 10_000;
const CALL_DEADLINE_MS = 5_000;
/** With these no other attempt of this process can succeed. */
const FATAL: ReadonlySet<Reason> = new Set([
  "STALE_INCARNATION",
  "NODE_ID_TAKEN",
  "DENIED",
  "INVALID",
  "CLUSTER_MISMATCH",
]);

export interface SessionContext extends GroupContext {
  /** Fresh random numbers below 2^53; see {@link SeatOptions}. */
  readonly freshNonce: () => number;
  /**
   * Another process is this incarnation, said this group: aborts `stopped` in all groups. Resolves
   * when nothing is held in any of them.
   */
  readonly onCopied: (message: string) => Promise<void>;
  /** Begins the watch anew, with a snapshot, at another server. */
  readonly refreshView: () => void;
}

export interface SessionEvents {
  step(input: TimelessLeaseInput): readonly LeaseEvent[];
  onOpened(): void;
  /** The view must come to show this: a renewal has told of it, or can't be sent without it. */
  onViewNeeded(revision: Revision): void;
}

/** What a renewal has led to. */
type RenewOutcome =
  | { readonly kind: "next"; readonly nextMs: number }
  | { readonly kind: "sessionOver" }
  | ClosedOutcome;

/** Another process is this incarnation. */
interface ClosedOutcome {
  readonly kind: "closed";
  readonly message: string;
}

export class GroupSession {
  readonly #with: SessionContext;
  readonly #keeper: LeaseKeeper;
  readonly #on: SessionEvents;
  readonly #waker = new Waker();
  readonly #backoff: Backoff;
  readonly #line: RenewalLine;
  /** A renewal had no view to send, or one that was too old: this old. */
  #awaitsView = false;
  #isRenewed = false;
  #tooOldAsOf: Revision | undefined;

  constructor(context: SessionContext, keeper: LeaseKeeper, events: SessionEvents) {
    this.#with = context;
    this.#keeper = keeper;
    this.#on = events;
    this.#backoff = new Backoff(context.prng);
    this.#line = new RenewalLine(context.freshNonce);
  }

  /**
   * A renewal of this process has been answered. Before that another process of this incarnation
   * may hold what this one has never had a deadline for, and must not lose it (law 13).
   */
  get isRenewed(): boolean {
    return this.#isRenewed;
  }

  /** Renews now, instead of when the interval is over. */
  wake(): void {
    this.#waker.wake();
  }

  /** A renewal may be waiting for a first or a newer view. */
  onView(): void {
    if (this.#awaitsView) this.wake();
  }

  /** Until the first deadline; undefined: nothing is held. */
  remainingMs(): number | undefined {
    const rests = this.#rests();
    return rests.length === 0 ? undefined : Math.min(...rests);
  }

  /** Until the last deadline; 0: nothing is held. */
  longestRestMs(): number {
    return Math.max(0, ...this.#rests());
  }

  /** Runs until stopped; and if this group was the first to tell of a copy, until all runs out. */
  async run(): Promise<void> {
    const { emit, group, onCopied, stopped } = this.#with;
    while (!stopped.aborted) {
      const opened = await this.#open();
      const end = opened === "open" ? await this.#renewWhileOpen() : opened;
      if (end?.kind !== "closed") continue;
      const { message } = end;
      emit({ kind: "sessionClosed", group, message, remainingMs: this.longestRestMs() });
      return onCopied(message);
    }
  }

  /**
   * One attempt. An earlier process's leases, or an absent directory, are waited for; then
   * undefined.
   */
  async #open(): Promise<"open" | ClosedOutcome | undefined> {
    const { client, owner, group, stopped, timers, emit, fail } = this.#with;
    try {
      const answer = await client.ownership.openSession(
        { owner, group },
        { deadlineMs: CALL_DEADLINE_MS, signal: stopped },
      );
      if (stopped.aborted) return undefined;
      this.#backoff.reset();
      const { alreadyOpen, durations, header } = answer;
      const { revision } = header;
      emit({ kind: "sessionOpened", group, revision, alreadyOpen });
      this.#on.step({ kind: "sessionOpened", durations });
      this.#on.onOpened();
      return "open";
    } catch (error) {
      const failure = asCoordinationError(error);
      if (stopped.aborted) return undefined;
      emit(refusedEvent("openSession", failure, group));
      const { message, reason, refusal } = failure;
      if (reason === "SESSION_CLOSED") return { kind: "closed", message };
      if (FATAL.has(reason)) fail(reason, message);
      else await sleep(timers, this.#backoff.nextMs(refusal.retryAfterMs), stopped);
      return undefined;
    }
  }

  /** Until the service says that the session is over or closed, or the seat stops. */
  async #renewWhileOpen(): Promise<RenewOutcome | undefined> {
    const { clock, stopped, timers } = this.#with;
    let nextMs: number = clock.nowMs();
    while (!stopped.aborted) {
      const waitMs = nextMs - clock.nowMs();
      if (waitMs > 0) await this.#waker.pause(timers, waitMs, stopped);
      if (isAborted(stopped)) return undefined;
      const outcome = await this.#renewOnce();
      if (outcome.kind !== "next") return outcome;
      nextMs = outcome.nextMs;
    }
    return undefined;
  }

  async #renewOnce(): Promise<RenewOutcome> {
    const { client, clock, emit, group, owner, prng, stopped } = this.#with;
    const intervalMs = this.#intervalMs();
    const startMs = clock.nowMs();
    const renewal = this.#line.next(() => this.#freshRenewal(startMs));
    if (renewal === undefined) return { kind: "next", nextMs: startMs + intervalMs };
    const { sent, pair, known } = renewal;
    try {
      const answer = await client.ownership.renew(
        { owner, group, asOf: sent.asOf, except: sent.except, pair, known },
        { deadlineMs: intervalMs, attemptMs: intervalMs / 3, signal: stopped },
      );
      if (stopped.aborted) return { kind: "sessionOver" };
      this.#backoff.reset();
      this.#line.noteAnswered(pair);
      this.#isRenewed = true;
      const events = this.#on.step({ kind: "renewed", sent, answer });
      const told = answer.changes.at(-1)?.revision;
      if (told !== undefined) this.#on.onViewNeeded(told);
      const extended = events.find((event) => event.kind === "extended");
      emit({
        kind: "renewed",
        group,
        revision: answer.header.revision,
        rangeCount: extended?.rangeIds.length ?? 0,
        remainingMs: this.remainingMs(),
      });
      const jitter = 0.9 + prng.nextFraction() / 10;
      return { kind: "next", nextMs: startMs + this.#intervalMs() * jitter };
    } catch (error) {
      const failure = asCoordinationError(error);
      return stopped.aborted ? { kind: "sessionOver" } : this.#onRenewalFailed(failure, renewal);
    }
  }

  #onRenewalFailed(failure: CoordinationError, { sent, pair }: LinedRenewal): RenewOutcome {
    const { clock, emit, fail, group, refreshView } = this.#with;
    const { reason, message } = failure;
    emit({ kind: "renewalFailed", group, reason, message, remainingMs: this.remainingMs() });
    if (reason === "NO_SESSION") {
      this.#on.step({ kind: "sessionEnded" });
      return { kind: "sessionOver" };
    }
    if (reason === "STALE_INCARNATION") {
      fail(reason, message);
      return { kind: "sessionOver" };
    }
    const isLate = reason === "LATE_COPY";
    const isOurs = isLate && this.#line.hasSent(Number(failure.refusal.metadata["last_sequence"]));
    if (reason === "SESSION_CLOSED" || (isLate && !isOurs)) return { kind: "closed", message };
    if (reason === "VIEW_TOO_OLD") {
      this.#line.noteAnswered(pair);
      this.#tooOldAsOf = sent.asOf;
      refreshView();
      return { kind: "next", nextMs: clock.nowMs() };
    }
    return { kind: "next", nextMs: clock.nowMs() + this.#backoff.nextMs() };
  }

  /** undefined while the view has to come, or to be refreshed. */
  #freshRenewal(firstSentMs: MonotonicMs): SentRenewal | undefined {
    const sent = this.#keeper.renewal(firstSentMs);
    this.#awaitsView = sent === undefined || sent.asOf === this.#tooOldAsOf;
    if (!this.#awaitsView) return sent;
    this.#on.onViewNeeded(((this.#tooOldAsOf ?? 0) + 1) as Revision);
    return undefined;
  }

  /** Until each deadline; negative: since when it is over. */
  #rests(): number[] {
    const nowMs = this.#with.clock.nowMs();
    return this.#keeper.holds().flatMap(({ deadlineMs }) => {
      return deadlineMs === undefined ? [] : [deadlineMs - nowMs];
    });
  }

  /** The smallest of the keyspaces that are held. */
  #intervalMs(): number {
    let intervalMs = Number.POSITIVE_INFINITY;
    for (const { record } of this.#keeper.holds()) {
      const duration = this.#keeper.duration(record.descriptor.keyspace);
      if (duration !== undefined) intervalMs = Math.min(intervalMs, duration.renewIntervalMs);
    }
    return Number.isFinite(intervalMs) ? intervalMs : SESSION_DURATION_MS / 3;
  }
}

/** Read anew each time: it changes while others run. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
