/**
 * Request ids: one counter per client, and per group the ids whose answers are still outstanding,
 * of which the lowest is what the group must keep answers from (law 5).
 *
 * An id counts as outstanding from its making until its answer is held or it is abandoned. Ids of
 * calls that ended with an unknown outcome stay outstanding, so that the caller can still ask. They
 * are given up when they are too many or too far behind: the group keeps the answers of all later
 * ids meanwhile, and one lost answer must not fill its memory.
 */

import type { GroupId, Revision } from "../base/brands.ts";
import type { RequestId } from "../wire/api.ts";

const UNRESOLVED_MAX = 256;
/** Ids that may be made after one that is not under way. A hundred such clients fill a group. */
const LATER_IDS_MAX = 1_000;

interface GroupIds {
  /** In ascending order: sequences are made in order, and re-used ids are rare. */
  readonly inFlight: Set<number>;
  readonly unresolved: Set<number>;
}

export class RequestIds {
  readonly clientId: string;
  #lastSequence = 0;
  readonly #groups = new Map<GroupId, GroupIds>();

  constructor(clientId: string) {
    this.clientId = clientId;
  }

  /** A fresh id, outstanding from now on. */
  make(group: GroupId, seenRevision: Revision): RequestId {
    const sequence = ++this.#lastSequence;
    const ids = this.#ids(group);
    ids.unresolved.add(sequence);
    for (const old of [...ids.unresolved].toSorted((a, b) => a - b)) {
      const isTooFar = sequence - old > LATER_IDS_MAX;
      if (!isTooFar && ids.unresolved.size <= UNRESOLVED_MAX) break;
      ids.unresolved.delete(old);
    }
    const acknowledgedBelow = Math.min(sequence, ...ids.inFlight, ...ids.unresolved);
    return { clientId: this.clientId, sequence, seenRevision, acknowledgedBelow };
  }

  /** A call with this id starts: it can't be given up while it runs. */
  begin(group: GroupId, id: RequestId): void {
    if (id.clientId !== this.clientId) return;
    const ids = this.#ids(group);
    ids.unresolved.delete(id.sequence);
    ids.inFlight.add(id.sequence);
  }

  /** The call has ended; `resolved`: its answer, or a decision against it, is held. */
  end(group: GroupId, id: RequestId, resolved: boolean): void {
    if (id.clientId !== this.clientId) return;
    const ids = this.#ids(group);
    ids.inFlight.delete(id.sequence);
    if (!resolved) ids.unresolved.add(id.sequence);
  }

  /** The caller will never ask for this id's answer. */
  abandon(group: GroupId, id: RequestId): void {
    if (id.clientId === this.clientId) this.#ids(group).unresolved.delete(id.sequence);
  }

  #ids(group: GroupId): GroupIds {
    let ids = this.#groups.get(group);
    if (ids === undefined) {
      ids = { inFlight: new Set(), unresolved: new Set() };
      this.#groups.set(group, ids);
    }
    return ids;
  }
}
