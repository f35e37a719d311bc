/**
 * A 64-bit digest of bytes that arrive piece by piece: the same however they are split.
 *
 * Two halves of different make: CRC-32C, which misses no change within any 32 bits, and a
 * multiplicative hash (rotate, xor a byte, multiply by an odd number; MurmurHash3's final mixing),
 * which is not linear, so that changes which cancel out in one half do not in the other. It finds
 * replicas that differ and damaged bytes. It is no defence against somebody who wants a collision.
 */

import type { Bytes } from "../../base/bytes.ts";
import { crc32c } from "../../base/crc32c.ts";

export class Digest {
  #crc = 0;
  #mixed = 0;
  #byteCount = 0;

  update(bytes: Bytes): void {
    this.#crc = crc32c(bytes, this.#crc);
    let mixed = this.#mixed;
    for (let i = 0; i < bytes.length; i++) {
      const rotated = (mixed << 5) | (mixed >>> 27);
      mixed = Math.imul(rotated ^ (bytes[i] as number), MULTIPLIER);
    }
    this.#mixed = mixed;
    this.#byteCount += bytes.length;
  }

  /** Of all bytes so far; more may follow. */
  hex(): string {
    return hexOf(this.#crc) + hexOf(this.#low());
  }

  /** The same as a safe integer: the first half, and the upper 21 bits of the second. */
  number(): number {
    return this.#crc * 2 ** 21 + (this.#low() >>> 11);
  }

  #low(): number {
    return finalMix(this.#mixed ^ (this.#byteCount >>> 0));
  }
}

/** 2^32 divided by the golden ratio, made odd. */
const MULTIPLIER = 0x9e3779b1;

function finalMix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function hexOf(value: number): string {
  return value.toString(16).padStart(8, "0");
}
