/**
 * A seat's session in one group: opened, renewed, opened again when it has ended, and run out when
 * the group has closed it because two processes are this incarnation (law 13). Waits for nothing
 * but the directory's answers and its own clock.
 */

import type { MonotonicMs, Revision } from "../base/brands.ts";
import { Backoff } from "../client/backoff.ts";
import { asCoordinationError, type CoordinationError, localRefusal } from "../client/errors.ts";
import { sleep, Waker } from "../client/wait.ts";
import type { Refusal } from "../wire/api.ts";
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
  "SESSION_CLOSED",
  "NODE_ID_TAKEN",
  "DENIED",
  "INVALID",
  "CLUSTER_MISMATCH",
]);

export interface SessionContext extends GroupContext {
  /** Fresh random numbers below 2^53; see {@link SeatOptions}. */
  readonly freshNonce: () => number;
  /** See {@link SeatOptions}. */
  readonly voidProof: () => Promise<void>;
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
  | { readonly kind: "closed"; readonly message: string };

export class GroupSession {
  readonly #with: SessionContext;
  readonly #keeper: LeaseKeeper;
  readonly #on: SessionEvents;
  readonly #waker = new Waker();
  readonly #backoff: Backoff;
  readonly #line: RenewalLine;
  /** A renewal had no view to send, or one that was too old: this old. */
  #awaitsView = false;
  /** A renewal of this process has been answered. */
  #isRenewed = false;
  #isClosed = false;
  #tooOldAsOf: Revision | undefined;

  constructor(context: SessionContext, keeper: LeaseKeeper, events: SessionEvents) {
    this.#with = context;
    this.#keeper = keeper;
    this.#on = events;
    this.#backoff = new Backoff(context.prng);
    this.#line = new RenewalLine(context.freshNonce);
  }

  /** Two processes are this incarnation: nothing more is renewed, taken over or given up. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Why nothing may be given up now; undefined if it may. Another process of this incarnation may
   * hold what this one has never had a deadline for, or has no more, and must not lose it (law 13).
   */
  whyKept(): Refusal | undefined {
    if (this.#isClosed) {
      return localRefusal("SESSION_CLOSED", "another process is this incarnation; leases run out");
    }
    if (this.#isRenewed) return undefined;
    return localRefusal("TRANSIENT", "this process has not renewed yet; leases run out");
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

  /** Runs until stopped, or until everything has run out after the session was closed. */
  async run(): Promise<void> {
    const { stopped } = this.#with;
    while (!stopped.aborted) {
      const end = (await this.#open()) ? await this.#renewWhileOpen() : undefined;
      if (end?.kind === "closed") return this.#runOut(end.message);
    }
  }

  /** One attempt. An earlier process's leases, or an absent directory, are waited for. */
  async #open(): Promise<boolean> {
    const { client, owner, group, stopped, timers, emit, fail } = this.#with;
    try {
      const answer = await client.ownership.openSession(
        { owner, group },
        { deadlineMs: CALL_DEADLINE_MS, signal: stopped },
      );
      if (stopped.aborted) return false;
      this.#backoff.reset();
      const { alreadyOpen, durations, header } = answer;
      const { revision } = header;
      emit({ kind: "sessionOpened", group, revision, alreadyOpen });
      this.#on.step({ kind: "sessionOpened", durations });
      this.#on.onOpened();
      return true;
    } catch (error) {
      const failure = asCoordinationError(error);
      if (stopped.aborted) return false;
      emit(refusedEvent("openSession", failure, group));
      const { message, reason, refusal } = failure;
      if (FATAL.has(reason)) {
        fail(reason, message);
        return false;
      }
      await sleep(timers, this.#backoff.nextMs(refusal.retryAfterMs), stopped);
      return false;
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

  /**
   * Another process is this incarnation. What is held is served to its deadlines, because the group
   * keeps it for both until then; and then this process is of no more use.
   */
  async #runOut(message: string): Promise<void> {
    const { emit, fail, group, stopped, timers } = this.#with;
    this.#isClosed = true;
    emit({ kind: "sessionClosed", group, message, remainingMs: Math.max(0, ...this.#rests()) });
    let whyNot = "";
    try {
      await this.#with.voidProof();
    } catch (error) {
      whyNot = `; its proof stays (${String(error)}): let the leases end before a restart`;
    }
    for (;;) {
      const restMs = Math.max(0, ...this.#rests());
      if (restMs === 0 || stopped.aborted) break;
      await sleep(timers, restMs, stopped);
    }
    this.#on.step({ kind: "clock" });
    fail("SESSION_CLOSED", message + whyNot);
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
