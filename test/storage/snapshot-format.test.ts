import { expect, test } from "vitest";
import {
  type Bytes,
  bytesEqual,
  bytesToHex,
  concatBytes,
  hexToBytes,
} from "../../src/base/bytes.ts";
import { Prng } from "../../src/base/prng.ts";
import {
  BLOCK_BYTES_MAX,
  SnapshotDecoder,
  SnapshotEncoder,
  type SnapshotHeading,
} from "../../src/storage/snapshot-format.ts";
import { groupOf, positionOf } from "../conformance/log-steps.ts";
import { resealed } from "./level-harness.ts";

const HEADING: SnapshotHeading = {
  clusterId: "c1",
  group: groupOf(3),
  position: positionOf(7, 2),
};

/** Magic, heading, two blocks, end mark and footer; checksums were computed apart from the code. */
const GOLDEN = [
  "63616461736e6170",
  "00000025 01 00000003 0000000000000007 0000000000000002 0000000000000046 0002 6331 00de4067",
  "00000002 6869 04320d83",
  "00000001 21 62b7cbd5",
  "00000000",
  "01 0000000000000002 0000000000000003 62b7cbd5 0c178270",
]
  .join("")
  .replaceAll(" ", "");

const PIECES = [Uint8Array.of(0x68, 0x69), Uint8Array.of(0x21)];

function fileOf(pieces: readonly Bytes[], heading = HEADING): Bytes {
  const encoder = new SnapshotEncoder(heading);
  const blocks = pieces.flatMap((piece) => encoder.blocks(piece));
  return concatBytes(encoder.start, ...blocks, encoder.end());
}

/** The content of a file that comes in portions, or what is wrong with it. */
function decode(file: Bytes, portionBytes = file.length, expected = HEADING): Bytes | string {
  const decoder = new SnapshotDecoder(expected);
  const payloads: Bytes[] = [];
  for (let at = 0; at < file.length; at += portionBytes) {
    const taken = decoder.push(file.subarray(at, at + portionBytes));
    if (!taken.ok) return `${taken.error.kind}: ${taken.error.found}`;
    payloads.push(...taken.value);
  }
  const end = decoder.finish();
  return end.ok ? concatBytes(...payloads) : `${end.error.kind}: ${end.error.found}`;
}

test("a snapshot file has these bytes (version 1)", () => {
  expect(bytesToHex(fileOf(PIECES))).toBe(GOLDEN);
});

test("what was written is read, in whatever portions it comes", () => {
  const prng = Prng.fromSeed(3);
  const pieces = [0, 1, 100, BLOCK_BYTES_MAX, 2 * BLOCK_BYTES_MAX + 1].map((length) =>
    new Uint8Array(length).fill(prng.nextInteger(0, 255)),
  );
  const file = fileOf(pieces);
  for (const portionBytes of [997, 65_536, file.length]) {
    const decoded = decode(file, portionBytes);
    if (typeof decoded === "string") expect.fail(decoded);
    expect(bytesEqual(decoded, concatBytes(...pieces))).toBe(true);
  }
  expect(decode(fileOf(PIECES), 1)).toEqual(concatBytes(...PIECES));
  expect(decode(fileOf([]))).toEqual(new Uint8Array(0));
});

test("every flipped bit of a file is found", () => {
  const file = fileOf(PIECES);
  for (let bit = 0; bit < file.length * 8; bit++) {
    const flipped = file.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(decode(flipped)).toMatch(/^damaged: /);
  }
});

test("a file that was cut anywhere, or goes on, is found", () => {
  const file = fileOf(PIECES);
  for (let length = 0; length < file.length; length++) {
    expect(decode(file.subarray(0, length))).toMatch(/^damaged: a snapshot that is cut short/);
  }
  expect(decode(concatBytes(file, Uint8Array.of(0)))).toMatch(/bytes behind the end/);
});

test("a block that was left out, moved, repeated, or is of another file is found", () => {
  const encoder = new SnapshotEncoder(HEADING);
  const [a = [], b = [], c = []] = [1, 2, 3].map((byte) => encoder.blocks(Uint8Array.of(byte)));
  const end = encoder.end();
  const withBlocks = (...blocks: Bytes[]): Bytes => concatBytes(encoder.start, ...blocks, end);
  expect(decode(withBlocks(...a, ...b, ...c))).toEqual(Uint8Array.of(1, 2, 3));
  for (const blocks of [
    [...a, ...c],
    [...b, ...a, ...c],
    [...a, ...a, ...b, ...c],
  ]) {
    expect(decode(withBlocks(...blocks))).toMatch(/whose checksum does not match/);
  }
  expect(decode(withBlocks(...a, ...b))).toMatch(/a footer that counts another content/);
  const other = new SnapshotEncoder({ ...HEADING, group: groupOf(4) }).blocks(Uint8Array.of(1));
  expect(decode(withBlocks(...other, ...b, ...c))).toMatch(/block 0 whose checksum/);
});

test.each<[string, Partial<SnapshotHeading>]>([
  ["a snapshot of cluster c1, not of c2", { clusterId: "c2" }],
  ["a snapshot of group 3, not of 4", { group: groupOf(4) }],
  ["a snapshot at 7-2-70, not at 8-2-80", { position: positionOf(8, 2) }],
  ["a snapshot at 7-2-70, not at 7-1-70", { position: positionOf(7, 1) }],
])("%s is refused by name", (what, change) => {
  expect(decode(fileOf(PIECES), 10, { ...HEADING, ...change })).toBe(`damaged: ${what}`);
});

test("a file of another version is named as such", () => {
  const encoder = new SnapshotEncoder(HEADING);
  const start = encoder.start.slice();
  start[12] = 9;
  const record = resealed(start.subarray(12));
  const later = concatBytes(start.subarray(0, 12), record, encoder.end());
  expect(decode(later)).toBe("formatUnknown: record version 9");
});

test("no length in a file makes a reader wait for more than a block", () => {
  const { start } = new SnapshotEncoder(HEADING);
  const huge = hexToBytes("7fffffff") ?? expect.fail("bad hex");
  expect(decode(concatBytes(start, huge))).toMatch(/block 0 of impossible length/);
  expect(decode(concatBytes(start.subarray(0, 8), huge))).toMatch(/heading of impossible length/);
  expect(decode(Uint8Array.of(0x63, 0x62))).toMatch(/no snapshot at all/);
});
