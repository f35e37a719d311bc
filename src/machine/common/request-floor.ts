/**
 * The floor of request ids: the revision below which a group no longer remembers what clients saw
 * (law 5). Raised by log time alone, as a function of the applied entries.
 *
 * The floor is the newest milestone that is as old as the memory is long. An entry becomes one when
 * a step has passed since the last one, and so does an entry that none followed for a step. So
 * whoever saw a revision while it was the newest is above the floor for as long as the memory is
 * long, and for two steps longer at the most.
 */

import { assert } from "../../base/assert.ts";
import type { LogTimeMs, Revision } from "../../base/brands.ts";
import { REQUEST_MEMORY_MS } from "../../base/request-timing.ts";

/** Short beside the memory, and the milestones are few enough to be kept as a list. */
const STEP_MS = 10_000;
const MILESTONES_MAX: number = (2 * REQUEST_MEMORY_MS) / STEP_MS;
assert(STEP_MS * 20 <= REQUEST_MEMORY_MS, "steps are short beside the memory");

const NONE: readonly Milestone[] = [];

/** An entry and its time. */
export interface Milestone {
  readonly timeMs: LogTimeMs;
  readonly revision: Revision;
}

export interface StoredFloor {
  readonly floor: Revision;
  /** Ascending in both, all newer than the memory is long. */
  readonly milestones: readonly Milestone[];
}

export class RequestFloor {
  #floor: Revision;
  /** Replaced, never changed in place. */
  #milestones: readonly Milestone[] = [];
  /** The last entry, once there was one. */
  #last: Revision | undefined;
  #lastMs = 0 as LogTimeMs;

  /** A group begins with the floor at its first revision: ids from before a restore are below. */
  constructor(floor: Revision) {
    this.#floor = floor;
  }

  /** Ids made from a lower revision are forgotten. Never goes back. */
  get revision(): Revision {
    return this.#floor;
  }

  /** An entry is applied. */
  pass(timeMs: LogTimeMs, revision: Revision): void {
    const latest = this.#milestones.at(-1);
    const isDue = latest === undefined || timeMs - latest.timeMs >= STEP_MS;
    const isOld = ({ timeMs: madeMs }: Milestone): boolean => timeMs - madeMs >= REQUEST_MEMORY_MS;
    const [oldest] = this.#milestones;
    if (isDue || (oldest !== undefined && isOld(oldest))) {
      const made = isDue ? [...this.#standing(timeMs), { timeMs, revision }] : [];
      const milestones = [...this.#milestones, ...made];
      const newestOld = milestones.findLastIndex(isOld);
      this.#floor = milestones[newestOld]?.revision ?? this.#floor;
      this.#milestones = milestones.slice(newestOld + 1);
    }
    this.#lastMs = timeMs;
    this.#last = revision;
  }

  store(): StoredFloor {
    return { floor: this.#floor, milestones: this.#milestones };
  }

  /** Takes what was stored at an entry; answers what is wrong with it, or undefined. */
  restore({ floor, milestones }: StoredFloor, at: Milestone): string | undefined {
    if (floor < this.#floor || floor > at.revision) return "the floor is of this generation's past";
    if (milestones.length > MILESTONES_MAX) return "milestones are few";
    const [oldest] = milestones;
    const isKept = oldest === undefined || at.timeMs - oldest.timeMs < REQUEST_MEMORY_MS;
    let last: Milestone = { timeMs: 0 as LogTimeMs, revision: floor };
    for (const milestone of milestones) {
      const isNext = milestone.timeMs >= last.timeMs && milestone.revision > last.revision;
      if (!isNext) return "milestones are in order";
      last = milestone;
    }
    const isPast = last.timeMs <= at.timeMs && last.revision <= at.revision;
    if (!isKept || !isPast) return "milestones are of the past, and not old";
    this.#floor = floor;
    this.#milestones = milestones;
    this.#last = at.revision;
    this.#lastMs = at.timeMs;
    return undefined;
  }

  /** The last entry, if it stood for a step and is no milestone yet. */
  #standing(timeMs: LogTimeMs): readonly Milestone[] {
    const last = this.#last;
    const isMilestone = last === this.#milestones.at(-1)?.revision;
    if (last === undefined || isMilestone || timeMs - this.#lastMs < STEP_MS) return NONE;
    return [{ timeMs: this.#lastMs, revision: last }];
  }
}
