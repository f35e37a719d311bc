/**
 * Property 4: a leader only appends in its term, and its log holds every entry ever committed in an
 * earlier one. One entry is enough to look at: property 3 vouches for those before it.
 */

import type { LogIndex } from "../../../src/base/brands.ts";
import { sameEntry } from "../entries.ts";
import type { GroupHistory, Step } from "../group-history.ts";
import { must } from "../must.ts";

export function checkLeaderLog(history: GroupHistory, step: Step): void {
  const { before, after, core, output, server } = step;
  if (after.role !== "leader") return;
  if (before.role === "leader" && before.term === after.term) {
    const cut = output.persist?.truncateFrom;
    must(cut === undefined, 4, `leader ${server} of term ${after.term} cuts its log from ${cut}`);
    return;
  }
  // A late vote can make a leader of a term that is already over; it will commit nothing.
  const last = history.committedInTerm.findLastIndex((term) => term < after.term) + 1;
  const committed = history.committedAt(last);
  if (committed === undefined) return;
  const held = core.entryAt(last as LogIndex);
  const isBehindBase = held === undefined && after.commitIndex >= last;
  must(
    isBehindBase || sameEntry(held, committed),
    4,
    `leader ${server} of term ${after.term} has not the committed ${committed.term}/${last}`,
  );
}
