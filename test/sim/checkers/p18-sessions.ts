/**
 * Property 18: no lease ends by expiry before log time has reached what its last grant or renewal
 * gave it. Only a proven restart ends one sooner, and only that of a process that is dead (law 13).
 *
 * A second opinion, kept as one floor per range: what the laws give for certain, without the
 * machine's standings and extensions. A lease may last longer.
 */

import type { ShardAnswer } from "../../../src/machine/shard/answers.ts";
import type { Renewal, ShardCommand } from "../../../src/machine/shard/commands.ts";
import type { Owner } from "../../../src/machine/shard/types.ts";
import { spansOverlap } from "../../../src/base/span.ts";
import { must } from "../must.ts";
import type { RangeChangeSeen, RevisionSeen } from "../range-versions.ts";

interface HeldLease {
  readonly owner: Owner;
  readonly epoch: number;
  hasSuccessor: boolean;
  /** Log time before which the lease does not expire. */
  floorMs: number;
}

export interface AppliedRequest {
  readonly timeMs: number;
  readonly command: ShardCommand | undefined;
  readonly answer: ShardAnswer | undefined;
  readonly seen: RevisionSeen | undefined;
}

export class SessionsChecker {
  readonly #isAlive: (owner: Owner) => boolean;
  readonly #leases = new Map<string, HeldLease>();
  readonly #durations = new Map<number, number>();
  readonly #spans = new Map<string, NonNullable<RangeChangeSeen["after"]>>();

  /** `isAlive`: whether the process that has registered as this incarnation still runs. */
  constructor(isAlive: (owner: Owner) => boolean) {
    this.#isAlive = isAlive;
  }

  /** After each entry, in order. */
  onApplied({ timeMs, command, answer, seen }: AppliedRequest): void {
    if (command?.kind === "createKeyspace") {
      const { keyspaceId, leaseDurationMs } = command.terms;
      if (!this.#durations.has(keyspaceId)) this.#durations.set(keyspaceId, leaseDurationMs);
    }
    for (const change of seen?.changes ?? []) this.#onChange(timeMs, change);
    if (command?.kind !== "renew" || answer?.result.kind !== "renewed") return;
    for (const [at, renewal] of command.renewals.entries()) {
      const isExtended = answer.result.answers[at]?.kind === "extended";
      if (isExtended) this.#renew(timeMs, renewal);
    }
  }

  #onChange(timeMs: number, { cause, before, after }: RangeChangeSeen): void {
    const rangeId = (after ?? before)?.rangeId ?? "";
    if (after !== undefined) this.#spans.set(rangeId, after);
    const lease = this.#leases.get(rangeId);
    if (cause === "expired") {
      must(lease !== undefined, 18, `${rangeId} expires, and nobody held it`);
      const isOver = timeMs >= lease.floorMs;
      must(isOver, 18, `${rangeId} expires at ${timeMs}, its lease lasts until ${lease.floorMs}`);
    }
    if (cause === "restarted") {
      const dead = before?.owner;
      must(dead !== undefined, 18, `${rangeId} had no owner to be restarted`);
      const who = `${dead.nodeId} ${dead.incarnation}`;
      must(!this.#isAlive(dead), 18, `${rangeId} is taken from ${who}, whose process runs`);
    }
    const owner = after?.owner;
    if (after === undefined || owner === undefined) {
      this.#leases.delete(rangeId);
      return;
    }
    const hasSuccessor = after.successor !== undefined;
    if (lease?.epoch === after.epoch) {
      lease.hasSuccessor = hasSuccessor;
      return;
    }
    const floorMs = timeMs + (this.#durations.get(after.keyspaceId) ?? 0);
    this.#leases.set(rangeId, { owner, epoch: after.epoch, hasSuccessor, floorMs });
  }

  /** Law 8: every range granted at or before asOf, excepted spans and successors aside. */
  #renew(timeMs: number, { nodeId, incarnation, asOf, except }: Renewal): void {
    for (const [rangeId, lease] of this.#leases) {
      const { owner, epoch, hasSuccessor } = lease;
      if (owner.nodeId !== nodeId || owner.incarnation !== incarnation) continue;
      const record = this.#spans.get(rangeId);
      if (epoch > asOf || hasSuccessor || record === undefined) continue;
      const isExcepted = except.some(
        (span) => span.keyspaceId === record.keyspaceId && spansOverlap(span, record),
      );
      if (isExcepted) continue;
      const durationMs = this.#durations.get(record.keyspaceId) ?? 0;
      lease.floorMs = Math.max(lease.floorMs, timeMs + durationMs);
    }
  }
}
