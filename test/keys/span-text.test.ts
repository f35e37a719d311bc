import fc from "fast-check";
import { expect, test } from "vitest";
import { EMPTY_BYTES, utf8ToBytes } from "../../src/base/bytes.ts";
import { isValidSpan, type Span, WHOLE_SPAN } from "../../src/base/span.ts";
import { spanToArgument, spanToText, textToSpan } from "../../src/keys/span-text.ts";

const anyKey = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(".", "a", ",", " ", "\\", "0", "x") }).map(utf8ToBytes),
);
const anySpan = fc
  .record({ startKey: anyKey, endKey: fc.option(anyKey, { nil: undefined }) })
  .filter(isValidSpan);

function span(start: string, end: string | undefined): Span {
  return { startKey: utf8ToBytes(start), endKey: end === undefined ? end : utf8ToBytes(end) };
}

test.each([
  [WHOLE_SPAN, "[-inf, +inf)", ".."],
  [span("", "m"), "[-inf, m)", "..m"],
  [span("m", undefined), "[m, +inf)", "m.."],
  [span("a", "b"), "[a, b)", "a..b"],
  [span("a.b", "c.d"), "[a.b, c.d)", "a.b..c.d"],
  [span(".a.", "b.."), "[.a., b..)", String.raw`\x2ea\x2e..b\x2e\x2e`],
  [span("a, b", "c,d"), String.raw`[a\x2c b, c,d)`, "a, b..c,d"],
  [span("-inf", "0x"), String.raw`[\x2dinf, \x30x)`, String.raw`\x2dinf..\x30x`],
])("%j is shown as %s and written %s", (value, text, argument) => {
  expect(spanToText(value)).toBe(text);
  expect(spanToArgument(value)).toBe(argument);
});

test("reading a span's argument gives the span back", () => {
  fc.assert(
    fc.property(anySpan, (value) => {
      expect(textToSpan(spanToArgument(value))).toEqual({
        ok: true,
        value: {
          startKey: Uint8Array.from(value.startKey),
          endKey: value.endKey === undefined ? undefined : Uint8Array.from(value.endKey),
        },
      });
    }),
    { numRuns: 1_000 },
  );
});

test("different spans have different texts", () => {
  fc.assert(
    fc.property(anySpan, anySpan, (a, b) => {
      expect(spanToText(a) === spanToText(b)).toBe(spanToArgument(a) === spanToArgument(b));
    }),
  );
});

test("-inf on the left and +inf on the right are open sides (B38)", () => {
  expect(textToSpan("-inf..+inf")).toEqual({ ok: true, value: WHOLE_SPAN });
  expect(textToSpan("0x..b")).toEqual({
    ok: true,
    value: { startKey: EMPTY_BYTES, endKey: utf8ToBytes("b") },
  });
});

test.each([
  ["a", "a span is written A..B; either side may be empty"],
  ["", "a span is written A..B; either side may be empty"],
  ["a...b", String.raw`a span holds ".." once; write a key's own dots as \x2e`],
  ["a..b..c", String.raw`a span holds ".." once; write a key's own dots as \x2e`],
  ["a..a", "the span's start equals its end: it holds no key"],
  ["b..a", "the span's start is above its end: it holds no key"],
  ["a..hex:", "the span's start is above its end: it holds no key"],
  ["..0x", "the span's start equals its end: it holds no key"],
  [
    "+inf..",
    String.raw`start of the span: +inf is an open bound; the key of these letters is \x2binf`,
  ],
  [
    "..-inf",
    String.raw`end of the span: -inf is an open bound; the key of these letters is \x2dinf`,
  ],
  ["a..0x6", "end of the span: after 0x an even number of hex digits must follow"],
])("the span %j is refused: %s (B38)", (text, error) => {
  expect(textToSpan(text)).toEqual({ ok: false, error });
});
