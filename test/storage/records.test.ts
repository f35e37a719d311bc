import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogTimeMs, ReplicaId, ServerId, Term } from "../../src/base/brands.ts";
import { type Bytes, bytesToHex } from "../../src/base/bytes.ts";
import { decodeEntry, encodeEntry } from "../../src/storage/entry-record.ts";
import {
  decodeAdmission,
  decodeConfiguration,
  decodeHardState,
  decodeIdentity,
  decodePeer,
  decodeSnapshotPointer,
  decodeStoreHead,
  encodeAdmission,
  encodeConfiguration,
  encodeHardState,
  encodeIdentity,
  encodePeer,
  encodeSnapshotPointer,
  encodeStoreHead,
  type HardStateRecord,
} from "../../src/storage/records.ts";
import { entryOf, groupOf, hardStateOf, indexOf } from "../conformance/log-steps.ts";
import { resealed } from "./level-harness.ts";

const identity = {
  clusterId: "c1",
  serverId: 258 as ServerId,
  storeUuid: "u-ü",
};

const configuration = {
  group: groupOf(3),
  replicaId: 2 as ReplicaId,
  configuration: { voters: [1, 2, 2 ** 40] as ReplicaId[] },
};

const hardState: HardStateRecord = {
  group: groupOf(3),
  hardState: hardStateOf(9, 2, 6),
  base: { index: indexOf(4), term: 4 as Term, timeMs: 40 as LogTimeMs },
  baseChain: 0x11223344,
  lastIndex: indexOf(8),
  lastTerm: 7 as Term,
  lastChain: 0xffeeddcc,
  snapshotIndex: indexOf(5),
  writeSequence: 2 ** 33 + 1,
};

const snapshotPointer = {
  group: groupOf(3),
  position: { index: indexOf(5), term: 4 as Term, timeMs: (2 ** 41) as LogTimeMs },
};

const peer = { server: 258 as ServerId, storeUuid: "u-ü", writeSequence: 12 };

const admission = { writeSequence: 12 };

const storeHead = { writeSequence: 12, sequenceSum: 30, groupCount: 3 };

const entryRecord = {
  group: groupOf(3),
  entry: entryOf(7, 2, "hi"),
  writeSequence: 12,
  prevChain: 0xdeadbeef,
};

const RECORDS: readonly (readonly [string, Bytes, (value: Bytes) => unknown])[] = [
  ["identity", encodeIdentity(identity), decodeIdentity],
  ["configuration", encodeConfiguration(configuration), decodeConfiguration],
  ["hard state", encodeHardState(hardState), decodeHardState],
  ["snapshot pointer", encodeSnapshotPointer(snapshotPointer), decodeSnapshotPointer],
  ["peer", encodePeer(peer), decodePeer],
  ["admission", encodeAdmission(admission), decodeAdmission],
  ["store head", encodeStoreHead(storeHead), decodeStoreHead],
  ["entry", encodeEntry(entryRecord).value, decodeEntry],
];

/** Fields in the order of the record, its checksum last. */
const GOLDEN: readonly (readonly [string, string])[] = [
  ["identity", "01 0002 0000000000000102 0002 6331 0004 752dc3bc b8481c12"],
  [
    "configuration",
    "01 00000003 0000000000000002 0003 " +
      "0000000000000001 0000000000000002 0000010000000000 d2630f40",
  ],
  [
    "hard state",
    "02 00000003 0000000000000009 0000000000000002 0000000000000006 " +
      "0000000000000004 0000000000000004 0000000000000028 0000000000000008 0000000000000007 " +
      "0000000000000005 0000000200000001 11223344 ffeeddcc 6e1f8a13",
  ],
  ["snapshot pointer", "01 00000003 0000000000000005 0000000000000004 0000020000000000 eea0fc98"],
  ["peer", "01 0000000000000102 000000000000000c 0004 752dc3bc 1a2683c1"],
  ["admission", "01 000000000000000c 0298713b"],
  ["store head", "01 000000000000000c 000000000000001e 0000000000000003 5072f664"],
  [
    "entry",
    "01 00000003 0000000000000007 0000000000000002 02 0000000000000046 " +
      "000000000000000c 6869 39b0c765 76f4de11",
  ],
];

test("records have these bytes (format 2)", () => {
  const written = RECORDS.map(([name, value]) => [name, bytesToHex(value)]);
  expect(written).toEqual(GOLDEN.map(([name, hex]) => [name, hex.replaceAll(" ", "")]));
});

test("what was written is read", () => {
  expect(decodeIdentity(encodeIdentity(identity))).toEqual({ ok: true, value: identity });
  expect(decodeConfiguration(encodeConfiguration(configuration))).toEqual({
    ok: true,
    value: configuration,
  });
  expect(decodeHardState(encodeHardState(hardState))).toEqual({ ok: true, value: hardState });
  expect(decodeSnapshotPointer(encodeSnapshotPointer(snapshotPointer))).toEqual({
    ok: true,
    value: snapshotPointer,
  });
  expect(decodePeer(encodePeer(peer))).toEqual({ ok: true, value: peer });
  expect(decodeAdmission(encodeAdmission(admission))).toEqual({ ok: true, value: admission });
  const unvoted = { ...hardState, hardState: hardStateOf(9, undefined, 6) };
  expect(decodeHardState(encodeHardState(unvoted))).toEqual({ ok: true, value: unvoted });
  expect(decodeStoreHead(encodeStoreHead(storeHead))).toEqual({ ok: true, value: storeHead });
});

test.each([entryOf(1, 1, ""), entryOf(2 ** 44 - 1, 2 ** 52, "x".repeat(5_000))])(
  "an entry is read as it was written",
  (entry) => {
    const written = encodeEntry({ ...entryRecord, entry });
    expect(decodeEntry(written.value)).toMatchObject({
      ok: true,
      value: { group: groupOf(3), entry, writeSequence: 12, chain: written.chain },
    });
  },
);

test("the chain depends on the previous record and on all of this one", () => {
  const chain = encodeEntry(entryRecord).chain;
  expect(encodeEntry({ ...entryRecord, prevChain: 1 }).chain).not.toBe(chain);
  expect(encodeEntry({ ...entryRecord, writeSequence: 13 }).chain).not.toBe(chain);
  expect(encodeEntry({ ...entryRecord, entry: entryOf(7, 2, "ho") }).chain).not.toBe(chain);
});

test.each(RECORDS)("every flipped bit and every lost byte of %s is found", (_, value, decode) => {
  for (let bit = 0; bit < value.length * 8; bit++) {
    const flipped = value.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(decode(flipped)).toMatchObject({ ok: false, error: { kind: "damaged" } });
  }
  for (let length = 0; length < value.length; length++) {
    expect(decode(value.subarray(0, length))).toMatchObject({ ok: false });
  }
});

test.each(RECORDS)("a whole %s of another version is named as such", (_, value, decode) => {
  const later = value.slice();
  later[0] = 9;
  expect(decode(resealed(later))).toEqual({
    ok: false,
    error: { kind: "formatUnknown", found: "record version 9" },
  });
});

test("a store format that is not known is named as such", () => {
  const later = encodeIdentity(identity).slice();
  later[2] = 7;
  expect(decodeIdentity(resealed(later))).toEqual({
    ok: false,
    error: { kind: "formatUnknown", found: "store format 7" },
  });
});

test.each(RECORDS)("any bytes with a right checksum are %s or a flaw", (_, value, decode) => {
  const [version = 0] = value;
  const bodies = fc.uint8Array({ maxLength: value.length + 10 });
  fc.assert(
    fc.property(bodies, (body) => {
      expect(decode(resealed(Uint8Array.of(version, ...body, 0, 0, 0, 0)))).toHaveProperty("ok");
    }),
  );
});

test("a number that JavaScript cannot hold exactly is a flaw", () => {
  const value = encodeStoreHead(storeHead);
  value[1] = 0x20;
  expect(decodeStoreHead(resealed(value))).toMatchObject({ ok: false, error: { kind: "damaged" } });
});

test("a hard state that contradicts itself is a flaw", () => {
  const contradictions: Partial<HardStateRecord>[] = [
    { lastIndex: indexOf(3) },
    { hardState: hardStateOf(9, 2, 9) },
    { hardState: hardStateOf(6, 2, 6) },
    { base: { ...hardState.base, term: 8 as Term } },
    { snapshotIndex: indexOf(3) },
    { snapshotIndex: indexOf(7) },
  ];
  for (const part of contradictions) {
    const decoded = decodeHardState(encodeHardState({ ...hardState, ...part }));
    expect(decoded).toMatchObject({ ok: false, error: { kind: "damaged" } });
  }
});
