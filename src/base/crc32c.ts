/**
 * CRC-32C (Castagnoli, polynomial 0x1EDC6F41 reflected), the checksum of every stored record.
 *
 * Node's zlib offers CRC-32 only. Eight table look-ups a step (slicing by 8): fast enough that
 * checking costs less than copying a record out of LevelDB.
 */

import type { Bytes } from "./bytes.ts";

const POLYNOMIAL = 0x82f63b78;
const tables = makeTables();

/** The checksum of bytes, continued from `previous` (0 at the start). An unsigned 32-bit number. */
export function crc32c(bytes: Bytes, previous = 0): number {
  let crc = ~previous;
  let i = 0;
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
  for (const end = bytes.length - 7; i < end; i += 8) {
    crc ^=
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    crc =
      (t7[crc & 0xff] as number) ^
      (t6[(crc >>> 8) & 0xff] as number) ^
      (t5[(crc >>> 16) & 0xff] as number) ^
      (t4[crc >>> 24] as number) ^
      (t3[bytes[i + 4] as number] as number) ^
      (t2[bytes[i + 5] as number] as number) ^
      (t1[bytes[i + 6] as number] as number) ^
      (t0[bytes[i + 7] as number] as number);
  }
  for (; i < bytes.length; i++) {
    crc = (t0[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

type Tables = readonly [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

function makeTables(): Tables {
  const table = (): Int32Array => new Int32Array(256);
  const all: Tables = [table(), table(), table(), table(), table(), table(), table(), table()];
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    all[0][byte] = crc;
  }
  for (let slice = 1; slice < 8; slice++) {
    const current = all[slice] as Int32Array;
    const previous = all[slice - 1] as Int32Array;
    for (let byte = 0; byte < 256; byte++) {
      const crc = previous[byte] as number;
      current[byte] = (all[0][crc & 0xff] as number) ^ (crc >>> 8);
    }
  }
  return all;
}
