/**
 * How two processes of one incarnation are told apart: by the pairs that its renewals carry (law
 * 13). A copied machine holds what its original held when it was copied, so its renewals cannot
 * know of what the original has sent since.
 */

import type { Renewal, RenewalPair } from "./commands.ts";

/**
 * "run": it follows the last applied renewal, or is that one again. "late": an older copy, without
 * effect. "otherProcess": another process of this incarnation has sent the last applied one.
 */
export type PairVerdict = "run" | "late" | "otherProcess";

/** Judges a renewal against the last one of its incarnation that was applied here. */
export function judgePair(
  last: RenewalPair | undefined,
  { pair, known }: Pick<Renewal, "pair" | "known">,
): PairVerdict {
  if (last === undefined || isSamePair(pair, last)) return "run";
  if (pair.sequence < last.sequence) return "late";
  if (pair.sequence === last.sequence) return "otherProcess";
  return known.some((one) => isSamePair(one, last)) ? "run" : "otherProcess";
}

function isSamePair(a: RenewalPair, b: RenewalPair): boolean {
  return a.sequence === b.sequence && a.nonce === b.nonce;
}
