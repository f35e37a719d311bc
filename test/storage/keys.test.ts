import { expect, test } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { bytesToHex, compareBytes } from "../../src/base/bytes.ts";
import {
  ADMISSION_KEY,
  configurationKey,
  entryKey,
  hardStateKey,
  IDENTITY_KEY,
  parseKey,
  peerKey,
  snapshotPointerKey,
  STORE_HEAD_KEY,
} from "../../src/storage/keys.ts";
import { groupOf, indexOf } from "../conformance/log-steps.ts";

const BIG_GROUP = groupOf(0xfedcba98);
const BIG_INDEX = indexOf(2 ** 44 - 1);

test("keys have these bytes (format 2)", () => {
  expect(bytesToHex(ADMISSION_KEY)).toBe("41");
  expect(bytesToHex(IDENTITY_KEY)).toBe("49");
  expect(bytesToHex(peerKey(258 as ServerId))).toBe("500000000000000102");
  expect(bytesToHex(STORE_HEAD_KEY)).toBe("57");
  expect(bytesToHex(configurationKey(groupOf(1)))).toBe("4300000001");
  expect(bytesToHex(hardStateKey(BIG_GROUP))).toBe("48fedcba98");
  expect(bytesToHex(snapshotPointerKey(groupOf(258)))).toBe("5300000102");
  expect(bytesToHex(entryKey(groupOf(1), indexOf(2)))).toBe("4c000000010000000000000002");
  expect(bytesToHex(entryKey(BIG_GROUP, BIG_INDEX))).toBe("4cfedcba9800000fffffffffff");
});

test("keys sort by kind, group and index", () => {
  const groups = [0, 1, 255, 256, 0xfedcba98].map(groupOf);
  const indexes = [1, 255, 256, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 44 - 1].map(indexOf);
  const servers = [1, 255, 256, 2 ** 32] as ServerId[];
  const sorted = [
    ADMISSION_KEY,
    ...groups.map(configurationKey),
    ...groups.map(hardStateKey),
    IDENTITY_KEY,
    ...groups.flatMap((group) => indexes.map((index) => entryKey(group, index))),
    ...servers.map(peerKey),
    ...groups.map(snapshotPointerKey),
    STORE_HEAD_KEY,
  ];
  expect(sorted.toSorted(compareBytes)).toEqual(sorted);
});

test("what was made is parsed, and nothing else", () => {
  expect(parseKey(ADMISSION_KEY)).toEqual({ kind: "admission" });
  expect(parseKey(IDENTITY_KEY)).toEqual({ kind: "identity" });
  expect(parseKey(STORE_HEAD_KEY)).toEqual({ kind: "storeHead" });
  const group = BIG_GROUP;
  expect(parseKey(configurationKey(group))).toEqual({ kind: "configuration", group });
  expect(parseKey(hardStateKey(group))).toEqual({ kind: "hardState", group });
  expect(parseKey(snapshotPointerKey(group))).toEqual({ kind: "snapshotPointer", group });
  const entry = entryKey(group, BIG_INDEX);
  expect(parseKey(entry)).toEqual({ kind: "entry", group, index: BIG_INDEX });
  const groupKeys = [configurationKey, hardStateKey, snapshotPointerKey].map((of) => of(group));
  const peer = peerKey((2 ** 40) as ServerId);
  expect(parseKey(peer)).toEqual({ kind: "peer", server: 2 ** 40 });
  for (const key of [ADMISSION_KEY, IDENTITY_KEY, ...groupKeys, entry, peer]) {
    expect(parseKey(Uint8Array.of(...key, 0))).toBeUndefined();
    expect(parseKey(key.subarray(1))).toBeUndefined();
  }
  expect(parseKey(new Uint8Array(0))).toBeUndefined();
  expect(parseKey(Uint8Array.of(0x4c, 0, 0, 0, 0, ...Array<number>(8).fill(0xff)))).toBeUndefined();
});
