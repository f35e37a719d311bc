/**
 * Handing ranges over in one group, as their successors were asked for (law 12): nothing new is
 * admitted, what was admitted ends or its time is up, the guard closes, and only then the directory
 * is told. However long its answer takes, the range stays closed here until it is known:
 *
 *   draining --(nothing in hand, or the time is up)--> closed --(released)--> ended
 *   draining --(taken back)--> held        closed --(refused: taken back, successor gone)--> held
 *
 * The release names the request, so that a late copy of it can't give the range up once it is
 * served here again.
 */

import type { Revision } from "../base/brands.ts";
import { Backoff } from "../client/backoff.ts";
import { asCoordinationError } from "../client/errors.ts";
import { Waker } from "../client/wait.ts";
import type { ItemOutcome } from "../wire/api.ts";
import type { GroupContext } from "./group-context.ts";
import { type AskedRange, type Hold, holdKindAt } from "./hold.ts";
import type { LeaseKeeper } from "./lease.ts";
import type { TimelessLeaseInput } from "./lease-steps.ts";
import { refusedEvent } from "./seat-events.ts";
import { RANGES_PER_CALL } from "./take-over.ts";
import type { WorkInHand } from "./work.ts";

const RELEASE_DEADLINE_MS = 5_000;

export interface HandOverContext extends GroupContext {
  /** How long what was admitted may take to end. */
  readonly drainMs: number;
}

export interface HandOverEvents {
  step(input: TimelessLeaseInput): void;
  /** A range is served here again: its lease may have missed some renewals. */
  onKept(): void;
  /** Whether anything may be given up yet; asked again at every step. */
  mayGiveUp(): boolean;
}

export class HandOvers {
  readonly #with: HandOverContext;
  readonly #keeper: LeaseKeeper;
  readonly #work: WorkInHand;
  readonly #on: HandOverEvents;
  readonly #draining = new Waker();
  readonly #releasing = new Waker();
  /** When each range's time to drain is up, by range id. */
  readonly #drainUntil = new Map<string, { revision: Revision; atMs: number }>();

  constructor(
    context: HandOverContext,
    keeper: LeaseKeeper,
    work: WorkInHand,
    events: HandOverEvents,
  ) {
    this.#with = context;
    this.#keeper = keeper;
    this.#work = work;
    this.#on = events;
  }

  /** Something was asked for, or may now be given up. */
  wake(): void {
    this.#draining.wake();
    this.#releasing.wake();
  }

  /** Runs until stopped. */
  async run(): Promise<void> {
    await Promise.all([this.#drain(), this.#release()]);
  }

  async #drain(): Promise<void> {
    const { stopped, timers } = this.#with;
    while (!stopped.aborted) {
      const open = this.#asked().filter(({ handOver }) => !handOver.isDrained);
      this.#noteTimes(open);
      const drained = open.filter((hold) => this.#isDrained(hold));
      if (drained.length > 0) {
        this.#on.step({ kind: "drained", ranges: drained.map(toAskedRange) });
        this.#releasing.wake();
        continue;
      }
      for (const { number } of open) this.#work.whenIdle(number, () => this.#draining.wake());
      await this.#draining.pause(timers, this.#restMs(open), stopped);
    }
  }

  async #release(): Promise<void> {
    const { prng, stopped, timers } = this.#with;
    const backoff = new Backoff(prng);
    while (!stopped.aborted) {
      const due = this.#asked().filter(({ handOver }) => handOver.isDrained);
      const mayRelease = due.length > 0 && this.#on.mayGiveUp();
      if (!mayRelease) await this.#releasing.pause(timers, undefined, stopped);
      else if (await this.#releaseOnce(due.slice(0, RANGES_PER_CALL))) backoff.reset();
      else await this.#releasing.pause(timers, backoff.nextMs(), stopped);
    }
  }

  /** False: nothing is known, try again after a while. */
  async #releaseOnce(due: readonly AskedHold[]): Promise<boolean> {
    const { client, emit, group, owner, stopped } = this.#with;
    const asked = due.map(toAskedRange);
    try {
      const ranges = asked.map(({ rangeId, epoch, revision }) => {
        return { rangeId, epoch, handOverRevision: revision };
      });
      const answer = await client.ownership.release(
        { owner, group, ranges },
        { deadlineMs: RELEASE_DEADLINE_MS, signal: stopped },
      );
      if (stopped.aborted) return false;
      return this.#onAnswer(asked, answer.outcomes, answer.header.revision);
    } catch (error) {
      const failure = asCoordinationError(error);
      if (!stopped.aborted) emit(refusedEvent("release", failure, group));
      return false;
    }
  }

  /** Whether every range was answered for good. */
  #onAnswer(
    asked: readonly AskedRange[],
    outcomes: readonly ItemOutcome[],
    revision: Revision,
  ): boolean {
    const byId = new Map(outcomes.map((outcome) => [outcome.rangeId, outcome]));
    const of = (is: (refused: ItemOutcome["refused"]) => boolean): AskedRange[] =>
      asked.filter(({ rangeId }) => {
        const outcome = byId.get(rangeId);
        return outcome !== undefined && is(outcome.refused);
      });
    const kept = of((refused) => refused === "NO_SUCCESSOR");
    const over = of((refused) => refused !== undefined && OVER.has(refused));
    const handedOver = of((refused) => refused === undefined);
    this.#on.step({ kind: "handedOver", ranges: handedOver, revision });
    for (const range of over) this.#on.step({ kind: "refused", range, revision });
    this.#on.step({ kind: "handOverRefused", ranges: kept });
    if (kept.length > 0) this.#on.onKept();
    return handedOver.length + over.length + kept.length === asked.length;
  }

  #asked(): AskedHold[] {
    return this.#keeper.holds().filter((hold): hold is AskedHold => hold.handOver !== undefined);
  }

  #noteTimes(open: readonly AskedHold[]): void {
    const ids = new Set(open.map(({ record }) => record.descriptor.rangeId));
    for (const rangeId of this.#drainUntil.keys()) {
      if (!ids.has(rangeId)) this.#drainUntil.delete(rangeId);
    }
    const atMs = this.#with.clock.nowMs() + this.#with.drainMs;
    for (const { handOver, record } of open) {
      const { rangeId } = record.descriptor;
      const { revision } = handOver;
      if (this.#drainUntil.get(rangeId)?.revision === revision) continue;
      this.#drainUntil.set(rangeId, { revision, atMs });
    }
  }

  #isDrained(hold: AskedHold): boolean {
    const nowMs = this.#with.clock.nowMs();
    if (holdKindAt(hold, nowMs) !== "draining") return true;
    return this.#work.count(hold.number) === 0 || this.#untilMs(hold) <= nowMs;
  }

  /** Until the next range's time is up; undefined: none drains. */
  #restMs(open: readonly AskedHold[]): number | undefined {
    if (open.length === 0) return undefined;
    const untilMs = Math.min(...open.map((hold) => this.#untilMs(hold)));
    return Math.max(0, untilMs - this.#with.clock.nowMs());
  }

  #untilMs({ deadlineMs, record }: AskedHold): number {
    const until = this.#drainUntil.get(record.descriptor.rangeId);
    return Math.min(until?.atMs ?? 0, deadlineMs ?? 0);
  }
}

type AskedHold = Hold & { readonly handOver: NonNullable<Hold["handOver"]> };

/** It is over with the hold, whatever became of the request. */
const OVER: ReadonlySet<NonNullable<ItemOutcome["refused"]>> = new Set([
  "STALE_EPOCH",
  "NOT_OWNER",
  "NOT_FOUND",
]);

function toAskedRange({ epoch, handOver, record }: AskedHold): AskedRange {
  return { rangeId: record.descriptor.rangeId, epoch, revision: handOver.revision };
}
