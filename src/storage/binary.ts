/**
 * Stored records as bytes: big-endian fields behind a version byte, closed by a CRC-32C.
 *
 * Writing asserts its bounds, because only this program's own values get here. Reading is total:
 * bytes from a disk can be anything. The checksum is looked at before the version, so that rot in
 * the version byte is called damage and not "a newer format".
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import { type Bytes, bytesToUtf8 } from "../base/bytes.ts";
import { crc32c } from "../base/crc32c.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { LogPosition } from "../raft/types.ts";

export const CHECKSUM_BYTES = 4;
export const POSITION_BYTES: number = 3 * 8;

/** Why a record cannot be used. */
export type Flaw =
  | { readonly kind: "damaged"; readonly found: string }
  | { readonly kind: "formatUnknown"; readonly found: string };

export const CHECKSUM_FLAW = "a record whose checksum does not match";

export function flaw(found: string): { readonly ok: false; readonly error: Flaw } {
  return failed({ kind: "damaged", found });
}

export function unknownVersion(version: number): { readonly ok: false; readonly error: Flaw } {
  return failed({ kind: "formatUnknown", found: `record version ${version}` });
}

export class RecordWriter {
  readonly bytes: Bytes;
  readonly #view: DataView;
  #at = 0;

  /** A record of exactly this many bytes, its checksum included. */
  constructor(recordVersion: number, recordBytes: number) {
    this.bytes = new Uint8Array(recordBytes);
    this.#view = new DataView(this.bytes.buffer);
    this.uint8(recordVersion);
  }

  uint8(value: number): this {
    this.#view.setUint8(this.#at, value);
    this.#at += 1;
    return this;
  }

  uint16(value: number): this {
    assert(value >= 0 && value < 2 ** 16, "a 16-bit field is in bounds");
    this.#view.setUint16(this.#at, value);
    this.#at += 2;
    return this;
  }

  uint32(value: number): this {
    assert(value >= 0 && value < 2 ** 32, "a 32-bit field is in bounds");
    this.#view.setUint32(this.#at, value);
    this.#at += 4;
    return this;
  }

  uint64(value: number): this {
    assert(Number.isSafeInteger(value) && value >= 0, "a 64-bit field is a safe integer");
    this.#view.setUint32(this.#at, Math.floor(value / 2 ** 32));
    this.#view.setUint32(this.#at + 4, value % 2 ** 32);
    this.#at += 8;
    return this;
  }

  position({ index, term, timeMs }: LogPosition): this {
    return this.uint64(index).uint64(term).uint64(timeMs);
  }

  append(bytes: Bytes): this {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    return this;
  }

  /** Checksum of what was written so far. */
  checksum(): number {
    return crc32c(this.bytes.subarray(0, this.#at));
  }

  /** Closes the record with the checksum of all before it. */
  finish(checksum: number = this.checksum()): Bytes {
    this.uint32(checksum);
    assert(this.#at === this.bytes.length, "a record is as long as its fields");
    return this.bytes;
  }
}

/** Reads fields; after a read beyond the end or of an unsafe integer, `intact` is false. */
export class RecordReader {
  readonly #bytes: Bytes;
  readonly #view: DataView;
  #at = 0;
  #intact = true;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  /** Whether every field so far was there, and whole. */
  get intact(): boolean {
    return this.#intact;
  }

  /** Whether every field was there and nothing is left over. */
  get complete(): boolean {
    return this.#intact && this.remaining === 0;
  }

  uint8(): number {
    return this.#has(1) ? this.#view.getUint8(this.#at++) : 0;
  }

  uint16(): number {
    if (!this.#has(2)) return 0;
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2);
  }

  uint32(): number {
    if (!this.#has(4)) return 0;
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4);
  }

  uint64(): number {
    const value = this.uint32() * 2 ** 32 + this.uint32();
    if (!Number.isSafeInteger(value)) this.#intact = false;
    return value;
  }

  position(): LogPosition {
    const index = this.uint64() as LogIndex;
    const term = this.uint64() as Term;
    const timeMs = this.uint64() as LogTimeMs;
    return { index, term, timeMs };
  }

  /** The next bytes, not copied. */
  take(length: number): Bytes {
    if (!this.#has(length)) return new Uint8Array(0);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** A string whose length precedes it. */
  text(): string {
    const text = bytesToUtf8(this.take(this.uint16()));
    if (text === undefined) this.#intact = false;
    return text ?? "";
  }

  #has(length: number): boolean {
    if (this.remaining < length) this.#intact = false;
    return this.#intact;
  }
}

/** The fields of a record whose checksum and version are right; the reader ends before the CRC. */
export function openRecord(value: Bytes, recordVersion: number): Result<RecordReader, Flaw> {
  if (value.length < 1 + CHECKSUM_BYTES) return flaw("a record that is too short");
  const body = value.subarray(0, value.length - CHECKSUM_BYTES);
  const stored = new RecordReader(value.subarray(body.length)).uint32();
  if (stored !== crc32c(body)) return flaw(CHECKSUM_FLAW);
  const reader = new RecordReader(body);
  const version = reader.uint8();
  if (version !== recordVersion) return unknownVersion(version);
  return ok(reader);
}
