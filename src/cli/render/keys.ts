// Keys and spans in the form of their keyspace: text (keys/text.ts) in a range keyspace, decimal
// tokens in a hash keyspace whose positions are given. Arguments come before it is known which of
// the two a keyspace is, so they are read as both at once and refused at once if they are neither.
import { type Bytes, bytesToHex } from "../../base/bytes.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { isValidSpan, type Span } from "../../base/span.ts";
import { spanToText, textToSpan } from "../../keys/span-text.ts";
import { keyToJson, keyToText, textToKey } from "../../keys/text.ts";
import { keyToToken, textToToken, tokenToKey } from "../../keys/token.ts";
import type { KeyspaceKind } from "../../wire/api.ts";
import type { JsonValue } from "../context.ts";

export interface EitherKind<T> {
  readonly range: Result<T, string>;
  readonly hash: Result<T, string>;
}

export function keyText(key: Bytes, kind: KeyspaceKind): string {
  return (kind === "hash" ? tokenText(key) : undefined) ?? keyToText(key);
}

export function spanText(span: Span, kind: KeyspaceKind): string {
  if (kind === "range") return spanToText(span);
  const start = span.startKey.length === 0 ? "-inf" : tokenText(span.startKey);
  const end = span.endKey === undefined ? "+inf" : tokenText(span.endKey);
  return start === undefined || end === undefined ? spanToText(span) : `[${start}, ${end})`;
}

/** `utf8` only where it is the whole truth; `token` in hash keyspaces. */
export function keyJson(key: Bytes, kind: KeyspaceKind): JsonValue {
  const token = kind === "hash" ? tokenText(key) : undefined;
  return token === undefined ? { ...keyToJson(key) } : { token, hex: bytesToHex(key) };
}

/** An open end is null: an empty start is -inf. */
export function spanJson(
  span: Span,
  kind: KeyspaceKind,
): { readonly start: JsonValue; readonly end: JsonValue } {
  return {
    start: span.startKey.length === 0 ? null : keyJson(span.startKey, kind),
    end: span.endKey === undefined ? null : keyJson(span.endKey, kind),
  };
}

export function readKey(text: string): EitherKind<Bytes> {
  const token = textToToken(text);
  return { range: textToKey(text), hash: token.ok ? ok(tokenToKey(token.value)) : token };
}

/** `A..B`. */
export function readSpan(text: string): EitherKind<Span> {
  return { range: textToSpan(text), hash: textToTokenSpan(text) };
}

function textToTokenSpan(text: string): Result<Span, string> {
  const [, startText, endText] = /^([^.]*)\.\.([^.]*)$/.exec(text) ?? [];
  if (startText === undefined || endText === undefined) {
    return failed("a span of tokens is written A..B; either side may be empty");
  }
  const startKey = isOpen(startText, "-inf") ? ok(new Uint8Array(0)) : tokenKey(startText);
  if (!startKey.ok) return startKey;
  const endKey = isOpen(endText, "+inf") ? ok(undefined) : tokenKey(endText);
  if (!endKey.ok) return endKey;
  const span = { startKey: startKey.value, endKey: endKey.value };
  return isValidSpan(span)
    ? ok(span)
    : failed(`the span ${startText}..${endText} holds no token: its start is not below its end`);
}

function isOpen(text: string, name: string): boolean {
  return text === "" || text === name;
}

function tokenKey(text: string): Result<Bytes, string> {
  const token = textToToken(text);
  return token.ok ? ok(tokenToKey(token.value)) : failed(`${text}: ${token.error}`);
}

function tokenText(key: Bytes): string | undefined {
  const token = keyToToken(key);
  return token.ok ? String(token.value) : undefined;
}
