/**
 * Property 10: a snapshot, taken, offered or installed, and the base of a log stand at committed
 * entries; a log begins no later than behind its snapshot; what a replica has applied never goes
 * back. (That its state is the model's is property 11, at every cut and every restored machine.)
 */

import type { Outbound } from "../../../src/raft/output.ts";
import type { LogPosition } from "../../../src/raft/types.ts";
import type { GroupHistory, Step } from "../group-history.ts";
import { must } from "../must.ts";

export function checkSnapshots(history: GroupHistory, step: Step): void {
  const { before, after, output, server } = step;
  const { install, persist, fetches } = output;
  for (const position of [install, persist?.snapshot, persist?.base]) {
    if (position !== undefined) checkPosition(history, `server ${server}`, position);
  }
  for (const { position } of fetches) checkPosition(history, `an offer to ${server}`, position);
  const { baseIndex, snapshotIndex } = after;
  const hasNoGap = baseIndex <= snapshotIndex;
  must(
    hasNoGap,
    10,
    `server ${server} has a log from ${baseIndex}, a snapshot at ${snapshotIndex}`,
  );
  const isForward = after.appliedIndex >= before.appliedIndex;
  must(isForward, 10, `server ${server} goes back from ${before.appliedIndex}`);
}

export function checkOffer(history: GroupHistory, server: number, { message }: Outbound): void {
  if (message.kind !== "snapshotOffer") return;
  checkPosition(history, `an offer by ${server}`, message.position);
}

function checkPosition(history: GroupHistory, who: string, { index, term }: LogPosition): void {
  if (index === 0) return;
  const committed = history.committedAt(index);
  must(committed !== undefined, 10, `${who} has a snapshot at ${index}, which is not committed`);
  must(committed.term === term, 10, `${who} has a snapshot at ${term}/${index}, never committed`);
}
