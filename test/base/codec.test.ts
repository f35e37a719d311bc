/** The codec's building blocks: bounds, one form per value, and errors instead of exceptions. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesToHex, concatBytes, hexToBytes } from "../../src/base/bytes.ts";
import {
  bool,
  ByteWriter,
  byteString,
  type Codec,
  decode,
  encode,
  list,
  oneOf,
  optional,
  struct,
  text,
  uint,
  union,
} from "../../src/base/codec.ts";

function hexOf<T>(codec: Codec<T>, value: T): string {
  return bytesToHex(encode(codec, value));
}

function read<T>(codec: Codec<T>, hex: string): T | string {
  const decoded = decode(codec, hexToBytes(hex) ?? new Uint8Array(0));
  return decoded.ok ? decoded.value : decoded.error;
}

test("unsigned integers are varints of 1 to 8 bytes", () => {
  const forms: [number, string][] = [
    [0, "00"],
    [127, "7f"],
    [128, "8001"],
    [16_383, "ff7f"],
    [16_384, "808001"],
    [2 ** 32, "8080808010"],
    [2 ** 44, "80808080808004"],
    [Number.MAX_SAFE_INTEGER, "ffffffffffffff0f"],
  ];
  for (const [value, hex] of forms) {
    expect(hexOf(uint, value)).toBe(hex);
    expect(read(uint, hex)).toBe(value);
  }
});

test("numbers above 2^53 - 1, needless zero bytes and endless varints are errors", () => {
  expect(read(uint, "8080808080808010")).toBe("a number is above 2^53 - 1");
  expect(read(uint, "ffffffffffffff7f")).toBe("a number is above 2^53 - 1");
  expect(read(uint, "8000")).toBe("a number has a needless zero byte");
  expect(read(uint, "808080808080808001")).toBe("a number is longer than 53 bits");
  expect(read(uint, "80")).toBe("the bytes end too early");
  expect(read(uint, "0000")).toBe("1 bytes are left over");
});

test("what is out of bounds is not written: that is a bug", () => {
  for (const value of [-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => encode(uint, value)).toThrow("in bounds");
  }
  expect(() => encode(oneOf(["a"]) as Codec<string>, "b")).toThrow("a word is in the list");
});

test("booleans, words, optionals, texts and lists refuse what they do not write", () => {
  expect(read(bool, "02")).toBe("a boolean is neither 0 nor 1");
  expect(read(oneOf(["a", "b"]), "02")).toBe("a word is unknown");
  expect(read(optional(uint), "0205")).toBe("a boolean is neither 0 nor 1");
  expect(read(text, "02c328")).toBe("a text is not UTF-8");
  expect(read(text, "02ff")).toBe("a byte string ends too early");
  expect(read(byteString, "ffffffffffffff0f")).toBe("a byte string ends too early");
  expect(read(list(uint), "ffffffffffffff0f")).toBe("a list ends too early");
  expect(read(list(uint), "0200")).toBe("a list ends too early");
});

test("a text keeps a byte order mark, so that it has one form", () => {
  expect(read(text, "03efbbbf")).toBe("\uFEFF");
  expect(hexOf(text, "\uFEFF")).toBe("03efbbbf");
});

type Shape =
  | { readonly kind: "dot" }
  | { readonly kind: "box"; readonly sides: readonly number[]; readonly name: string | undefined };

const shape: Codec<Shape> = union<Shape>({
  dot: [7, struct({})],
  box: [9, struct({ sides: list(uint), name: optional(text) })],
});

test("a union is its tag, then its fields in the order of the declaration", () => {
  expect(hexOf(shape, { kind: "dot" })).toBe("07");
  const box: Shape = { kind: "box", sides: [1, 300], name: "ab" };
  expect(hexOf(shape, box)).toBe("090201ac0201026162");
  expect(read(shape, "090201ac0201026162")).toEqual(box);
  expect(read(shape, "08")).toBe("tag 8 is unknown");
});

test("a tag with two meanings is a bug", () => {
  expect(() => union<Shape>({ dot: [7, struct({})], box: [7, shape as never] })).toThrow(
    "a tag has one meaning",
  );
});

test("any bytes decode to an error or to the one value that encodes to them", () => {
  const nested = list(shape);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 24 }), (bytes) => {
      const decoded = decode(nested, bytes);
      if (decoded.ok) expect(encode(nested, decoded.value)).toEqual(bytes);
    }),
    { numRuns: 2_000, seed: 1 },
  );
});

test("values longer than the writer's first buffer are written whole", () => {
  const long = new Uint8Array(3_000).map((_, at) => at % 251);
  const decoded = decode(list(byteString), encode(list(byteString), [long, long]));
  expect(decoded).toEqual({ ok: true, value: [long, long] });
});

test("a text has the bytes of its UTF-8, short or long, ASCII or not", () => {
  const fixed = ["", "a".repeat(127), "a".repeat(128), `${"a".repeat(126)}é`, "é".repeat(64)];
  const anyText = fc.oneof(
    fc.constantFrom(...fixed, "\u0000\u007f\u0080", "\ud800"),
    fc.string({ unit: "binary", maxLength: 140 }),
  );
  fc.assert(
    fc.property(anyText, (value) => {
      const utf8 = new TextEncoder().encode(value);
      expect(encode(text, value)).toEqual(encode(byteString, utf8));
      const wellFormed = new TextDecoder("utf-8", { ignoreBOM: true }).decode(utf8);
      expect(decode(text, encode(byteString, utf8))).toEqual({ ok: true, value: wellFormed });
    }),
    { numRuns: 500, seed: 4 },
  );
});

test("what is taken from the front of a writer comes once, in order, whatever is written then", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 400 })), fc.nat(500), (values, count) => {
      const writer = new ByteWriter();
      const taken: Uint8Array[] = [];
      for (const value of values) {
        writer.bytes(value);
        const rest = writer.length - count;
        taken.push(writer.takeFront(count));
        expect(writer.length).toBe(Math.max(0, rest));
      }
      taken.push(writer.view().slice());
      const whole = values.map((value) => encode(byteString, value));
      expect(concatBytes(...taken)).toEqual(concatBytes(...whole));
    }),
    { numRuns: 200, seed: 5 },
  );
});
