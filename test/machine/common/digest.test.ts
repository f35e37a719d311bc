/** The digest of snapshots, against its description. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { type Bytes, utf8ToBytes } from "../../../src/base/bytes.ts";
import { Digest } from "../../../src/machine/common/digest.ts";

function hexOf(...parts: readonly Bytes[]): string {
  const digest = new Digest();
  for (const part of parts) digest.update(part);
  return digest.hex();
}

/** The second half in arbitrary precision, as the file's header describes it. */
function mixedHalf(bytes: Bytes): bigint {
  const mask = 0xffff_ffffn;
  let mixed = 0n;
  for (const byte of bytes) {
    const rotated = ((mixed << 5n) | (mixed >> 27n)) & mask;
    mixed = ((rotated ^ BigInt(byte)) * 0x9e37_79b1n) & mask;
  }
  mixed ^= BigInt(bytes.length);
  mixed = ((mixed ^ (mixed >> 16n)) * 0x85eb_ca6bn) & mask;
  mixed = ((mixed ^ (mixed >> 13n)) * 0xc2b2_ae35n) & mask;
  return mixed ^ (mixed >> 16n);
}

test("the first half is CRC-32C and the second the mixing hash, both in 8 hex digits", () => {
  // The check value of CRC-32C that its catalogues give.
  expect(hexOf(utf8ToBytes("123456789")).slice(0, 8)).toBe("e3069283");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      expect(hexOf(bytes)).toMatch(/^[0-9a-f]{16}$/);
      expect(hexOf(bytes).slice(8)).toBe(mixedHalf(bytes).toString(16).padStart(8, "0"));
    }),
    { seed: 2 },
  );
});

test("as a number it is the first 53 of its 64 bits", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      const digest = new Digest();
      digest.update(bytes);
      expect(BigInt(digest.number())).toBe(BigInt(`0x${digest.hex()}`) >> 11n);
      expect(Number.isSafeInteger(digest.number())).toBe(true);
    }),
    { seed: 4 },
  );
});

test("a digest is the same however the bytes are split, and each byte and the length count", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.nat(60), (bytes, at) => {
      const whole = hexOf(bytes);
      expect(hexOf(bytes.subarray(0, at), new Uint8Array(0), bytes.subarray(at))).toBe(whole);
      const flipped = bytes.slice();
      flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ 1;
      expect(hexOf(flipped)).not.toBe(whole);
      expect(hexOf(bytes, Uint8Array.of(0))).not.toBe(whole);
    }),
    { seed: 3 },
  );
  expect(hexOf(new Uint8Array(1))).not.toBe(hexOf(new Uint8Array(2)));
});
