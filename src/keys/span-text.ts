/**
 * How key spans are shown and read: `[-inf, m)` in output, `A..B` as an argument of the CLI.
 *
 * In output a key that holds ", " has its comma escaped, so that the middle is found. In `A..B` an
 * empty side is open and `..` is the whole key space; the two dots must occur once, so a dot of a
 * key that touches another dot or an end of its side is written `\x2e`. `-inf` on the left and
 * `+inf` on the right are accepted as well.
 */

import { type Bytes, compareBytes, EMPTY_BYTES } from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { isValidSpan, type Span } from "../base/span.ts";
import { keyToText, textToKey } from "./text.ts";

export function startKeyToText(startKey: Bytes): string {
  return startKey.length === 0 ? "-inf" : keyToText(startKey);
}

export function endKeyToText(endKey: Bytes | undefined): string {
  return endKey === undefined ? "+inf" : keyToText(endKey);
}

/** `[start, end)`, with `-inf` and `+inf` for open bounds. */
export function spanToText(span: Span): string {
  const bounds = [startKeyToText(span.startKey), endKeyToText(span.endKey)];
  return `[${bounds.map((bound) => bound.replaceAll(", ", String.raw`\x2c `)).join(", ")})`;
}

/** The `A..B` that {@link textToSpan} reads as this span. */
export function spanToArgument(span: Span): string {
  const end = span.endKey === undefined ? "" : escapeDots(keyToText(span.endKey));
  return `${escapeDots(keyToText(span.startKey))}..${end}`;
}

/** Reads `A..B`. Refuses a span that holds no key. */
export function textToSpan(text: string): Result<Span, string> {
  const at = text.indexOf("..");
  if (at === -1) return failed("a span is written A..B; either side may be empty");
  if (text.indexOf("..", at + 1) !== -1) {
    return failed(String.raw`a span holds ".." once; write a key's own dots as \x2e`);
  }
  const startText = text.slice(0, at);
  const endText = text.slice(at + 2);
  const startKey = startText === "-inf" ? ok(EMPTY_BYTES) : textToKey(startText);
  if (!startKey.ok) return failed(`start of the span: ${startKey.error}`);
  if (endText === "" || endText === "+inf") {
    return ok({ startKey: startKey.value, endKey: undefined });
  }
  const endKey = textToKey(endText);
  if (!endKey.ok) return failed(`end of the span: ${endKey.error}`);
  const span = { startKey: startKey.value, endKey: endKey.value };
  if (isValidSpan(span)) return ok(span);
  const order = compareBytes(span.startKey, span.endKey) === 0 ? "equals" : "is above";
  return failed(`the span's start ${order} its end: it holds no key`);
}

function escapeDots(text: string): string {
  return text.replace(/^\.|\.$|(?<=\.)\.|\.(?=\.)/g, String.raw`\x2e`);
}
