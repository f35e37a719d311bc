/**
 * What the client has seen of each group, so that it never takes an older state for the present
 * one, whichever server answers (law 19). Floors only rise; the first answer fixes the cluster.
 */

import { generationOf, type GroupId, type MonotonicMs, type Revision } from "../base/brands.ts";
import type { Header } from "../wire/api.ts";
import type { Clock } from "./ports.ts";

/** "stale": older than what was seen. "otherCluster": not of the cluster of earlier answers. */
export type HeaderVerdict = "accepted" | "stale" | "otherCluster";

/** What had been seen when a call was sent; an answer is held against that, not against the end. */
export type Floors = ReadonlyMap<GroupId, Revision>;

interface Seen {
  readonly revision: Revision;
  readonly atMs: MonotonicMs;
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

  /** The same, unless nothing was heard of the group for longer than this. */
  recentRevision(group: GroupId, maxAgeMs: number): Revision | undefined {
    const seen = this.#groups.get(group);
    if (seen === undefined || this.#clock.nowMs() - seen.atMs > maxAgeMs) return undefined;
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
  judge(header: Header, floors: Floors, presentState: boolean): HeaderVerdict {
    this.#clusterId ??= header.clusterId;
    if (header.clusterId !== this.#clusterId) return "otherCluster";
    const floor = floors.get(header.group);
    if (floor !== undefined) {
      if (header.generation < generationOf(floor)) return "stale";
      if (presentState && header.revision < floor) return "stale";
    }
    this.observe(header.group, header.revision);
    return "accepted";
  }

  /** A revision of a group that some server has applied. */
  observe(group: GroupId, revision: Revision): void {
    const seen = this.#groups.get(group);
    const atMs = this.#clock.nowMs();
    if (seen === undefined || revision >= seen.revision)
      this.#groups.set(group, { revision, atMs });
  }
}
