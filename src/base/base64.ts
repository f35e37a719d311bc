/**
 * Base64 in the URL-safe alphabet without padding: opaque tokens that are copied by hand.
 * Strict: what bytesToBase64 would not give is not read.
 */

import type { Bytes } from "./bytes.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUES = new Map(Array.from(ALPHABET, (character, value) => [character, value]));

export function bytesToBase64(bytes: Bytes): string {
  let encoded = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const first = bytes[at] as number;
    const second = bytes[at + 1];
    const third = bytes[at + 2];
    encoded += ALPHABET.charAt(first >> 2);
    encoded += ALPHABET.charAt(((first & 3) << 4) | ((second ?? 0) >> 4));
    if (second === undefined) break;
    encoded += ALPHABET.charAt(((second & 15) << 2) | ((third ?? 0) >> 6));
    if (third === undefined) break;
    encoded += ALPHABET.charAt(third & 63);
  }
  return encoded;
}

/** The bytes, or undefined when the text is not what bytesToBase64 gives. */
export function base64ToBytes(encoded: string): Bytes | undefined {
  if (encoded.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((encoded.length * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let at = 0;
  for (const character of encoded) {
    const value = VALUES.get(character);
    if (value === undefined) return undefined;
    bits = ((bits << 6) | value) & 0xffff;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes[at++] = (bits >> bitCount) & 0xff;
  }
  const leftOver = bits & ((1 << bitCount) - 1);
  return leftOver === 0 ? bytes : undefined;
}
