/**
 * Property 3: one entry per index and term in all logs of a group, with one predecessor; no gaps,
 * and neither terms nor log times that go back along a log.
 */

import type { LogIndex } from "../../../src/base/brands.ts";
import { positionKey, sameEntry } from "../entries.ts";
import type { GroupHistory, Step } from "../group-history.ts";
import { must } from "../must.ts";

export function checkLogMatching(history: GroupHistory, step: Step): void {
  const { core, after, output, trueMs } = step;
  const entries = output.persist?.entries ?? [];
  for (const entry of entries) {
    const { index, term, timeMs } = entry;
    const at = `${term}/${index}`;
    const previous = core.entryAt((index - 1) as LogIndex);
    if (previous !== undefined) {
      must(previous.term <= term, 3, `${at} stands behind an entry of term ${previous.term}`);
      must(previous.timeMs <= timeMs, 3, `${at} is stamped before the entry before it`);
    }
    const known = history.madeAt(entry);
    if (known === undefined) {
      const isMadeHere = after.role === "leader" && term === after.term;
      must(isMadeHere, 3, `${at} appears at server ${step.server}, and no leader has made it`);
      const prevTerm = index === 1 ? 0 : previous?.term;
      history.made.set(positionKey(entry), { entry, prevTerm, stampedMs: trueMs });
      continue;
    }
    must(sameEntry(known.entry, entry), 3, `${at} is not the same everywhere`);
    if (previous === undefined || known.prevTerm === undefined) continue;
    must(
      known.prevTerm === previous.term,
      3,
      `what stands before ${at} is not the same everywhere`,
    );
  }
}
