/** What every stored form must keep to: its golden bytes, and total decoding of any others. */

import fc from "fast-check";
import { expect } from "vitest";
import { bytesToHex, hexToBytes } from "../../src/base/bytes.ts";
import { type Codec, decode, encode } from "../../src/base/codec.ts";
import { Prng } from "../../src/base/prng.ts";

/** A value and its bytes in hex; spaces and line breaks separate fields. */
export interface Golden<T> {
  readonly value: T;
  readonly bytes: string;
}

export function expectGolden<T>(codec: Codec<T>, { value, bytes }: Golden<T>): void {
  const hex = bytes.replace(/\s/g, "");
  expect(bytesToHex(encode(codec, value))).toBe(hex);
  expect(decode(codec, bytesOf(hex))).toEqual({ ok: true, value });
}

/**
 * Cut and altered bytes decode to an error or to another value, never to an exception; and what
 * decodes encodes to the very same bytes, so that no value has two forms.
 */
export function expectTotal<T>(codec: Codec<T>, goldens: readonly Golden<T>[]): void {
  const prng = Prng.fromSeed(7);
  for (const { bytes: hex } of goldens) {
    const bytes = bytesOf(hex.replace(/\s/g, ""));
    for (let length = 0; length < bytes.length; length++) {
      expect(decode(codec, bytes.subarray(0, length)).ok, `cut to ${length}`).toBe(false);
    }
    expect(decode(codec, new Uint8Array([...bytes, 0])).ok, "one byte more").toBe(false);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expectOneForm(codec, flipped);
    }
    for (let times = 0; times < 50; times++) {
      const altered = bytes.slice();
      for (let count = prng.nextInteger(1, 4); count > 0; count--) {
        altered[prng.nextInteger(0, bytes.length - 1)] = prng.nextInteger(0, 255);
      }
      expectOneForm(codec, altered);
    }
  }
  for (let times = 0; times < 500; times++) {
    const length = prng.nextInteger(0, 40);
    expectOneForm(
      codec,
      Uint8Array.from({ length }, () => prng.nextInteger(0, 255)),
    );
  }
}

function expectOneForm<T>(codec: Codec<T>, bytes: Uint8Array): void {
  const decoded = decode(codec, bytes);
  if (decoded.ok) expect(bytesToHex(encode(codec, decoded.value))).toBe(bytesToHex(bytes));
}

export function expectRoundTrip<T>(codec: Codec<T>, values: fc.Arbitrary<T>, runs = 300): void {
  fc.assert(
    fc.property(values, (value) => {
      expect(decode(codec, encode(codec, value))).toEqual({ ok: true, value });
    }),
    { numRuns: runs, seed: 11 },
  );
}

function bytesOf(hex: string): Uint8Array {
  const bytes = hexToBytes(hex);
  if (bytes === undefined) throw new Error(`not hex: ${hex}`);
  return bytes;
}

/** Arbitraries of the field types that all forms are made of. */
export const anyUint: fc.Arbitrary<number> = fc.oneof(
  fc.maxSafeNat(),
  fc.nat(300),
  fc.constantFrom(0, 127, 128, 2 ** 32, 2 ** 44, Number.MAX_SAFE_INTEGER),
);
export const anyText: fc.Arbitrary<string> = fc.string({ maxLength: 12, unit: "grapheme" });
export const anyKey: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 9 });

export function maybe<T>(inner: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(inner, { nil: undefined, freq: 2 });
}

export function branded<T extends number>(): fc.Arbitrary<T> {
  return anyUint as fc.Arbitrary<T>;
}
