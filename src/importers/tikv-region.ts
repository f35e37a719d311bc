/**
 * One TiKV region as a listing shows it, whatever the listing's form, and what all forms have in
 * common: ids, and empty boundaries as open ends.
 */

import type { Bytes } from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Span } from "../base/span.ts";

export interface Region {
  readonly regionId: string;
  readonly span: Span;
  /** "" when the region has no leader. */
  readonly leaderStoreId: string;
  readonly hasEmptyBoundary: boolean;
  readonly line: number;
}

/** A decimal id, which must not pass through a number. "" stands for none. */
export function checkId(text: string): Result<string, string> {
  return /^[0-9]{1,20}$/.test(text) ? ok(text) : failed("an id is a whole number");
}

/** A region's span; empty boundaries are open ends. */
export function regionSpan(
  startKey: Bytes,
  endKey: Bytes,
): Pick<Region, "span" | "hasEmptyBoundary"> {
  return {
    span: { startKey, endKey: endKey.length === 0 ? undefined : endKey },
    hasEmptyBoundary: startKey.length === 0 || endKey.length === 0,
  };
}
