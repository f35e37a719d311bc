/**
 * Taking over what was granted in one group: the epoch is made durable beside the data, then
 * reported with Accept, and the caller renews at once, because only that sets a deadline (law 6).
 *
 * The node's own memory outranks the directory: a grant under an epoch below one that was already
 * used here is reported as UNTRUSTED and never accepted (law 17).
 */

import type { Epoch, Revision } from "../base/brands.ts";
import { Backoff } from "../client/backoff.ts";
import { asCoordinationError } from "../client/errors.ts";
import { Waker } from "../client/wait.ts";
import type { ItemOutcome, RangeEpoch } from "../wire/api.ts";
import type { Reason } from "../wire/errors.ts";
import type { EpochMemory } from "./epochs.ts";
import type { GroupContext } from "./group-context.ts";
import type { Hold } from "./hold.ts";
import type { LeaseKeeper } from "./lease.ts";
import type { TimelessLeaseInput } from "./lease-steps.ts";
import { refusedEvent } from "./seat-events.ts";

/** The directory's bound on the ranges of one Accept or Release. */
export const RANGES_PER_CALL = 1_000;
const ACCEPT_DEADLINE_MS = 5_000;

export interface TakeOverContext extends GroupContext {
  readonly epochs: EpochMemory;
}

export interface TakeOverEvents {
  step(input: TimelessLeaseInput): void;
  /** Something was accepted: it needs a deadline. */
  onAccepted(): void;
  /** The group knows no session of ours. */
  onNoSession(): void;
}

export class TakeOver {
  readonly #with: TakeOverContext;
  readonly #keeper: LeaseKeeper;
  readonly #events: TakeOverEvents;
  readonly #waker = new Waker();
  /** Epochs that are below our memory, by range id. */
  readonly #untrusted = new Map<string, Epoch>();

  constructor(context: TakeOverContext, keeper: LeaseKeeper, events: TakeOverEvents) {
    this.#with = context;
    this.#keeper = keeper;
    this.#events = events;
  }

  /** Something was granted, or may now be accepted. */
  wake(): void {
    this.#waker.wake();
  }

  /** The hold has ended. */
  forget(rangeId: string): void {
    this.#untrusted.delete(rangeId);
  }

  /** Runs until stopped. */
  async run(): Promise<void> {
    const { stopped, timers, prng } = this.#with;
    const backoff = new Backoff(prng);
    while (!stopped.aborted) {
      const due = this.#due();
      if (due.length === 0) await this.#waker.pause(timers, undefined, stopped);
      else if (await this.#takeOver(due)) backoff.reset();
      else await this.#waker.pause(timers, backoff.nextMs(), stopped);
    }
  }

  #due(): readonly Hold[] {
    return this.#keeper
      .holds()
      .filter((hold) => !hold.accepted && this.#isTrusted(hold))
      .slice(0, RANGES_PER_CALL);
  }

  #isTrusted({ epoch, record }: Hold): boolean {
    const { keyspace, rangeId, span } = record.descriptor;
    if (this.#untrusted.get(rangeId) === epoch) return false;
    const remembered = this.#with.epochs.highWater(keyspace, span);
    if (remembered <= epoch) return true;
    this.#untrusted.set(rangeId, epoch);
    this.#refused(
      rangeId,
      "UNTRUSTED",
      `range ${rangeId} was granted under epoch ${epoch}, but epoch ${remembered} was used ` +
        `here before; the directory may have been restored: re-onboard the range`,
    );
    return false;
  }

  /** False: try again after a while. */
  async #takeOver(due: readonly Hold[]): Promise<boolean> {
    const { client, emit, epochs, fail, group, owner, stopped } = this.#with;
    try {
      await epochs.remember(
        due.map(({ epoch, record: { descriptor } }) => {
          return { keyspace: descriptor.keyspace, span: descriptor.span, epoch };
        }),
      );
    } catch (error) {
      fail("INTERNAL", `the memory of epochs failed, nothing is served any more: ${String(error)}`);
      return false;
    }
    const ranges = due.flatMap(({ epoch, record }) => {
      const { rangeId } = record.descriptor;
      return this.#keeper.hold(rangeId)?.epoch === epoch ? [{ rangeId, epoch }] : [];
    });
    if (stopped.aborted || ranges.length === 0) return true;
    try {
      const answer = await client.ownership.accept(
        { owner, group, ranges },
        { deadlineMs: ACCEPT_DEADLINE_MS, signal: stopped },
      );
      if (stopped.aborted) return false;
      return this.#onAnswer(ranges, answer.outcomes, answer.header.revision);
    } catch (error) {
      const failure = asCoordinationError(error);
      if (stopped.aborted) return false;
      emit(refusedEvent("accept", failure, group));
      if (failure.reason === "NO_SESSION") this.#events.onNoSession();
      return false;
    }
  }

  /** Whether every range was answered. */
  #onAnswer(
    ranges: readonly RangeEpoch[],
    outcomes: readonly ItemOutcome[],
    revision: Revision,
  ): boolean {
    const outcomeOf = new Map(outcomes.map((outcome) => [outcome.rangeId, outcome]));
    const accepted = ranges.filter(({ rangeId }) => {
      const outcome = outcomeOf.get(rangeId);
      return outcome !== undefined && outcome.refused === undefined;
    });
    this.#events.step({ kind: "accepted", ranges: accepted });
    for (const range of ranges) {
      const reason = outcomeOf.get(range.rangeId)?.refused;
      if (reason === undefined) continue;
      const what = `range ${range.rangeId} is not ours under epoch ${range.epoch} any more`;
      this.#refused(range.rangeId, reason, `${what}; nothing is served under it`);
      this.#events.step({ kind: "refused", range, revision });
    }
    if (accepted.length > 0) this.#events.onAccepted();
    return ranges.every(({ rangeId }) => outcomeOf.has(rangeId));
  }

  #refused(rangeId: string, reason: Reason, message: string): void {
    const { emit, group } = this.#with;
    const what = "accept";
    emit({ kind: "refused", what, group, rangeId, reason, message, retryAfterMs: undefined });
  }
}
