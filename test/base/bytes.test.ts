/** Byte strings, their text forms, and base64 tokens. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { base64ToBytes, bytesToBase64 } from "../../src/base/base64.ts";
import {
  bytesEqual,
  bytesToHex,
  bytesToUtf8,
  compareBytes,
  concatBytes,
  hexToBytes,
  prefixEnd,
  utf8ToBytes,
} from "../../src/base/bytes.ts";

const anyBytes = fc.uint8Array({ maxLength: 20 });

test("hex is read back as it was written, in either case; anything else is no hex", () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      expect(hexToBytes(bytesToHex(bytes))).toEqual(bytes);
      expect(hexToBytes(bytesToHex(bytes).toUpperCase())).toEqual(bytes);
      expect(bytesToHex(bytes)).toBe(Buffer.from(bytes).toString("hex"));
    }),
    { seed: 1 },
  );
  for (const text of ["0", "0g", " 00", "0x00", "00 "]) expect(hexToBytes(text)).toBeUndefined();
});

test("texts are UTF-8 and nothing else", () => {
  for (const text of ["", "a", "é\u{1F600}", "\uFEFFx"]) {
    expect(bytesToUtf8(utf8ToBytes(text))).toBe(text);
  }
  expect(bytesToUtf8(new Uint8Array([0xc3, 0x28]))).toBeUndefined();
  expect(bytesToUtf8(new Uint8Array([0xed, 0xa0, 0x80]))).toBeUndefined();
});

test("equality is that of the order, and joining keeps every part", () => {
  fc.assert(
    fc.property(anyBytes, anyBytes, anyBytes, (a, b, c) => {
      expect(bytesEqual(a, b)).toBe(compareBytes(a, b) === 0);
      expect(concatBytes(a, b, c)).toEqual(new Uint8Array([...a, ...b, ...c]));
    }),
    { seed: 2 },
  );
});

test("the end of a prefix is the first key after all that have it", () => {
  const endOf = (hex: string): string | undefined => {
    const end = prefixEnd(hexToBytes(hex) ?? new Uint8Array(0));
    return end && bytesToHex(end);
  };
  expect([endOf(""), endOf("ff"), endOf("ffff")]).toEqual([undefined, undefined, undefined]);
  expect([endOf("61"), endOf("61ff"), endOf("00")]).toEqual(["62", "62", "01"]);
  fc.assert(
    fc.property(anyBytes, anyBytes, (prefix, rest) => {
      const end = prefixEnd(prefix);
      const key = concatBytes(prefix, rest);
      expect(end === undefined || compareBytes(key, end) < 0).toBe(true);
      if (end === undefined || compareBytes(rest, end) < 0) return;
      expect(bytesEqual(rest.subarray(0, prefix.length), prefix)).toBe(false);
    }),
    { seed: 3 },
  );
});

test("base64 is that of Node, URL-safe and without padding", () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const text = bytesToBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64url"));
      expect(base64ToBytes(text)).toEqual(bytes);
    }),
    { seed: 4 },
  );
});

test("a text is base64 of one byte string only, or of none", () => {
  for (const text of [
    "A",
    "AAAAA",
    "AB",
    "AAB",
    "A=",
    "AA==",
    "A+",
    "A/",
    " AA",
    "AA\n",
    "é",
    "😀",
  ]) {
    expect(base64ToBytes(text), text).toBeUndefined();
  }
  fc.assert(
    fc.property(fc.string({ maxLength: 9 }), (text) => {
      const bytes = base64ToBytes(text);
      if (bytes !== undefined) expect(bytesToBase64(bytes)).toBe(text);
    }),
    { seed: 5, numRuns: 500 },
  );
});
