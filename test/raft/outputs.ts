/** Outputs of a core, made by hand. */

import type { LogIndex, Term } from "../../src/base/brands.ts";
import type { Output, Persist } from "../../src/raft/output.ts";

/** Of a step that has come to nothing. */
export const NOTHING: Output = {
  persist: undefined,
  sendNow: [],
  sendAfterPersist: [],
  install: undefined,
  fetches: [],
  committed: [],
  readsReady: [],
  proposed: [],
  refused: [],
  transitions: [],
};

/** To persist nothing but this. */
export function persistOf(lastIndex: number, more: Partial<Persist> = {}): Persist {
  return {
    hardState: undefined,
    truncateFrom: undefined,
    base: undefined,
    snapshot: undefined,
    entries: [],
    lastTerm: 1 as Term,
    lastIndex: lastIndex as LogIndex,
    ...more,
  };
}
