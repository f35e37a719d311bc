/** CRC-32C against published vectors (RFC 3720 B.4, Rocksoft's check value) and a bitwise model. */

import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { crc32c } from "../../src/base/crc32c.ts";
import { Prng } from "../../src/base/prng.ts";

const ASCENDING = Uint8Array.from({ length: 32 }, (_, at) => at);
/** An iSCSI SCSI read (10) command PDU. */
const ISCSI_READ = [
  0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14,
  0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
];

test("the published vectors give the published checksums", () => {
  expect(crc32c(utf8ToBytes("123456789"))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(ASCENDING)).toBe(0x46dd794e);
  expect(crc32c(ASCENDING.toReversed())).toBe(0x113fdb5c);
  expect(crc32c(Uint8Array.from(ISCSI_READ))).toBe(0xd9963a56);
  expect(crc32c(new Uint8Array(0))).toBe(0);
});

function bitwise(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

test("every length and start agrees with the bitwise definition, also when continued", () => {
  const prng = Prng.fromSeed(1);
  const bytes = Uint8Array.from({ length: 70 }, () => prng.nextInteger(0, 255));
  for (let start = 0; start < 9; start++) {
    for (let end = start; end <= bytes.length; end++) {
      const part = bytes.subarray(start, end);
      expect(crc32c(part)).toBe(bitwise(part));
      const middle = Math.floor((start + end) / 2);
      const first = crc32c(bytes.subarray(start, middle));
      expect(crc32c(bytes.subarray(middle, end), first)).toBe(bitwise(part));
    }
  }
});
