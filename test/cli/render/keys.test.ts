// Keys and spans in the form of their keyspace.
import { expect, test } from "vitest";
import { hexToBytes, utf8ToBytes } from "../../../src/base/bytes.ts";
import { WHOLE_SPAN } from "../../../src/base/span.ts";
import { keyJson, readKey, readSpan, spanJson, spanText } from "../../../src/cli/render/keys.ts";
import { tokenToKey } from "../../../src/keys/token.ts";

const tokens = { startKey: tokenToKey(-5n), endKey: tokenToKey(7n) };

test("spans of a range keyspace are text, of a hash keyspace tokens", () => {
  const span = { startKey: utf8ToBytes("g"), endKey: utf8ToBytes("m") };
  expect(spanText(span, "range")).toBe("[g, m)");
  expect(spanText(tokens, "hash")).toBe("[-5, 7)");
  expect(spanText(WHOLE_SPAN, "hash")).toBe("[-inf, +inf)");
});

test("a key of a hash keyspace that is no token is shown as it is", () => {
  expect(spanText({ startKey: utf8ToBytes("ab"), endKey: undefined }, "hash")).toBe("[ab, +inf)");
});

test("open ends are null in JSON, and keys carry utf8 only when they are text (B37)", () => {
  expect(spanJson(WHOLE_SPAN, "range")).toEqual({ start: null, end: null });
  expect(keyJson(utf8ToBytes("é"), "range")).toEqual({ utf8: "é", hex: "c3a9" });
  expect(keyJson(hexToBytes("ff00") ?? new Uint8Array(), "range")).toEqual({ hex: "ff00" });
  expect(spanJson(tokens, "hash")).toEqual({
    start: { token: "-5", hex: "7ffffffffffffffb" },
    end: { token: "7", hex: "8000000000000007" },
  });
});

test("a token is exact at both ends of 64 bits (B37)", () => {
  for (const text of ["9223372036854775807", "-9223372036854775808", "9007199254740993"]) {
    const { hash } = readKey(text);
    expect(hash.ok && keyJson(hash.value, "hash")).toMatchObject({ token: text });
  }
});

test("a span is read as text and as tokens at once, each with its own order", () => {
  const read = readSpan("9..10");
  expect(read.range.ok).toBe(false);
  expect(read.hash.ok).toBe(true);
  expect(readSpan("-3..-5").hash).toMatchObject({ ok: false });
  expect(readSpan("..").hash).toMatchObject({ ok: true, value: { endKey: undefined } });
  expect(readSpan("-inf..0").hash.ok).toBe(true);
  expect(readSpan("a..b").hash).toMatchObject({ ok: false });
});
