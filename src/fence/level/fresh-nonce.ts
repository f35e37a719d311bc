/**
 * Random numbers that a copy of this process does not draw, too (law 13). When a virtual machine is
 * copied or restored, the generator inside the process is copied with it, and the kernel's may be
 * for a while. So each number is drawn anew from both, and hashed with the clocks: two copies never
 * run in step to the nanosecond.
 */

import { createHash, randomBytes } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";

const KERNEL_BYTES = 16;

/** Below 2^53. */
export function freshNonce(): number {
  const hash = createHash("sha256");
  hash.update(randomBytes(16)).update(kernelBytes());
  hash.update(`${process.hrtime.bigint()} ${Date.now()} ${performance.timeOrigin}`);
  return Number(hash.digest().readBigUInt64BE() >> 11n);
}

/** Straight from the kernel, which may have been told of the copying; nothing where it has none. */
function kernelBytes(): Uint8Array {
  const bytes = new Uint8Array(KERNEL_BYTES);
  try {
    const file = openSync("/dev/urandom", "r");
    try {
      readSync(file, bytes);
    } finally {
      closeSync(file);
    }
  } catch {
    return new Uint8Array(0);
  }
  return bytes;
}
