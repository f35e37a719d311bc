/**
 * A seat in one group: the driver around its lease keeper. It opens the session and renews it; what
 * is granted is taken over beside that (take-over.ts), and neither waits for the other or for the
 * watch. After every await the world is looked at anew.
 *
 * What a stop means: `stopped` is aborted, and from then on nothing here acts or serves.
 */

import type { GroupId, MonotonicMs, Revision } from "../base/brands.ts";
import type { Prng } from "../base/prng.ts";
import { Backoff } from "../client/backoff.ts";
import type { Client } from "../client/client.ts";
import { asCoordinationError, type CoordinationError } from "../client/errors.ts";
import type { Clock, Timers } from "../client/ports.ts";
import { sleep, Waker } from "../client/wait.ts";
import type { Owner, RangeEpoch, WatchFrame } from "../wire/api.ts";
import type { Reason } from "../wire/errors.ts";
import type { EpochMemory } from "./epochs.ts";
import type { Hold } from "./hold.ts";
import { type LeaseEvent, LeaseKeeper, type TimelessLeaseInput } from "./lease.ts";
import { type EventRange, refusedEvent, type TimelessSeatEvent } from "./seat-events.ts";
import { RANGES_PER_CALL, TakeOver } from "./take-over.ts";

/** A session's base duration; a third of it is the interval while nothing is held. */
const SESSION_DURATION_MS = 10_000;
const CALL_DEADLINE_MS = 5_000;
/** How long a watch may lag behind a renewal's answer; a healthy one takes some ms. */
const WATCH_LAG_MS = 1_000;
/** With these no other attempt of this process can succeed. */
const FATAL: ReadonlySet<Reason> = new Set([
  "STALE_INCARNATION",
  "NODE_ID_TAKEN",
  "DENIED",
  "INVALID",
  "CLUSTER_MISMATCH",
]);

export interface GroupSeatContext {
  readonly client: Client;
  readonly owner: Owner;
  readonly group: GroupId;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly prng: Prng;
  readonly epochs: EpochMemory;
  readonly stopped: AbortSignal;
  readonly emit: (event: TimelessSeatEvent) => void;
  /** Begins the watch anew, with a snapshot, at another server. */
  readonly refreshView: () => void;
  /** The seat can't go on; aborts `stopped`. */
  readonly fail: (reason: Reason, message: string) => void;
}

export class GroupSeat {
  readonly keeper: LeaseKeeper;
  readonly #with: GroupSeatContext;
  readonly #renewals = new Waker();
  readonly #backoff: Backoff;
  readonly #takeOver: TakeOver;
  /** A renewal had no view to send, or one that was too old: this old. */
  #awaitsView = false;
  #tooOldAsOf: Revision | undefined;
  #cancelClock: (() => void) | undefined;
  #cancelMending: (() => void) | undefined;

  constructor(context: GroupSeatContext) {
    this.#with = context;
    this.keeper = new LeaseKeeper(context.owner, context.group);
    this.#backoff = new Backoff(context.prng);
    this.#takeOver = new TakeOver(context, this.keeper, {
      step: (input) => void this.#step(input),
      onAccepted: () => this.#renewals.wake(),
      onNoSession: () => this.#renewals.wake(),
    });
  }

  /** Runs until stopped. Rejects only for a bug. */
  async run(): Promise<void> {
    await Promise.all([this.#runSession(), this.#takeOver.run()]);
    this.#cancelClock?.();
    this.#cancelMending?.();
  }

  onFrame(frame: WatchFrame): void {
    this.#step({ kind: "frame", frame });
    // A renewal may be waiting for a first or a newer view; and a range whose successor was taken
    // back has missed some, so that the next one could come after its deadline.
    if (this.#awaitsView || liftsSuccessor(frame)) this.#renewals.wake();
  }

  /** Stops serving the ranges; answers those that were held here, for {@link giveUp}. */
  stopServing(rangeIds: readonly string[] | "all"): readonly RangeEpoch[] {
    const wanted = rangeIds === "all" ? undefined : new Set(rangeIds);
    const given = this.keeper.holds().flatMap(({ record, epoch }) => {
      const { rangeId } = record.descriptor;
      return wanted === undefined || wanted.has(rangeId) ? [{ rangeId, epoch }] : [];
    });
    this.#step({ kind: "released", rangeIds: given.map((range) => range.rangeId) });
    return given;
  }

  /** Tells the directory. What can't be told runs out, because renewals except it. */
  async giveUp(ranges: readonly RangeEpoch[]): Promise<void> {
    const { client, owner, group, stopped } = this.#with;
    for (let from = 0; from < ranges.length; from += RANGES_PER_CALL) {
      const some = ranges.slice(from, from + RANGES_PER_CALL);
      await client.ownership.release({ owner, group, ranges: some }, { signal: stopped });
    }
  }

  /** Until the first deadline; undefined: nothing is held. */
  remainingMs(): number | undefined {
    const nowMs = this.#with.clock.nowMs();
    let least: number | undefined;
    for (const { deadlineMs } of this.keeper.holds()) {
      if (deadlineMs === undefined) continue;
      least = Math.min(least ?? Number.POSITIVE_INFINITY, deadlineMs - nowMs);
    }
    return least;
  }

  // ---- The session and its renewals

  async #runSession(): Promise<void> {
    const { stopped } = this.#with;
    while (!stopped.aborted) {
      if (await this.#openSession()) await this.#renewWhileOpen();
    }
  }

  /** One attempt. An earlier process's leases, or an absent directory, are waited for. */
  async #openSession(): Promise<boolean> {
    const { client, owner, group, stopped, timers, emit } = this.#with;
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
      this.#step({ kind: "sessionOpened", durations });
      this.#takeOver.wake();
      return true;
    } catch (error) {
      const failure = asCoordinationError(error);
      if (stopped.aborted) return false;
      emit(refusedEvent("openSession", failure, group));
      if (this.#isFatal(failure)) return false;
      await sleep(timers, this.#backoff.nextMs(failure.refusal.retryAfterMs), stopped);
      return false;
    }
  }

  /** Until the service says that the session is over, or the seat stops. */
  async #renewWhileOpen(): Promise<void> {
    const { clock, stopped, timers } = this.#with;
    let nextMs: number = clock.nowMs();
    while (!stopped.aborted) {
      const waitMs = nextMs - clock.nowMs();
      if (waitMs > 0) await this.#renewals.pause(timers, waitMs, stopped);
      if (isAborted(stopped)) return;
      const outcome = await this.#renewOnce();
      if (outcome.kind === "sessionOver") return;
      nextMs = outcome.nextMs;
    }
  }

  async #renewOnce(): Promise<
    { readonly kind: "sessionOver" } | { readonly kind: "next"; readonly nextMs: number }
  > {
    const { client, clock, emit, group, owner, prng, refreshView, stopped } = this.#with;
    const intervalMs = this.#intervalMs();
    const firstSentMs = clock.nowMs();
    const sent = this.keeper.renewal(firstSentMs);
    const isTooOld = sent !== undefined && sent.asOf === this.#tooOldAsOf;
    this.#awaitsView = sent === undefined || isTooOld;
    if (sent === undefined || isTooOld) {
      return { kind: "next", nextMs: firstSentMs + intervalMs };
    }
    try {
      const answer = await client.ownership.renew(
        { owner, group, asOf: sent.asOf, except: sent.except },
        { deadlineMs: intervalMs, attemptMs: intervalMs / 3, signal: stopped },
      );
      if (stopped.aborted) return { kind: "sessionOver" };
      this.#backoff.reset();
      const events = this.#step({ kind: "renewed", sent, answer });
      this.#mendWatch(answer.changes.at(-1)?.revision);
      const extended = events.find((event) => event.kind === "extended");
      emit({
        kind: "renewed",
        group,
        revision: answer.header.revision,
        rangeCount: extended?.rangeIds.length ?? 0,
        remainingMs: this.remainingMs(),
      });
      const jitter = 0.9 + prng.nextFraction() / 10;
      return { kind: "next", nextMs: firstSentMs + this.#intervalMs() * jitter };
    } catch (error) {
      const failure = asCoordinationError(error);
      if (stopped.aborted) return { kind: "sessionOver" };
      const { reason, message } = failure;
      emit({ kind: "renewalFailed", group, reason, message, remainingMs: this.remainingMs() });
      if (reason === "NO_SESSION") {
        this.#step({ kind: "sessionEnded" });
        return { kind: "sessionOver" };
      }
      if (reason === "STALE_INCARNATION" && this.#isFatal(failure)) return { kind: "sessionOver" };
      if (reason === "VIEW_TOO_OLD") {
        this.#tooOldAsOf = sent.asOf;
        refreshView();
        return { kind: "next", nextMs: clock.nowMs() };
      }
      return { kind: "next", nextMs: clock.nowMs() + this.#backoff.nextMs() };
    }
  }

  /**
   * A watch that does not come to show what a renewal has told of is stuck, or its server is. The
   * silence that ends a stream is longer than most leases: what is granted meanwhile would lapse.
   */
  #mendWatch(toldRevision: Revision | undefined): void {
    if (toldRevision === undefined || this.#cancelMending !== undefined) return;
    this.#cancelMending = this.#with.timers.after(WATCH_LAG_MS, () => {
      this.#cancelMending = undefined;
      if ((this.keeper.asOf ?? 0) < toldRevision) this.#with.refreshView();
    });
  }

  /** The smallest of the keyspaces that are held. */
  #intervalMs(): number {
    let intervalMs = Number.POSITIVE_INFINITY;
    for (const { record } of this.keeper.holds()) {
      const duration = this.keeper.duration(record.descriptor.keyspace);
      if (duration !== undefined) intervalMs = Math.min(intervalMs, duration.renewIntervalMs);
    }
    return Number.isFinite(intervalMs) ? intervalMs : SESSION_DURATION_MS / 3;
  }

  // ---- Events and time

  #step(input: TimelessLeaseInput): readonly LeaseEvent[] {
    const nowMs = this.#with.clock.nowMs();
    const events = this.keeper.step({ ...input, nowMs });
    for (const event of events) this.#tell(event, nowMs);
    this.#armClock(nowMs);
    return events;
  }

  #tell(event: LeaseEvent, nowMs: MonotonicMs): void {
    const { emit } = this.#with;
    if (event.kind === "extended") return;
    const { hold, kind } = event;
    const range = this.#eventRange(hold);
    const remainingMs = (hold.deadlineMs ?? nowMs) - nowMs;
    switch (kind) {
      case "granted":
        this.#takeOver.wake();
        return emit({ kind, ...range });
      case "accepted":
      case "expired":
        return emit({ kind, ...range });
      case "held":
        return emit({ kind, again: event.again, remainingMs, ...range });
      case "suspect":
        return emit({ kind, remainingMs, ...range });
      case "ended":
        this.#takeOver.forget(range.rangeId);
        return emit({ kind, why: event.why, ...range });
    }
  }

  #eventRange({ epoch, record }: Hold): EventRange {
    const { keyspace, rangeId, span } = record.descriptor;
    return { group: this.keeper.group, keyspace, rangeId, span, epoch };
  }

  /** Expiry is decided here: when the next deadline has passed, with no message from anywhere. */
  #armClock(nowMs: MonotonicMs): void {
    this.#cancelClock?.();
    this.#cancelClock = undefined;
    const nextMs = this.keeper.nextChangeMs();
    if (nextMs === undefined || this.#with.stopped.aborted) return;
    this.#cancelClock = this.#with.timers.after(Math.max(0, nextMs - nowMs), () => {
      this.#step({ kind: "clock" });
    });
  }

  /** Stops the whole seat if no other attempt can succeed. */
  #isFatal({ message, reason }: CoordinationError): boolean {
    if (!FATAL.has(reason)) return false;
    this.#with.fail(reason, message);
    return true;
  }
}

function liftsSuccessor(frame: WatchFrame): boolean {
  return (
    frame.kind === "changes" &&
    frame.revisions.some(({ changes }) => changes.some(({ cause }) => cause === "successorLifted"))
  );
}

/** Read anew each time: it changes while others run. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
