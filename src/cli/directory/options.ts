// Option values of the verbs that talk to the directory. What can be refused without asking the
// directory is refused here, by commander's own error, so that the message names the option.
import { InvalidArgumentError } from "commander";
import type { Bytes } from "../../base/bytes.ts";
import type { Revision } from "../../base/brands.ts";
import type { Span } from "../../base/span.ts";
import type { KeyspaceKind } from "../../wire/api.ts";
import { ITEMS_MAX, NAME_CHARS_MAX } from "../../wire/limits.ts";
import { parseWholeNumber } from "../arguments.ts";
import { usageError } from "../failure.ts";
import { type EitherKind, readKey, readSpan } from "../render/keys.ts";

const NAME = /^[A-Za-z0-9_.-]+$/;

export function isName(text: string): boolean {
  return NAME.test(text) && text.length <= NAME_CHARS_MAX;
}

/** A keyspace's or storage node's name. */
export function parseName(text: string): string {
  if (isName(text)) return text;
  throw new InvalidArgumentError(
    `Give 1 to ${NAME_CHARS_MAX} of the characters A-Z a-z 0-9 _ . and -.`,
  );
}

/** Names with commas, none twice. */
export function parseNames(text: string): readonly string[] {
  const names = text.split(",").map((part) => parseName(part.trim()));
  return withoutRepeats(names);
}

/** Range ids with commas, none twice. */
export function parseRangeIds(text: string): readonly string[] {
  const ids = text.split(",").map((part) => parseRangeId(part.trim()));
  if (ids.length > ITEMS_MAX) {
    throw new InvalidArgumentError(`Give at most ${ITEMS_MAX} range ids, or a span.`);
  }
  return withoutRepeats(ids);
}

export function parseRangeId(text: string): string {
  if (/^[!-~]{1,128}$/.test(text)) return text;
  throw new InvalidArgumentError("Give a range id as `range list` prints it.");
}

export function parseSpan(text: string): EitherKind<Span> {
  const span = readSpan(text);
  if (!span.range.ok && !span.hash.ok) throw new InvalidArgumentError(asSentence(span.range.error));
  return span;
}

export function parseKey(text: string): EitherKind<Bytes> {
  const key = readKey(text);
  if (!key.range.ok && !key.hash.ok) throw new InvalidArgumentError(asSentence(key.range.error));
  return key;
}

/** The value in the keyspace's own form; `flag` names it in the refusal. */
export function valueOfKind<T>(value: EitherKind<T>, kind: KeyspaceKind, flag: string): T {
  const result = value[kind];
  if (result.ok) return result.value;
  const remedy =
    kind === "hash" ? "this keyspace's keys are tokens, signed 64-bit decimal numbers" : undefined;
  throw usageError(`${flag}: ${result.error}`, remedy);
}

/** A revision as `-o json` prints it. */
export function parseRevision(text: string): Revision {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value as Revision;
  throw new InvalidArgumentError("Give a revision: a whole number below 2^53.");
}

export function parsePageSize(text: string): number {
  return parseWholeNumber(text, { min: 1, max: 10_000, what: "a number of ranges" });
}

/** A token of opaque bytes, as text that no shell changes. */
export function parseToken(text: string): Bytes {
  if (text === "" || !/^[A-Za-z0-9_-]+$/.test(text)) {
    throw new InvalidArgumentError("Give a resume token as `watch` prints it.");
  }
  return new Uint8Array(Buffer.from(text, "base64url"));
}

export function tokenText(token: Bytes): string {
  return Buffer.from(token).toString("base64url");
}

/** `k=v`, gathered over several uses of the option. */
export function gatherPairs(
  text: string,
  before: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Give NAME=VALUE.");
  const name = text.slice(0, at);
  if (before !== undefined && Object.hasOwn(before, name)) {
    throw new InvalidArgumentError(`"${name}" is given twice.`);
  }
  return { ...before, [name]: text.slice(at + 1) };
}

function withoutRepeats(names: readonly string[]): readonly string[] {
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated === undefined) return names;
  throw new InvalidArgumentError(`"${repeated}" is given twice.`);
}

function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
