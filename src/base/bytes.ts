/**
 * Byte strings: order, equality, concatenation, and the text forms that people read.
 *
 * Keys are byte strings and are ordered as unsigned bytes, a prefix first. Nothing here decodes
 * keys for a decision: text forms are for output only.
 */

export type Bytes = Uint8Array;

export const EMPTY_BYTES: Bytes = new Uint8Array(0);

/** Unsigned lexicographic order: negative, zero or positive. */
export function compareBytes(a: Bytes, b: Bytes): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function bytesEqual(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}

export function concatBytes(...parts: readonly Bytes[]): Bytes {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8ToBytes(text: string): Bytes {
  return encoder.encode(text);
}

/** The text, or undefined when the bytes are not valid UTF-8. */
export function bytesToUtf8(bytes: Bytes): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

const HEX_DIGITS = "0123456789abcdef";

export function bytesToHex(bytes: Bytes): string {
  let hex = "";
  for (const byte of bytes) hex += HEX_DIGITS.charAt(byte >> 4) + HEX_DIGITS.charAt(byte & 15);
  return hex;
}

/** The bytes, or undefined when the text is not an even number of hex digits. */
export function hexToBytes(hex: string): Bytes | undefined {
  if (hex.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(hex)) return undefined;
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16);
  }
  return bytes;
}

/** The smallest byte string that is greater than every one with this prefix; undefined: none. */
export function prefixEnd(prefix: Bytes): Bytes | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const end = prefix.slice(0, length);
  end[length - 1] = (end[length - 1] as number) + 1;
  return end;
}
