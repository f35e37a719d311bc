/**
 * How findings name a part of the key space: `[a, m)`, or in a ring the tokens it holds, first and
 * last included.
 */

import { type Bytes, bytesEqual } from "../base/bytes.ts";
import type { Span } from "../base/span.ts";
import { spanToText } from "../keys/span-text.ts";
import { keyToToken, TOKEN_MAX, TOKEN_MIN } from "../keys/token.ts";

export function spanName(span: Span, kind: "range" | "hash"): string {
  return kind === "range" ? spanToText(span) : tokensName(span);
}

/** What is wrong with a span that holds no key. */
export function invertedText(span: Span): string {
  const { startKey, endKey } = span;
  const order = endKey !== undefined && bytesEqual(startKey, endKey) ? "equals" : "is above";
  return `${spanToText(span)} holds no key: its start ${order} its end`;
}

function tokensName(span: Span): string {
  const first = span.startKey.length === 0 ? TOKEN_MIN : tokenOf(span.startKey);
  const end = span.endKey === undefined ? undefined : tokenOf(span.endKey);
  if (first === undefined || (end === undefined && span.endKey !== undefined)) {
    return spanToText(span);
  }
  const last = end === undefined ? TOKEN_MAX : end - 1n;
  return first === last ? `token ${first}` : `tokens ${first} to ${last}`;
}

function tokenOf(key: Bytes): bigint | undefined {
  const token = keyToToken(key);
  return token.ok ? token.value : undefined;
}
