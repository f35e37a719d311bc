/**
 * A look at LevelDB's write-ahead files before LevelDB opens and rewrites them.
 *
 * LevelDB drops what it cannot read and opens all the same: a bad checksum is noted in its text
 * log, a zeroed header or a length field that points behind the end of the file is not, and one
 * flipped bit there silently takes every write behind it. Only a write that a crash cut off may
 * be unreadable: it ends the file. A whole record with a wrong checksum is damage as well.
 *
 * Format (LevelDB 1.20, log_format.h): blocks of 32 KiB; records of masked CRC-32C of type and
 * payload (4, little endian), length (2), type (1), payload; less than a header ends a block.
 */

import type { Bytes } from "../base/bytes.ts";
import { crc32c } from "../base/crc32c.ts";

const BLOCK_BYTES = 32 * 1024;
const HEADER_BYTES = 7;
const TYPE_AT = 6;
const CRC_MASK_DELTA = 0xa282ead8;

/** What is wrong with the contents of a write-ahead file; undefined when nothing is. */
export function findWalDamage(file: Bytes): string | undefined {
  for (let blockStart = 0; blockStart < file.length; blockStart += BLOCK_BYTES) {
    const block = file.subarray(blockStart, blockStart + BLOCK_BYTES);
    let at = 0;
    while (at + HEADER_BYTES <= block.length) {
      const record = recordAt(block, at);
      if (record.kind !== "intact") {
        return explain(file, { blockStart, at, kind: record.kind });
      }
      at = record.end;
    }
  }
  return undefined;
}

type RecordAt =
  | { readonly kind: "intact"; readonly end: number }
  | { readonly kind: "blank" | "cut" | "rotten" };

function recordAt(block: Bytes, at: number): RecordAt {
  const payloadBytes = byteAt(block, at + 4) | (byteAt(block, at + 5) << 8);
  const end = at + HEADER_BYTES + payloadBytes;
  const type = byteAt(block, at + TYPE_AT);
  if (end > block.length) return { kind: "cut" };
  if (type === 0 && payloadBytes === 0) return { kind: "blank" };
  const expected = unmask(readUint32LittleEndian(block, at));
  if (crc32c(block.subarray(at + TYPE_AT, end)) !== expected) {
    return { kind: "rotten" };
  }
  return { kind: "intact", end };
}

function explain(
  file: Bytes,
  bad: { readonly blockStart: number; readonly at: number; readonly kind: RecordAt["kind"] },
): string | undefined {
  const where = `byte ${bad.blockStart + bad.at}`;
  switch (bad.kind) {
    case "rotten":
      return `a record with a wrong checksum at ${where}`;
    case "blank": {
      const rest = file.subarray(bad.blockStart + bad.at);
      return rest.some((byte) => byte !== 0) ? `a gap at ${where}` : undefined;
    }
    case "cut": {
      const isLastBlock = bad.blockStart + BLOCK_BYTES >= file.length;
      const block = file.subarray(bad.blockStart, bad.blockStart + BLOCK_BYTES);
      const isAtEnd = isLastBlock && !holdsRecord(block, bad.at + 1);
      return isAtEnd ? undefined : `a record of impossible length at ${where}`;
    }
    case "intact":
      return undefined;
  }
}

/** Whether an intact record starts anywhere from a place of a block on. */
function holdsRecord(block: Bytes, from: number): boolean {
  for (let at = from; at + HEADER_BYTES <= block.length; at++) {
    if (recordAt(block, at).kind === "intact") return true;
  }
  return false;
}

function byteAt(block: Bytes, at: number): number {
  return block[at] as number;
}

function readUint32LittleEndian(block: Bytes, at: number): number {
  const low = byteAt(block, at) | (byteAt(block, at + 1) << 8);
  const high = byteAt(block, at + 2) | (byteAt(block, at + 3) << 8);
  return low + high * 2 ** 16;
}

/** LevelDB stores checksums rotated and shifted, so that a checksum of checksums stays good. */
function unmask(masked: number): number {
  const rotated = (masked - CRC_MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}
