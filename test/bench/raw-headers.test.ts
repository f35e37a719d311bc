// The few header fields of the raw generator, against examples and tables of RFC 7541.
import { expect, test } from "vitest";
import { firstHeaderBlock, laterHeaderBlock, statusIn } from "./raw-headers.ts";

const FIELD_WITHOUT_INDEX = 0;
/** Of `grpc-status` in the code of RFC 7541 appendix B, letter by letter. */
const HUFFMAN_NAME =
  "100110 101100 101011 00100 010110 01000 01001 00011 01001 101101 01000".replaceAll(" ", "");

function bytesOfBits(bits: string): number[] {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  return (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
}

function literal(name: readonly number[], value: readonly number[]): Buffer {
  return Buffer.from([FIELD_WITHOUT_INDEX, ...name, ...value]);
}

const PLAIN_NAME = [11, ...Buffer.from("grpc-status")];
const CODED = bytesOfBits(HUFFMAN_NAME);
const CODED_NAME = [0x80 | CODED.length, ...CODED];

test("the status is found in its plain and its Huffman form, whatever stands around it", () => {
  for (const name of [PLAIN_NAME, CODED_NAME]) {
    for (const [value, status] of [
      [[1, 0x30], 0],
      [[0x81, 0x07], 0],
      [[1, 0x39], 9],
      [[2, 0x31, 0x30], 10],
      [[0x82, ...bytesOfBits("0000100000")], 10],
    ] as const) {
      const message = literal([12, ...Buffer.from("grpc-message")], [0]);
      expect(statusIn(Buffer.concat([message, literal(name, value), message]))).toBe(status);
    }
  }
});

test("without a status, or with one that gRPC does not have, there is none", () => {
  expect(statusIn(Buffer.alloc(0))).toBeUndefined();
  expect(statusIn(literal(PLAIN_NAME, [2, 0x37, 0x37]))).toBeUndefined();
  expect(statusIn(literal(PLAIN_NAME, [0x82]))).toBeUndefined();
});

test("the first block adds each field to the table with an index or a name (RFC 7541 §6.2.1)", () => {
  const block = firstHeaderBlock({ authority: "a:1", path: "/p", timeout: "1S" });
  expect(block.subarray(0, 2)).toEqual(Buffer.from([0x83, 0x86]));
  expect(block.subarray(2, 6)).toEqual(Buffer.from([0x44, 2, ...Buffer.from("/p")]));
  expect(block.subarray(6, 11)).toEqual(Buffer.from([0x41, 3, ...Buffer.from("a:1")]));
  const te = Buffer.from([0x40, 2, ...Buffer.from("te"), 8, ...Buffer.from("trailers")]);
  expect(block.includes(te)).toBe(true);
});

test("later blocks name the same fields in the same order, pseudo-header fields first", () => {
  expect([...laterHeaderBlock()]).toEqual([0x83, 0x86, 0xc2, 0xc1, 0xc0, 0xbf, 0xbe]);
});
