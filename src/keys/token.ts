/**
 * Positions of hash keyspaces with function `given`: signed 64-bit tokens, as decimal text and as
 * 8-byte keys whose byte order is the tokens' numeric order (big endian, sign bit flipped).
 *
 * Tokens are BigInt and never pass through a number: most of them are no safe integers.
 */

import type { Bytes } from "../base/bytes.ts";
import { assert } from "../base/assert.ts";
import { failed, ok, type Result } from "../base/result.ts";

export const TOKEN_MIN: bigint = -(2n ** 63n);
export const TOKEN_MAX: bigint = 2n ** 63n - 1n;
export const TOKEN_KEY_BYTES = 8;

const SIGN_BIT = 1n << 63n;

/** Reads a decimal token: no plus sign, no leading zeros, no `-0`. */
export function textToToken(text: string): Result<bigint, string> {
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(text)) return failed("a token is a decimal whole number");
  const token = BigInt(text);
  return isToken(token) ? ok(token) : failed(`a token lies between ${TOKEN_MIN} and ${TOKEN_MAX}`);
}

/** The token must be within bounds: check text with {@link textToToken}. */
export function tokenToKey(token: bigint): Bytes {
  assert(isToken(token), "a token has 64 bits");
  const key = new Uint8Array(TOKEN_KEY_BYTES);
  new DataView(key.buffer).setBigUint64(0, BigInt.asUintN(64, token) ^ SIGN_BIT);
  return key;
}

/** Refuses a key that is not 8 bytes long; every other one is a token. */
export function keyToToken(key: Bytes): Result<bigint, string> {
  if (key.length !== TOKEN_KEY_BYTES) {
    return failed(`a token has ${TOKEN_KEY_BYTES} bytes, not ${key.length}`);
  }
  const bits = new DataView(key.buffer, key.byteOffset, key.length).getBigUint64(0);
  return ok(BigInt.asIntN(64, bits ^ SIGN_BIT));
}

function isToken(token: bigint): boolean {
  return token >= TOKEN_MIN && token <= TOKEN_MAX;
}
