import fc from "fast-check";
import { expect, test } from "vitest";
import { type Bytes, bytesToHex, hexToBytes, utf8ToBytes } from "../../src/base/bytes.ts";
import { jsonToKey, keyToJson, keyToText, textToKey } from "../../src/keys/text.ts";

const anyKey = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }).map(utf8ToBytes),
  // Near the forms that have a meaning of their own.
  fc
    .array(
      fc.constantFrom("hex:", "0x", "-inf", "+inf", "\\", "\\x", "61", " ", "\u0301", "é", "."),
    )
    .map((parts) => utf8ToBytes(parts.join(""))),
);

function keyOf(text: string): string {
  const key = textToKey(text);
  return key.ok ? bytesToHex(key.value) : key.error;
}

test("reading a key's text gives its bytes back", () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      expect(textToKey(keyToText(key))).toEqual({ ok: true, value: Uint8Array.from(key) });
    }),
    { numRuns: 2_000 },
  );
});

test("different keys have different texts", () => {
  fc.assert(
    fc.property(anyKey, anyKey, (a, b) => {
      expect(keyToText(a) === keyToText(b)).toBe(bytesToHex(a) === bytesToHex(b));
    }),
  );
});

test("a key's text is one line of visible characters, without spaces at its ends", () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      const text = keyToText(key);
      expect(text).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]*$/u);
      expect(text).not.toMatch(/^\s|\s$|\s\s/u);
    }),
  );
});

test.each([
  ["757365723a3432", "user:42"],
  ["", ""],
  ["c3a9e4b8ad", "é中"],
  ["f09f8f9e", "🏞"],
  ["610062", String.raw`a\x00b`],
  ["0a1b5b316d7f", String.raw`\x0a\x1b[1m\x7f`],
  ["615c62", String.raw`a\\b`],
  ["ff", String.raw`\xff`],
  ["c3", String.raw`\xc3`],
  ["c380c3", String.raw`À\xc3`],
  ["eda080", String.raw`\xed\xa0\x80`],
  ["c080", String.raw`\xc0\x80`],
  ["f4908080", String.raw`\xf4\x90\x80\x80`],
  ["20612062202063", String.raw`\x20a b \x20c`],
  ["6120", String.raw`a\x20`],
  ["20", String.raw`\x20`],
  ["c2a0", String.raw`\xc2\xa0`],
  ["e2808f61", String.raw`\xe2\x80\x8fa`],
  ["efbbbf", String.raw`\xef\xbb\xbf`],
  ["efb88f", String.raw`\xef\xb8\x8f`],
  ["61efb88f", String.raw`a\xef\xb8\x8f`],
  ["61e385a462", String.raw`a\xe3\x85\xa4b`],
  ["65cc81", "e\u0301"],
  ["5ccc81", String.raw`\\\xcc\x81`],
  ["6120cc81", String.raw`a \xcc\x81`],
  ["cc8165", String.raw`\xcc\x81e`],
  ["00cc81", String.raw`\x00\xcc\x81`],
  ["6865783a3631", String.raw`\x68ex:61`],
  ["307836", String.raw`\x30x6`],
  ["2d696e66", String.raw`\x2dinf`],
  ["2b696e66", String.raw`\x2binf`],
  ["2d696e6661", "-infa"],
])("the key %s is shown as %s", (hex, text) => {
  expect(keyToText(hexToBytes(hex) as Bytes)).toBe(text);
});

test.each([
  ["hex:6162", "6162"],
  ["hex:", ""],
  ["0x6162", "6162"],
  ["0xAbCd", "abcd"],
  [String.raw`\xAB\xab`, "abab"],
  [String.raw`\x5c`, "5c"],
  [String.raw`\\x61`, "5c783631"],
  ["a b\t", "61206209"],
  ["HEX:61", "4845583a3631"],
  ["0X61", "30583631"],
])("%s is read as the key %s", (text, hex) => {
  expect(keyOf(text)).toBe(hex);
});

test.each([
  ["hex:616", "after hex: an even number of hex digits must follow"],
  ["0xyz", "after 0x an even number of hex digits must follow"],
  ["0x61 ", "after 0x an even number of hex digits must follow"],
  ["-inf", String.raw`-inf is an open bound; the key of these letters is \x2dinf`],
  ["+inf", String.raw`+inf is an open bound; the key of these letters is \x2binf`],
  ["a\\", String.raw`byte 2: after a backslash comes \ or xNN (two hex digits)`],
  [String.raw`é\n`, String.raw`byte 3: after a backslash comes \ or xNN (two hex digits)`],
  [String.raw`\x6`, String.raw`byte 1: after a backslash comes \ or xNN (two hex digits)`],
  [String.raw`\x6é`, String.raw`byte 1: after a backslash comes \ or xNN (two hex digits)`],
  ["a\ud800", "character 2 is half a character"],
])("%j is refused: %s", (text, why) => {
  expect(keyOf(text)).toBe(why);
});

test("JSON holds a key's hex, and its text when it is UTF-8", () => {
  expect(keyToJson(utf8ToBytes("é\u0000"))).toEqual({ utf8: "é\u0000", hex: "c3a900" });
  expect(keyToJson(Uint8Array.of(0xff))).toEqual({ hex: "ff" });
  expect(keyToJson(new Uint8Array(0))).toEqual({ utf8: "", hex: "" });
});

test("reading a key's JSON gives its bytes back", () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      const json: unknown = JSON.parse(JSON.stringify(keyToJson(key)));
      expect(jsonToKey(json)).toEqual({ ok: true, value: Uint8Array.from(key) });
    }),
  );
});

test("in JSON a string is the text form, and one of utf8 and hex is enough", () => {
  const a = { ok: true, value: utf8ToBytes("a\n") };
  expect(jsonToKey(String.raw`a\x0a`)).toEqual(a);
  expect(jsonToKey({ utf8: "a\n" })).toEqual(a);
  expect(jsonToKey({ hex: "610A" })).toEqual(a);
});

test.each([
  [{ utf8: "a", hex: "62" }, "a key's utf8 and hex are different keys"],
  [{}, "a key needs utf8 or hex"],
  [{ hex: "6" }, "a key's hex must be an even number of hex digits"],
  [{ hex: 61 }, "a key's hex must be an even number of hex digits"],
  [{ utf8: null }, "a key's utf8 must be a string of whole characters"],
  [{ utf8: "\ud800" }, "a key's utf8 must be a string of whole characters"],
  [{ utf8: "a", base64: "YQ==" }, 'a key has no field "base64"'],
  [61, 'a key is a string, {"utf8": ...} or {"hex": ...}'],
  [null, 'a key is a string, {"utf8": ...} or {"hex": ...}'],
  [["a"], 'a key is a string, {"utf8": ...} or {"hex": ...}'],
])("the JSON key %j is refused: %s", (json, error) => {
  expect(jsonToKey(json)).toEqual({ ok: false, error });
});
