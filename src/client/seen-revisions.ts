/**
 * What the client has seen of each group, so that it never takes an older state for the present
 * one, whichever server answers (law 19). Floors only rise; the first answer fixes the cluster.
 */

import { generationOf, type GroupId, type Revision } from "../base/brands.ts";
import type { Header } from "../wire/api.ts";
import type { Clock } from "./ports.ts";

/** "stale": older than what was seen. "otherCluster": not of the cluster of earlier answers. */
export type HeaderVerdict = "accepted" | "stale" | "otherCluster";

/** What had been seen when a call was sent; an answer is held against that, not against the end. */
export type Floors = ReadonlyMap<GroupId, Revision>;

interface Seen {
  readonly revision: Revision;
  /** When a revision up to this one was last heard of as a present one. */
  readonly currentAtMs: number;
}

/** What an answer claims to be. */
export interface AnswerClaim {
  /** Whether it claims to be the present state (law 19). */
  readonly presentState: boolean;
  /** Whether its revision was the group's newest when it was given, or nearly. */
  readonly isCurrent: boolean;
}

export class SeenRevisions {
  readonly #clock: Clock;
  readonly #groups = new Map<GroupId, Seen>();
  #clusterId: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The cluster of the first answer; undefined before it. */
  get clusterId(): string | undefined {
    return this.#clusterId;
  }

  /** The largest revision seen of a group; undefined: none yet. */
  revision(group: GroupId): Revision | undefined {
    return this.#groups.get(group)?.revision;
  }

  /** The same, unless it is longer ago than this that one was heard of as a present one. */
  recentRevision(group: GroupId, maxAgeMs: number): Revision | undefined {
    const seen = this.#groups.get(group);
    if (seen === undefined || this.#clock.nowMs() - seen.currentAtMs > maxAgeMs) return undefined;
    return seen.revision;
  }

  /** Taken before a call is sent. Two calls may then overtake each other without harm. */
  floors(): Floors {
    return new Map([...this.#groups].map(([group, seen]) => [group, seen.revision]));
  }

  /**
   * Judges an answer and, if it is accepted, raises the group's floor. An older generation is from
   * before a restore and is never accepted; an older revision only where no present state is asked.
   */
  judge(header: Header, floors: Floors, claim: AnswerClaim): HeaderVerdict {
    this.#clusterId ??= header.clusterId;
    if (header.clusterId !== this.#clusterId) return "otherCluster";
    const floor = floors.get(header.group);
    if (floor !== undefined) {
      if (header.generation < generationOf(floor)) return "stale";
      if (claim.presentState && header.revision < floor) return "stale";
    }
    this.observe(header.group, header.revision, claim.isCurrent);
    return "accepted";
  }

  /** A revision of a group that some server has applied; one that lags behind has old ones. */
  observe(group: GroupId, revision: Revision, isCurrent: boolean): void {
    const seen = this.#groups.get(group);
    if (seen !== undefined && revision < seen.revision) return;
    const currentAtMs = isCurrent ? this.#clock.nowMs() : (seen?.currentAtMs ?? -Infinity);
    this.#groups.set(group, { revision, currentAtMs });
  }
}
