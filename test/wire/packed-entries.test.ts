import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogIndex, LogTimeMs, Term } from "../../src/base/brands.ts";
import { bytesToHex, hexToBytes } from "../../src/base/bytes.ts";
import type { Entry } from "../../src/raft/types.ts";
import { Fields, type InvalidArgument } from "../../src/wire/fields.ts";
import {
  ENTRY_OVERHEAD_BYTES,
  ENTRY_PAYLOAD_BYTES_MAX,
  packEntries,
  PACKED_ENTRIES_BYTES_MAX,
  packedEntriesBytes,
  unpackEntries,
} from "../../src/wire/packed-entries.ts";

const CONTEXT = { prevIndex: 9 as LogIndex, prevTerm: 2 as Term, term: 4 as Term };

function entry(index: number, change: Partial<Entry> = {}): Entry {
  return {
    index: index as LogIndex,
    term: 3 as Term,
    kind: "command",
    timeMs: 1_000 as LogTimeMs,
    payload: new Uint8Array([0xca, 0xfe]),
    ...change,
  };
}

function unpack(packed: Uint8Array, context = CONTEXT): Entry[] | InvalidArgument {
  const fields = new Fields();
  const entries = unpackEntries(packed, context, fields);
  return fields.error ?? entries;
}

test("the form of protocol version 1, byte for byte", () => {
  const entries = [
    entry(10, { kind: "noop", payload: new Uint8Array(0) }),
    entry(11, { term: (2 ** 53 - 1) as Term, timeMs: (2 ** 32 + 5) as LogTimeMs }),
  ];
  const packed = packEntries(entries);
  expect(bytesToHex(packed)).toBe(
    "01" +
      "0000000000000003" +
      "00000000000003e8" +
      "00000000" +
      "02" +
      "001fffffffffffff" +
      "0000000100000005" +
      "00000002" +
      "cafe",
  );
  expect(packed.length).toBe(packedEntriesBytes(entries));
  expect(unpack(packed, { ...CONTEXT, term: (2 ** 53 - 1) as Term })).toEqual(entries);
});

test.each<[string, Entry[], string]>([
  ["a term below the previous entry's", [entry(10), entry(11, { term: 2 as Term })], "[1].term"],
  ["a term below the one before the message", [entry(10, { term: 1 as Term })], "[0].term"],
  ["a term above the sender's", [entry(10, { term: 5 as Term })], "[0].term"],
  ["a time that goes back", [entry(10), entry(11, { timeMs: 999 as LogTimeMs })], "[1].timeMs"],
  ["a noop with a payload", [entry(10, { kind: "noop" })], "[0].payload"],
])("%s is refused", (_, entries, field) => {
  expect(unpack(packEntries(entries))).toMatchObject({ field: `appendEntries.entries${field}` });
});

test.each([
  ["an unknown kind", "03" + "0000000000000003" + "00000000000003e8" + "00000000", "[0].kind"],
  ["a term above 2^53", "02" + "0020000000000000" + "00000000000003e8" + "00000000", "[0].term"],
  ["term 0", "02" + "0000000000000000" + "00000000000003e8" + "00000000", "[0].term"],
  ["a time above 2^53", "02" + "0000000000000003" + "ffffffffffffffff" + "00000000", "[0].timeMs"],
  ["a header cut off", "02" + "0000000000000003" + "00000000000003e8" + "000000", "[0].kind"],
  ["a payload cut off", "02" + "0000000000000003" + "00000000000003e8" + "00000001", "[0].payload"],
  [
    "a payload too long",
    "02" + "0000000000000003" + "00000000000003e8" + "ffffffff",
    "[0].payload",
  ],
])("%s is refused", (_, hex, field) => {
  const packed = hexToBytes(hex) ?? new Uint8Array(0);
  const context = { ...CONTEXT, prevTerm: 0 as Term };
  expect(unpack(packed, context)).toMatchObject({ field: `appendEntries.entries${field}` });
});

test("entries whose indexes would pass 2^53 are refused", () => {
  const prevIndex = (Number.MAX_SAFE_INTEGER - 1) as LogIndex;
  const packed = packEntries([entry(0), entry(0)]);
  const problem = unpack(packed, { ...CONTEXT, prevIndex });
  expect(problem).toMatchObject({ field: "appendEntries.entries[1].index" });
});

test("the largest payload passes, one byte more is a bug of the sender", () => {
  const largest = [entry(10, { payload: new Uint8Array(ENTRY_PAYLOAD_BYTES_MAX) })];
  const [unpacked] = unpack(packEntries(largest)) as Entry[];
  expect(unpacked?.payload.length).toBe(ENTRY_PAYLOAD_BYTES_MAX);
  const larger = [entry(10, { payload: new Uint8Array(ENTRY_PAYLOAD_BYTES_MAX + 1) })];
  expect(() => packEntries(larger)).toThrow("within its bound");
});

test("a message of too many bytes is refused as a whole", () => {
  const packed = new Uint8Array(PACKED_ENTRIES_BYTES_MAX + 1);
  expect(unpack(packed)).toMatchObject({ field: "appendEntries.entries" });
});

test("arbitrary and damaged bytes give entries or a refusal, never an exception", () => {
  const good = packEntries([entry(10), entry(11), entry(12)]);
  const damaged = fc
    .tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(good.length))
    .map(([at, byte, end]) => {
      const bytes = good.slice(0, end);
      if (at < end) bytes[at] = byte;
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), damaged), (bytes) => {
      const entries = unpack(bytes);
      if (!Array.isArray(entries)) return;
      expect(entries.map((e) => e.index)).toEqual(entries.map((_, i) => 10 + i));
      expect(bytesToHex(packEntries(entries))).toBe(bytesToHex(bytes));
      expect(bytes.length).toBeGreaterThanOrEqual(entries.length * ENTRY_OVERHEAD_BYTES);
    }),
    { numRuns: 2_000 },
  );
});
