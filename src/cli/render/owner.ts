// How an owner, or the lack of one, is named: UNOWNED stands out, and says for whom a range waits,
// or who comes next.
import type { Owner, RangeRecord } from "../../wire/api.ts";

/** The owner of a range in one cell. */
export function ownerText(owner: Owner | undefined, intendedNodeId: string | undefined): string {
  if (owner !== undefined) return owner.nodeId;
  return intendedNodeId === undefined ? "UNOWNED" : `UNOWNED, intended for ${intendedNodeId}`;
}

/** With the successor that waits for the lease to end. */
export function holderText(record: RangeRecord): string {
  const text = ownerText(record.descriptor.owner, record.intendedNodeId);
  return record.successor === undefined ? text : `${text}, then ${record.successor.nodeId}`;
}

/** An owner and which of its processes. */
export function incarnationText(owner: Owner): string {
  return `${owner.nodeId} (incarnation ${owner.incarnation})`;
}
