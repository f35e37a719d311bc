/**
 * A ring's ranges, (previous token, token], as spans of token keys.
 *
 * (p, t] is [p+1, t+1). A range whose previous token is not below its token wraps around the end
 * of the token space and becomes two spans; with equal tokens it is the whole ring.
 */

import { EMPTY_BYTES } from "../base/bytes.ts";
import { type Span, WHOLE_SPAN } from "../base/span.ts";
import { TOKEN_MAX, tokenToKey } from "../keys/token.ts";

export interface RingRange {
  /** Exclusive. */
  readonly previous: bigint;
  /** Inclusive. */
  readonly token: bigint;
  readonly owner: string | undefined;
  readonly line: number;
}

/** One span, or two when the range wraps. */
export function ringRangeToSpans(range: Pick<RingRange, "previous" | "token">): Span[] {
  const { previous, token } = range;
  if (previous === token) return [WHOLE_SPAN];
  const endKey = token === TOKEN_MAX ? undefined : tokenToKey(token + 1n);
  // The largest token has no successor: a range after it begins at the start of the space.
  const startKey = previous === TOKEN_MAX ? EMPTY_BYTES : tokenToKey(previous + 1n);
  if (previous < token || previous === TOKEN_MAX) return [{ startKey, endKey }];
  return [
    { startKey: EMPTY_BYTES, endKey },
    { startKey, endKey: undefined },
  ];
}

/** `(-5, 17]`, as the ring's owner writes it. */
export function ringRangeToText(range: Pick<RingRange, "previous" | "token">): string {
  return `(${range.previous}, ${range.token}]`;
}
