/**
 * Numbers for values of any shape, to compare what replicas answer and hold. Not for secrets.
 */

import type { Bytes } from "../../src/base/bytes.ts";

/** Equal values give equal numbers, whatever objects they are made of. */
export function hashOf(value: unknown): number {
  return mixValue(0x811c9dc5, value) >>> 0;
}

function mixValue(hash: number, value: unknown): number {
  if (typeof value === "string") return mixText(hash, value);
  if (typeof value === "number") return mixNumber(hash, value);
  if (typeof value === "boolean") return mix(hash, value ? 1 : 2);
  if (value === undefined || value === null) return mix(hash, 3);
  if (value instanceof Uint8Array) return mixBytes(hash, value);
  if (isIterable(value)) {
    let mixed = mix(hash, 4);
    for (const item of value) mixed = mixValue(mixed, item);
    return mixed;
  }
  // Whatever the order of the fields.
  let sum = 0;
  for (const name in value) {
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field !== undefined) sum = (sum + mixValue(mixText(5, name), field)) | 0;
  }
  return mix(hash, sum);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function mixText(hash: number, text: string): number {
  let mixed = mix(hash, text.length);
  for (let at = 0; at < text.length; at++) mixed = mix(mixed, text.charCodeAt(at));
  return mixed;
}

function mixBytes(hash: number, bytes: Bytes): number {
  let mixed = mix(hash, bytes.length);
  for (const byte of bytes) mixed = mix(mixed, byte);
  return mixed;
}

function mixNumber(hash: number, value: number): number {
  return mix(mix(hash, value | 0), Math.floor(value / 2 ** 32));
}

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x01000193) ^ (hash >>> 15);
}
