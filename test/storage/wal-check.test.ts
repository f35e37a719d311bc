import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Bytes } from "../../src/base/bytes.ts";
import { openLevelDb } from "../../src/storage/level-db.ts";
import { findWalDamage } from "../../src/storage/wal-check.ts";
import { withTempDir } from "./level-harness.ts";

const BLOCK_BYTES = 32 * 1024;
const HEADER_BYTES = 7;

/** The write-ahead file after synced writes of values of these sizes. */
function makeWal(valueSizes: readonly number[]): Promise<Bytes> {
  return withTempDir(async (dir) => {
    const db = await openLevelDb(join(dir, "db"), "createNew");
    for (const [at, size] of valueSizes.entries()) {
      const batch = db.openBatch();
      batch.put(Uint8Array.of(at), new Uint8Array(size).fill(at + 1));
      await batch.write();
    }
    const name = readdirSync(join(dir, "db")).find((file) => file.endsWith(".log"));
    const file = readFileSync(join(dir, "db", name ?? "none"));
    await db.close();
    return new Uint8Array(file);
  });
}

const small = await makeWal([20, 30, 40]);
const large = await makeWal([20_000, 70_000, 12_000, 50_000, 10]);
/** Where the last record of the small file starts: its batch has 12 + 4 bytes beside the value. */
const lastStart = small.length - HEADER_BYTES - 12 - 4 - 40;

test("files as LevelDB writes them are sound, over several blocks too", () => {
  expect(large.length).toBeGreaterThan(3 * BLOCK_BYTES);
  expect(findWalDamage(small)).toBeUndefined();
  expect(findWalDamage(large)).toBeUndefined();
  expect(findWalDamage(new Uint8Array(0))).toBeUndefined();
});

test("a file that a crash cut anywhere is sound: the last write was not acknowledged", () => {
  for (let length = 0; length < small.length; length++) {
    expect(findWalDamage(small.subarray(0, length))).toBeUndefined();
  }
  for (let length = 0; length < large.length; length += 6_007) {
    expect(findWalDamage(large.subarray(0, length))).toBeUndefined();
  }
});

test("zeros behind the last record are sound: a size that was durable before its data", () => {
  const extended = new Uint8Array(BLOCK_BYTES * 2);
  extended.set(small);
  expect(findWalDamage(extended)).toBeUndefined();
});

test("every flipped bit is found, but in the length of the last record", () => {
  for (let bit = 0; bit < small.length * 8; bit++) {
    const byte = bit >> 3;
    const flipped = flip(small, bit);
    if (byte === lastStart + 4 || byte === lastStart + 5) continue;
    expect(findWalDamage(flipped), `bit ${bit}`).toBeDefined();
  }
});

test("every flipped bit of a sample of a large file is found, in its lengths too", () => {
  for (let bit = 3; bit < (large.length - 100) * 8; bit += 10_007) {
    expect(findWalDamage(flip(large, bit)), `bit ${bit}`).toBeDefined();
  }
  const secondStart = HEADER_BYTES + (large[4] ?? 0) + 256 * (large[5] ?? 0);
  for (const start of [0, secondStart]) {
    for (let bit = (start + 4) * 8; bit < (start + 6) * 8; bit++) {
      expect(findWalDamage(flip(large, bit)), `bit ${bit}`).toBeDefined();
    }
  }
});

test("a zeroed header in front of a record is found", () => {
  const zeroed = small.slice();
  zeroed.fill(0, 0, HEADER_BYTES);
  expect(findWalDamage(zeroed)).toBe("a gap at byte 0");
});

test("a lost block in the middle is found", () => {
  const zeroed = large.slice();
  zeroed.fill(0, BLOCK_BYTES, 2 * BLOCK_BYTES);
  expect(findWalDamage(zeroed)).toBe(`a gap at byte ${BLOCK_BYTES}`);
});

function flip(bytes: Bytes, bit: number): Bytes {
  const flipped = bytes.slice();
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}
