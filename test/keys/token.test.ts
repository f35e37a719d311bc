import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesToHex, compareBytes } from "../../src/base/bytes.ts";
import { keyToToken, textToToken, TOKEN_MAX, TOKEN_MIN, tokenToKey } from "../../src/keys/token.ts";

const tokens = fc.bigInt({ min: TOKEN_MIN, max: TOKEN_MAX });

test("a token is 8 bytes, big endian, with the sign bit flipped", () => {
  const hex = (token: bigint): string => bytesToHex(tokenToKey(token));
  expect(hex(TOKEN_MIN)).toBe("0000000000000000");
  expect(hex(-1n)).toBe("7fffffffffffffff");
  expect(hex(0n)).toBe("8000000000000000");
  expect(hex(258n)).toBe("8000000000000102");
  expect(hex(TOKEN_MAX)).toBe("ffffffffffffffff");
});

test("the byte order of token keys is the numeric order of tokens", () => {
  fc.assert(
    fc.property(tokens, tokens, (a, b) => {
      const order = compareBytes(tokenToKey(a), tokenToKey(b));
      expect(Math.sign(order)).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test("text, token and key are converted without loss", () => {
  fc.assert(
    fc.property(tokens, (token) => {
      expect(textToToken(token.toString())).toEqual({ ok: true, value: token });
      expect(keyToToken(tokenToKey(token))).toEqual({ ok: true, value: token });
    }),
    { examples: [[TOKEN_MIN], [TOKEN_MAX], [2n ** 53n + 1n], [-(2n ** 53n) - 1n]] },
  );
});

test("every 8 bytes are a token, wherever they lie in their buffer", () => {
  const bytes = Uint8Array.of(9, 9, 0x80, 0, 0, 0, 0, 0, 0, 7, 9);
  expect(keyToToken(bytes.subarray(2, 10))).toEqual({ ok: true, value: 7n });
});

test.each(["9223372036854775808", "-9223372036854775809", "99999999999999999999"])(
  "%s is out of bounds",
  (text) => {
    expect(textToToken(text).ok).toBe(false);
  },
);

test.each(["", " 1", "1 ", "+1", "01", "-0", "-", "1.0", "1e3", "0x10", "1_000", "١"])(
  "%j is no token",
  (text) => {
    expect(textToToken(text)).toEqual({ ok: false, error: "a token is a decimal whole number" });
  },
);

test("a token out of bounds is our bug, a key of another length a refusal", () => {
  expect(() => tokenToKey(TOKEN_MAX + 1n)).toThrow("64 bits");
  expect(() => tokenToKey(TOKEN_MIN - 1n)).toThrow("64 bits");
  expect(keyToToken(new Uint8Array(7)).ok).toBe(false);
  expect(keyToToken(new Uint8Array(9)).ok).toBe(false);
});
