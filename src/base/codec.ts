/**
 * Binary codecs, composed: each type's form is declared once and both written and read by it.
 *
 * Unsigned integers are varints of at most 53 bits; strings and byte strings are prefixed by their
 * length. Reading is total: `decode` answers an error for any bytes that are not exactly one value.
 * The forms are stored and sent, so a changed declaration needs a new version (golden tests).
 */

import { assert } from "./assert.ts";
import { type Bytes, bytesToUtf8, utf8ToBytes } from "./bytes.ts";
import { failed, ok, type Result } from "./result.ts";

export interface Codec<T> {
  write(writer: ByteWriter, value: T): void;
  /** Throws {@link DecodeError}; only `decode` calls it from outside. */
  read(reader: ByteReader): T;
}

export type ValueOf<C> = C extends Codec<infer T> ? T : never;

/** Bytes that are not a value of the expected type. Never leaves this module. */
class DecodeError extends Error {
  override readonly name = "DecodeError";
}

export function encode<T>(codec: Codec<T>, value: T): Bytes {
  const writer = new ByteWriter();
  codec.write(writer, value);
  return writer.finish();
}

/** The value, or why the bytes are not exactly one. */
export function decode<T>(codec: Codec<T>, bytes: Bytes): Result<T, string> {
  const reader = new ByteReader(bytes);
  try {
    const value = codec.read(reader);
    if (reader.remaining > 0) return failed(`${reader.remaining} bytes are left over`);
    return ok(value);
  } catch (error) {
    if (error instanceof DecodeError) return failed(error.message);
    throw error;
  }
}

/** A text below it has a length of one byte, whatever it holds in ASCII. */
const SHORT_TEXT = 0x80;

export class ByteWriter {
  #buffer = new Uint8Array(256);
  #length = 0;

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  uint(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, `an encoded number is in bounds: ${value}`);
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length++] = rest;
  }

  bytes(value: Bytes): void {
    this.uint(value.length);
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  /** UTF-8, prefixed by its length in bytes. */
  text(value: string): void {
    // Short names of ASCII are most of what is written: they need no encoder and no copy.
    if (value.length >= SHORT_TEXT) return this.bytes(utf8ToBytes(value));
    this.#reserve(value.length + 1);
    const start = this.#length + 1;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit >= 0x80) return this.bytes(utf8ToBytes(value));
      this.#buffer[start + i] = unit;
    }
    this.#buffer[this.#length] = value.length;
    this.#length = start + value.length;
  }

  /** Bytes written and not taken. */
  get length(): number {
    return this.#length;
  }

  finish(): Bytes {
    return this.#buffer.slice(0, this.#length);
  }

  /** What was written and not taken, without a copy: valid until the next call. */
  view(): Bytes {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Takes the first bytes, at most `count`, and keeps the others. */
  takeFront(count: number): Bytes {
    const taken = this.#buffer.slice(0, Math.min(count, this.#length));
    this.#buffer.copyWithin(0, taken.length, this.#length);
    this.#length -= taken.length;
    return taken;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + count));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

const ASCII: readonly string[] = Array.from({ length: 0x80 }, (_, unit) =>
  String.fromCharCode(unit),
);

export class ByteReader {
  readonly #bytes: Bytes;
  #at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    const value = this.#bytes[this.#at++];
    if (value === undefined) throw new DecodeError("the bytes end too early");
    return value;
  }

  uint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw new DecodeError("a number is above 2^53 - 1");
        if (byte === 0 && count > 0) throw new DecodeError("a number has a needless zero byte");
        return value;
      }
      factor *= 0x80;
    }
    throw new DecodeError("a number is longer than 53 bits");
  }

  /** A copy: what is decoded outlives the buffer that it came in. */
  bytes(): Bytes {
    const [start, end] = this.#span();
    return this.#bytes.slice(start, end);
  }

  text(): string {
    const [start, end] = this.#span();
    const ascii = end - start < SHORT_TEXT ? this.#shortAscii(start, end) : undefined;
    const value = ascii ?? bytesToUtf8(this.#bytes.subarray(start, end));
    if (value === undefined) throw new DecodeError("a text is not UTF-8");
    return value;
  }

  /** Reads a length, and passes over so many bytes. */
  #span(): readonly [start: number, end: number] {
    const length = this.uint();
    if (length > this.remaining) throw new DecodeError("a byte string ends too early");
    const start = this.#at;
    this.#at += length;
    return [start, this.#at];
  }

  #shortAscii(start: number, end: number): string | undefined {
    let value = "";
    for (let i = start; i < end; i++) {
      const unit = this.#bytes[i] as number;
      if (unit >= 0x80) return undefined;
      value += ASCII[unit];
    }
    return value;
  }
}

export const uint: Codec<number> = {
  write: (writer, value) => writer.uint(value),
  read: (reader) => reader.uint(),
};

/** An unsigned integer under a brand. */
export function brandedUint<T extends number>(): Codec<T> {
  return uint as unknown as Codec<T>;
}

export const bool: Codec<boolean> = {
  write: (writer, value) => writer.byte(value ? 1 : 0),
  read: (reader) => {
    const byte = reader.byte();
    if (byte > 1) throw new DecodeError("a boolean is neither 0 nor 1");
    return byte === 1;
  },
};

export const byteString: Codec<Bytes> = {
  write: (writer, value) => writer.bytes(value),
  read: (reader) => reader.bytes(),
};

export const text: Codec<string> = {
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.text(),
};

export function optional<T>(inner: Codec<T>): Codec<T | undefined> {
  return {
    write: (writer, value) => {
      writer.byte(value === undefined ? 0 : 1);
      if (value !== undefined) inner.write(writer, value);
    },
    read: (reader) => (bool.read(reader) ? inner.read(reader) : undefined),
  };
}

export function list<T>(inner: Codec<T>): Codec<readonly T[]> {
  return {
    write: (writer, values) => {
      writer.uint(values.length);
      for (const value of values) inner.write(writer, value);
    },
    read: (reader) => {
      const length = reader.uint();
      // Every element takes at least a byte, so a forged length can't reserve memory.
      if (length > reader.remaining) throw new DecodeError("a list ends too early");
      const values: T[] = [];
      for (let i = 0; i < length; i++) values.push(inner.read(reader));
      return values;
    },
  };
}

/** One of a fixed list of words, stored as its position: append new ones at the end only. */
export function oneOf<const Words extends readonly string[]>(words: Words): Codec<Words[number]> {
  return {
    write: (writer, value) => {
      const position = words.indexOf(value);
      assert(position >= 0, `a word is in the list: ${value}`);
      writer.byte(position);
    },
    read: (reader) => {
      const word = words[reader.byte()];
      if (word === undefined) throw new DecodeError("a word is unknown");
      return word;
    },
  };
}

type Fields = Readonly<Record<string, Codec<never>>>;
type FieldsOf<T> = { readonly [K in keyof T]-?: Codec<T[K]> };

/** An object with these fields, in the order of the declaration. */
export function struct<T extends object>(fields: FieldsOf<T>): Codec<T> {
  const entries = Object.entries(fields as unknown as Fields);
  return {
    write: (writer, value) => {
      const record = value as Readonly<Record<string, never>>;
      for (const [name, codec] of entries) codec.write(writer, record[name] as never);
    },
    read: (reader) => {
      const record: Record<string, unknown> = {};
      for (const [name, codec] of entries) record[name] = codec.read(reader);
      return record as T;
    },
  };
}

type Variants<U extends { readonly kind: string }> = {
  readonly [K in U["kind"]]: readonly [
    tag: number,
    codec: Codec<Omit<Extract<U, { readonly kind: K }>, "kind">>,
  ];
};

/** A union on `kind`: a byte that is never given a second meaning, then that variant's fields. */
export function union<U extends { readonly kind: string }>(variants: Variants<U>): Codec<U> {
  const byKind = variants as Readonly<Record<string, readonly [number, Codec<unknown>]>>;
  const byTag = new Map<number, readonly [string, Codec<unknown>]>();
  for (const [kind, [tag, codec]] of Object.entries(byKind)) {
    assert(!byTag.has(tag), `a tag has one meaning: ${tag}`);
    byTag.set(tag, [kind, codec]);
  }
  return {
    write: (writer, value) => {
      const variant = byKind[value.kind];
      assert(variant !== undefined, `a variant is declared: ${value.kind}`);
      writer.byte(variant[0]);
      variant[1].write(writer, value);
    },
    read: (reader) => {
      const tag = reader.byte();
      const variant = byTag.get(tag);
      if (variant === undefined) throw new DecodeError(`tag ${tag} is unknown`);
      return { kind: variant[0], ...(variant[1].read(reader) as object) } as unknown as U;
    },
  };
}
