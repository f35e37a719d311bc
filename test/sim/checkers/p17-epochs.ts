/**
 * Property 17: along the log the epoch of every key strictly rises with each grant, is the revision
 * of the grant, and never goes back, whatever the ranges are that the key was in.
 */

import type { Span } from "../../../src/base/span.ts";
import { spansEqual, spansOverlap } from "../../../src/base/span.ts";
import type { RangeRecord } from "../../../src/machine/shard/types.ts";
import { must } from "../must.ts";
import type { RangeChangeSeen, RevisionSeen } from "../range-versions.ts";

interface Granted {
  readonly span: Span;
  epoch: number;
}

export class EpochsChecker {
  /** By keyspace: the largest epoch of each span that was ever granted. */
  readonly #granted = new Map<number, Granted[]>();

  onRevision({ revision, changes }: RevisionSeen): void {
    for (const change of changes) this.#check(revision, change);
  }

  #check(revision: number, { keyspaceId, before, after }: RangeChangeSeen): void {
    if (after === undefined) return;
    const { rangeId, epoch, owner } = after;
    let granted = this.#granted.get(keyspaceId);
    if (granted === undefined) {
      granted = [];
      this.#granted.set(keyspaceId, granted);
    }
    const isGrant = epoch !== (before?.epoch ?? 0);
    for (const earlier of granted) {
      if (!spansOverlap(earlier.span, after)) continue;
      const isHigher = isGrant ? epoch > earlier.epoch : epoch >= earlier.epoch;
      must(isHigher, 17, `${rangeId} has epoch ${epoch} after ${earlier.epoch}`);
    }
    if (!isGrant) {
      const isNewOwner = owner !== undefined && !sameOwner(before, after);
      must(!isNewOwner, 17, `${rangeId} changes hands at ${revision} under epoch ${epoch}`);
      return;
    }
    must(epoch === revision, 17, `${rangeId} is granted at ${revision} under epoch ${epoch}`);
    const known = granted.find(({ span }) => spansEqual(span, after));
    if (known !== undefined) known.epoch = epoch;
    else granted.push({ span: { startKey: after.startKey, endKey: after.endKey }, epoch });
  }
}

function sameOwner(before: RangeRecord | undefined, after: RangeRecord): boolean {
  const { owner } = after;
  return (
    before?.owner?.nodeId === owner?.nodeId && before?.owner?.incarnation === owner?.incarnation
  );
}
