/**
 * A seat in one group: what is driven around its lease keeper. The session is kept (session.ts),
 * what is granted is taken over (take-over.ts), and what a successor was asked for is handed over
 * (hand-over.ts); none waits for the others or for the watch. After every await the world is looked
 * at anew.
 *
 * What an end means: from `stopped` on nothing here asks anything of the directory, from `ended` on
 * nothing is served either. Between them what is held is served to its deadlines.
 */

import type { MonotonicMs, Revision } from "../base/brands.ts";
import { CoordinationError, localRefusal } from "../client/errors.ts";
import { onAbort } from "../client/wait.ts";
import type { RangeEpoch, WatchFrame } from "../wire/api.ts";
import type { Reason } from "../wire/errors.ts";
import type { EpochMemory } from "./epochs.ts";
import { HandOvers } from "./hand-over.ts";
import type { Hold } from "./hold.ts";
import { LeaseKeeper } from "./lease.ts";
import type { LeaseEvent, TimelessLeaseInput } from "./lease-steps.ts";
import type { EventRange } from "./seat-events.ts";
import { GroupSession, type SessionContext } from "./session.ts";
import { RANGES_PER_CALL, TakeOver } from "./take-over.ts";
import { WorkInHand } from "./work.ts";

/** How long a watch may lag behind a renewal's answer; a healthy one takes some ms. */
const WATCH_LAG_MS = 1_000;

export interface GroupSeatContext extends SessionContext {
  /** Nothing is served any more. */
  readonly ended: AbortSignal;
  readonly epochs: EpochMemory;
  /** How long what was admitted may take to end when a range is handed over. */
  readonly drainMs: number;
}

export class GroupSeat {
  readonly keeper: LeaseKeeper;
  /** What the guard has admitted here. */
  readonly work: WorkInHand = new WorkInHand();
  readonly #with: GroupSeatContext;
  readonly #session: GroupSession;
  readonly #takeOver: TakeOver;
  readonly #handOvers: HandOvers;
  #cancelClock: (() => void) | undefined;
  #cancelMending: (() => void) | undefined;

  constructor(context: GroupSeatContext) {
    this.#with = context;
    this.keeper = new LeaseKeeper(context.owner, context.group);
    this.#session = new GroupSession(context, this.keeper, {
      step: (input) => this.#step(input),
      onOpened: () => this.#takeOver.wake(),
      onViewNeeded: (revision) => this.#mendWatch(revision),
    });
    this.#takeOver = new TakeOver(context, this.keeper, {
      step: (input) => void this.#step(input),
      onAccepted: () => this.#session.wake(),
      onNoSession: () => this.#session.wake(),
    });
    this.#handOvers = new HandOvers(context, this.keeper, this.work, {
      step: (input) => void this.#step(input),
      onKept: () => this.#session.wake(),
      mayGiveUp: () => this.#session.isRenewed,
    });
    onAbort(context.ended, () => {
      this.#cancelClock?.();
      this.#cancelMending?.();
    });
  }

  /** Runs until nothing is asked of the directory any more. Rejects only for a bug. */
  async run(): Promise<void> {
    await Promise.all([this.#session.run(), this.#takeOver.run(), this.#handOvers.run()]);
  }

  /** Until the last deadline of what is held; 0: nothing is. */
  longestRestMs(): number {
    return this.#session.longestRestMs();
  }

  /** Deadlines may have passed. */
  onTime(): void {
    this.#step({ kind: "clock" });
  }

  onFrame(frame: WatchFrame): void {
    this.#step({ kind: "frame", frame });
    this.#session.onView();
    // A range whose successor was taken back has missed some renewals, so that the next one could
    // come after its deadline.
    if (liftsSuccessor(frame)) this.#session.wake();
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

  /**
   * Tells the directory, for as long as it may be told. What can't be told runs out, because
   * renewals except it.
   */
  async giveUp(ranges: readonly RangeEpoch[]): Promise<void> {
    const { client, ended, owner, group, stopped } = this.#with;
    for (let from = 0; from < ranges.length; from += RANGES_PER_CALL) {
      if (stopped.aborted && !ended.aborted) {
        throw refusedHere("SESSION_CLOSED", "another process is this incarnation");
      }
      if (!this.#session.isRenewed) {
        throw refusedHere("TRANSIENT", "this process has not renewed yet");
      }
      const some = ranges.slice(from, from + RANGES_PER_CALL);
      await client.ownership.release({ owner, group, ranges: some }, { signal: stopped });
    }
  }

  /**
   * A watch that does not come to show what a renewal has told of, or needs, is stuck, or its
   * server is. The silence that ends a stream is longer than most leases, and as long as a session
   * lasts: what is granted meanwhile would lapse. The next server may be as silent.
   */
  #mendWatch(wanted: Revision): void {
    if (this.#cancelMending !== undefined) return;
    this.#cancelMending = this.#with.timers.after(WATCH_LAG_MS, () => {
      this.#cancelMending = undefined;
      if ((this.keeper.asOf ?? 0) >= wanted) return;
      this.#with.refreshView();
      this.#mendWatch(wanted);
    });
  }

  // ---- Events and time

  #step(input: TimelessLeaseInput): readonly LeaseEvent[] {
    const nowMs = this.#with.clock.nowMs();
    const events = this.keeper.step({ ...input, nowMs });
    for (const event of events) this.#tell(event, nowMs);
    if (input.kind === "renewed") this.#handOvers.wake();
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
      case "handOverAsked":
        return this.#handOvers.wake();
      case "draining": {
        const successorId = hold.handOver?.successorId ?? "";
        return emit({ kind: "handingOver", successorId, remainingMs, ...range });
      }
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
    if (nextMs === undefined || this.#with.ended.aborted) return;
    this.#cancelClock = this.#with.timers.after(Math.max(0, nextMs - nowMs), () => this.onTime());
  }
}

/** Of a release that was not even tried. */
function refusedHere(reason: Reason, why: string): CoordinationError {
  const refusal = localRefusal(reason, `${why}; the leases run out`);
  const failure = { refusal, outcome: "notApplied", attempts: [], requestId: undefined } as const;
  return new CoordinationError(failure);
}

function liftsSuccessor(frame: WatchFrame): boolean {
  return (
    frame.kind === "changes" &&
    frame.revisions.some(({ changes }) => changes.some(({ cause }) => cause === "successorLifted"))
  );
}
