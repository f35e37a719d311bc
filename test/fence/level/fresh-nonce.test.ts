// Random numbers that a copy of the process does not draw, too (law 13).
import { expect, test } from "vitest";
import { freshNonce } from "../../../src/fence/level/fresh-nonce.ts";

test("nonces fit a 64-bit field as safe integers, fill it, and do not repeat", () => {
  const nonces = Array.from({ length: 1_000 }, freshNonce);
  for (const nonce of nonces) expect(Number.isSafeInteger(nonce) && nonce >= 0).toBe(true);
  expect(new Set(nonces).size).toBe(nonces.length);
  expect(Math.max(...nonces)).toBeGreaterThan(2 ** 52);
});
