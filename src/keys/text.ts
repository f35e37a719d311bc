/**
 * How keys are shown and read by people: in the CLI, in JSON and in logs. Every key has one text
 * form, and reading it gives the same bytes back.
 *
 * Shown: characters that print stand for their UTF-8 bytes; a backslash is `\\`; every other byte
 * is `\xNN` (controls, invisible and unassigned characters, what is not UTF-8, a space at an end or
 * after a space, and the first character of a text that would otherwise be read as one of the forms
 * below). The empty key is the empty text.
 * Read: the same, `\xNN` in either case, any other character as it stands; or, when the text begins
 * with `hex:` or `0x`, an even number of hex digits and nothing else. `-inf` and `+inf` are open
 * bounds, never keys: the keys of these four letters are `\x2dinf` and `\x2binf`.
 */

import {
  type Bytes,
  bytesEqual,
  bytesToHex,
  bytesToUtf8,
  hexToBytes,
  utf8ToBytes,
} from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";

/** A key in JSON: `hex` always, `utf8` when the bytes are valid UTF-8. */
export interface KeyJson {
  readonly utf8?: string;
  readonly hex: string;
}

const BACKSLASH = 0x5c;
const SPACE = 0x20;

const PLAIN_ASCII = /^[!-[\]-~]+$/;
const UNPRINTABLE = /^(?:\p{C}|\p{Z}|\p{Default_Ignorable_Code_Point})$/u;
const COMBINING = /^\p{M}$/u;
/** What the reader would not take for the characters themselves. */
const OTHER_FORM = /^(?:hex:|0x|[-+]inf$)/;
const HEX_FORM = /^(?:hex:|0x)/;
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** The one text form of a key. {@link textToKey} gives the same bytes back. */
export function keyToText(key: Bytes): string {
  const whole = bytesToUtf8(key);
  const text = whole !== undefined && PLAIN_ASCII.test(whole) ? whole : escapeKey(key);
  return OTHER_FORM.test(text) ? escapeByte(key[0] as number) + text.slice(1) : text;
}

/** Reads a key's text form. A refusal says what is wrong with the text, and where. */
export function textToKey(text: string): Result<Bytes, string> {
  if (text === "-inf" || text === "+inf") {
    const letters = escapeByte(text.charCodeAt(0)) + text.slice(1);
    return failed(`${text} is an open bound; the key of these letters is ${letters}`);
  }
  const prefix = HEX_FORM.exec(text)?.[0];
  if (prefix !== undefined) {
    const bytes = hexToBytes(text.slice(prefix.length));
    return bytes === undefined
      ? failed(`after ${prefix} an even number of hex digits must follow`)
      : ok(bytes);
  }
  const surrogate = LONE_SURROGATE.exec(text);
  if (surrogate !== null) return failed(`character ${surrogate.index + 1} is half a character`);
  return text.includes("\\") ? unescapeKey(text) : ok(utf8ToBytes(text));
}

export function keyToJson(key: Bytes): KeyJson {
  const utf8 = bytesToUtf8(key);
  const hex = bytesToHex(key);
  return utf8 === undefined ? { hex } : { utf8, hex };
}

/**
 * Reads a key in JSON: `{"utf8": ...}`, `{"hex": ...}`, both when they agree, or a string, which is
 * the text form.
 */
export function jsonToKey(value: unknown): Result<Bytes, string> {
  if (typeof value === "string") return textToKey(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return failed('a key is a string, {"utf8": ...} or {"hex": ...}');
  }
  const { utf8, hex, ...others } = value as Record<string, unknown>;
  const other = Object.keys(others)[0];
  if (other !== undefined) return failed(`a key has no field ${JSON.stringify(other)}`);
  if (utf8 !== undefined && (typeof utf8 !== "string" || LONE_SURROGATE.test(utf8))) {
    return failed("a key's utf8 must be a string of whole characters");
  }
  const hexBytes = typeof hex === "string" ? hexToBytes(hex) : undefined;
  if (hex !== undefined && hexBytes === undefined) {
    return failed("a key's hex must be an even number of hex digits");
  }
  const utf8Bytes = utf8 === undefined ? undefined : utf8ToBytes(utf8);
  if (utf8Bytes !== undefined && hexBytes !== undefined && !bytesEqual(utf8Bytes, hexBytes)) {
    return failed("a key's utf8 and hex are different keys");
  }
  const key = hexBytes ?? utf8Bytes;
  return key === undefined ? failed("a key needs utf8 or hex") : ok(key);
}

function escapeKey(key: Bytes): string {
  let text = "";
  // A combining mark would join an escape, a space, or whatever is printed before the key.
  let mayCombine = false;
  for (let at = 0; at < key.length;) {
    const { character, length } = characterAt(key, at);
    let isShown = false;
    if (character !== undefined) isShown = isPrintable(character, { key, at, mayCombine });
    if (character === "\\") text += "\\\\";
    else if (isShown) text += character;
    else text += escapeBytes(key.subarray(at, at + length));
    mayCombine = isShown && character !== " ";
    at += length;
  }
  return text;
}

function isPrintable(
  character: string,
  place: { readonly key: Bytes; readonly at: number; readonly mayCombine: boolean },
): boolean {
  const { key, at, mayCombine } = place;
  if (character === "\\") return false;
  if (character === " ") return at > 0 && at < key.length - 1 && key[at - 1] !== SPACE;
  return !UNPRINTABLE.test(character) && (mayCombine || !COMBINING.test(character));
}

function escapeBytes(bytes: Bytes): string {
  let text = "";
  for (const byte of bytes) text += escapeByte(byte);
  return text;
}

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** The well-formed UTF-8 character that starts here, or the one byte that is none. */
function characterAt(bytes: Bytes, at: number): { character: string | undefined; length: number } {
  const lead = bytes[at] as number;
  const length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const character = bytesToUtf8(bytes.subarray(at, at + length));
  return { character, length: character === undefined ? 1 : length };
}

function unescapeKey(text: string): Result<Bytes, string> {
  const source = utf8ToBytes(text);
  const key = new Uint8Array(source.length);
  let length = 0;
  for (let at = 0; at < source.length;) {
    if (source[at] !== BACKSLASH) {
      key[length++] = source[at++] as number;
      continue;
    }
    const escape = readEscape(source, at);
    if (escape === undefined) {
      return failed(`byte ${at + 1}: after a backslash comes \\ or xNN (two hex digits)`);
    }
    key[length++] = escape.byte;
    at += escape.length;
  }
  return ok(key.slice(0, length));
}

function readEscape(source: Bytes, at: number): { byte: number; length: number } | undefined {
  if (source[at + 1] === BACKSLASH) return { byte: BACKSLASH, length: 2 };
  const digits = bytesToUtf8(source.subarray(at + 1, at + 4)) ?? "";
  if (!/^x[0-9a-fA-F]{2}$/.test(digits)) return undefined;
  return { byte: Number.parseInt(digits.slice(1), 16), length: 4 };
}
