/** Pairs of renewals (law 13): mostly the next one, now and then a repeat or a late copy. */

import type { Prng } from "../../../src/base/prng.ts";
import type { Renewal, RenewalPair } from "../../../src/machine/shard/commands.ts";

/** `conflicts` is the chance of a renewal by another process of the same incarnation. */
export function randomPair(
  prng: Prng,
  last: RenewalPair | undefined,
  conflicts = 0.01,
): Pick<Renewal, "pair" | "known"> {
  const sequence = last?.sequence ?? 0;
  const nonce = prng.nextInteger(1, 1_000_000);
  const earlier = { sequence: Math.max(1, sequence - 1), nonce: 0 };
  if (last !== undefined && prng.chance(0.05)) return { pair: last, known: [] };
  if (prng.chance(0.03)) return { pair: earlier, known: [] };
  if (prng.chance(conflicts)) {
    const isSame = prng.chance(0.5);
    return { pair: { sequence: sequence + (isSame ? 0 : 1), nonce }, known: [earlier] };
  }
  const known = last === undefined ? [] : prng.chance(0.5) ? [last] : [earlier, last];
  return { pair: { sequence: sequence + prng.nextInteger(1, 3), nonce }, known };
}
