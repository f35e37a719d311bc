import { expect, test } from "vitest";
import type { GroupId, LogTimeMs, ServerId } from "../../src/base/brands.ts";
import { type Bytes, bytesEqual, compareBytes } from "../../src/base/bytes.ts";
import { CHAIN_START, encodeEntry } from "../../src/storage/entry-record.ts";
import { LOG_START, type LogPosition } from "../../src/raft/types.ts";
import { StorageError } from "../../src/storage/errors.ts";
import { GroupLog } from "../../src/storage/group-log.ts";
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
import type { KeyValue } from "../../src/storage/level-db.ts";
import {
  encodeAdmission,
  encodeConfiguration,
  encodeHardState,
  encodeIdentity,
  encodePeer,
  encodeSnapshotPointer,
  encodeStoreHead,
  type HardStateRecord,
} from "../../src/storage/records.ts";
import {
  type ExpectedIdentity,
  type RecoveredStore,
  Recovery,
} from "../../src/storage/recovery.ts";
import {
  entryOf,
  groupOf,
  hardStateOf,
  indexOf,
  positionOf,
  replicaOf,
} from "../conformance/log-steps.ts";
import { EXPECTED, IDENTITY, resealed } from "./level-harness.ts";

type Records = readonly KeyValue[];

interface TestGroup {
  readonly group: GroupId;
  /** Entry terms from index 1 on, also of those that are no longer there. */
  readonly terms: readonly number[];
  /** The write that the group's last step was part of. */
  readonly writeSequence: number;
  readonly baseIndex: number;
  readonly snapshotIndex: number;
}

const NEVER_COMPACTED = { baseIndex: 0, snapshotIndex: 0 };

const GROUPS: readonly TestGroup[] = [
  { group: groupOf(0), terms: [1, 1, 2, 2, 3], writeSequence: 9, ...NEVER_COMPACTED },
  { group: groupOf(1), terms: [], writeSequence: 1, ...NEVER_COMPACTED },
  { group: groupOf(2), terms: [4, 4], writeSequence: 7, ...NEVER_COMPACTED },
  { group: groupOf(3), terms: [5, 5, 6, 6], writeSequence: 8, baseIndex: 2, snapshotIndex: 3 },
];

/** Writes of other records. */
const ADMITTED_AT = 5;
const PEERS = [
  { server: 2 as ServerId, storeUuid: "uuid-2", writeSequence: 3 },
  { server: 3 as ServerId, storeUuid: "uuid-3", writeSequence: 4 },
];

const SOUND = soundStore();

test("a sound store is read whole", () => {
  const { identity, isAdmitted, peers, head, groups } = recover(SOUND);
  expect(identity).toEqual(IDENTITY);
  expect(isAdmitted).toBe(true);
  expect([...peers]).toEqual([
    [2, "uuid-2"],
    [3, "uuid-3"],
  ]);
  expect(head).toEqual({ writeSequence: 9, sequenceSum: 37, groupCount: 4 });
  const found = groups.map(({ bounds, log, entries, remains }) => ({
    group: bounds.group,
    terms: entries.map((entry) => entry.term),
    base: bounds.base,
    snapshot: log.snapshot,
    remains,
  }));
  const start = { base: LOG_START, snapshot: LOG_START, remains: undefined };
  expect(found).toEqual([
    { group: 0, terms: [1, 1, 2, 2, 3], ...start },
    { group: 1, terms: [], ...start },
    { group: 2, terms: [4, 4], ...start },
    { group: 3, terms: [6, 6], ...start, base: positionOf(2, 5), snapshot: positionOf(3, 6) },
  ]);
});

test("every flipped bit in the value of any record is found", () => {
  for (const record of SOUND) {
    for (let bit = 0; bit < record.value.length * 8; bit++) {
      expect(errorOf(replace(record.key, flip(record.value, bit)))).toMatchObject({
        code: "damaged",
      });
    }
  }
});

test("every flipped bit in the key of any record is found", () => {
  for (const record of SOUND) {
    for (let bit = 0; bit < record.key.length * 8; bit++) {
      const others = without(record.key);
      const moved = { key: flip(record.key, bit), value: record.value };
      expect(errorOf(inOrder([...others, moved])).code).toBe("damaged");
    }
  }
});

test("every record that is missing is found", () => {
  for (const { key } of SOUND) {
    expect(errorOf(without(key)).code).toBe("damaged");
  }
});

test("every record cut short is found", () => {
  for (const { key, value } of SOUND) {
    for (let length = 0; length < value.length; length++) {
      expect(errorOf(replace(key, value.subarray(0, length))).code).toBe("damaged");
    }
  }
});

test("any two records of a kind that changed places are found", () => {
  for (const a of SOUND) {
    for (const b of SOUND) {
      if (compareBytes(a.key, b.key) >= 0 || kindOf(a) !== kindOf(b)) continue;
      const swapped = SOUND.map(({ key, value }) => {
        if (bytesEqual(key, a.key)) return { key, value: b.value };
        return { key, value: bytesEqual(key, b.key) ? a.value : value };
      });
      expect(errorOf(swapped).code).toBe("damaged");
    }
  }
});

test("a record in another's place is named", () => {
  const entry2 = valueAt(entryKey(groupOf(0), indexOf(2)));
  const entryError = errorOf(replace(entryKey(groupOf(0), indexOf(3)), entry2));
  expect(entryError.message).toMatch(/found: the record of group 0, index 2 in this place/);
  const hardState2 = valueAt(hardStateKey(groupOf(2)));
  const hardStateError = errorOf(replace(hardStateKey(groupOf(1)), hardState2));
  expect(hardStateError.message).toMatch(/group 1, found: the record of group 2 in this place/);
});

test("a group that lost its hard state, its end, or all of it is named", () => {
  const group = groupOf(1);
  expect(errorOf(without(hardStateKey(group))).message).toMatch(/group 1, found: no hard state/);
  const noGroup = SOUND.filter(({ key }) => (parseKey(key) as { group?: number }).group !== 1);
  expect(errorOf(noGroup).message).toMatch(/3 groups where 4 were written/);
  const noEnd = without(entryKey(groupOf(0), indexOf(5)));
  expect(errorOf(noEnd).place).toEqual({ group: 0, index: 5 });
});

test("a hard state that names another last entry is damage", () => {
  for (const change of [{ lastChain: 5 }, { lastTerm: entryOf(0, 2).term }]) {
    const bounds = encodeHardState({ ...boundsOf(groupOf(0)), ...change });
    const error = errorOf(replace(hardStateKey(groupOf(0)), bounds));
    expect(error.message).toMatch(/another last entry than the hard state names/);
  }
});

test("a store that lost what it knew of a peer, or that it was admitted, is damaged", () => {
  for (const key of [ADMISSION_KEY, peerKey(2 as ServerId)]) {
    expect(errorOf(without(key)).message).toMatch(/a record that is missing/);
  }
  const misplaced = replace(peerKey(3 as ServerId), valueAt(peerKey(2 as ServerId)));
  expect(errorOf(misplaced).message).toMatch(/the record of server 2 in the place of 3/);
});

test("a store head that counts another last write is damage", () => {
  const head = encodeStoreHead({ ...headOf(), writeSequence: 10 });
  expect(errorOf(replace(STORE_HEAD_KEY, head)).message).toMatch(/or not the last one written/);
});

test("a missing entry is named with its group and index", () => {
  const error = errorOf(without(entryKey(groupOf(0), indexOf(3))));
  expect(error.place).toEqual({ group: 0, index: 3 });
  expect(error.message).toMatch(/group 0, index 3, found: no entry here/);
  expect(error.message).toMatch(/nothing was repaired/);
});

test("an intact older entry in place of the last one written breaks the chain", () => {
  const place = { group: groupOf(0), index: indexOf(3) };
  const older = encodeEntry({ ...entryRecord(groupOf(0), 3, 1), prevChain: 77 }).value;
  const error = errorOf(replace(entryKey(place.group, place.index), older));
  expect(error.place).toEqual(place);
  expect(error.message).toMatch(/does not follow the one before it/);
});

test("an entry behind the last index is refused, not dropped", () => {
  const record = { ...entryRecord(groupOf(2), 3, 4), prevChain: lastChainOf(groupOf(2)) };
  const extra = { key: entryKey(groupOf(2), indexOf(3)), value: encodeEntry(record).value };
  expect(errorOf(inOrder([...SOUND, extra])).message).toMatch(/behind the log's last index 2/);
});

test("an entry of a group that is not there is refused", () => {
  const extra = {
    key: entryKey(groupOf(5), indexOf(1)),
    value: encodeEntry(entryRecord(groupOf(5), 1, 1)).value,
  };
  expect(errorOf(inOrder([...SOUND, extra])).message).toMatch(/unknown group/);
});

test("entries at or below the base are remains: named, and not looked into", () => {
  const rotten = [1, 2].map((index) => ({
    key: entryKey(groupOf(3), indexOf(index)),
    value: new Uint8Array(87),
  }));
  const group = recover(inOrder([...SOUND, ...rotten])).groups[3];
  expect(group?.entries.map((entry) => entry.index)).toEqual([3, 4]);
  expect(group?.remains).toEqual({ group: 3, firstIndex: 1, lastIndex: 2, storedBytes: 200 });
});

test("a log that begins after another base than its own breaks the chain", () => {
  const bounds = encodeHardState({ ...boundsOf(groupOf(3)), baseChain: 5 });
  const error = errorOf(replace(hardStateKey(groupOf(3)), bounds));
  expect(error.message).toMatch(/index 3, found: an entry that does not follow/);
});

test("an installed snapshot is a log without entries that begins after it", () => {
  const position = positionOf(70, 6);
  const log = new GroupLog(boundsOf(groupOf(3)));
  log.moveBase(position);
  log.snapshot = position;
  log.hardState = hardStateOf(6, 1, 70);
  const pointer = encodeSnapshotPointer({ group: groupOf(3), position });
  const hardState = encodeHardState(log.toRecord());
  const records = replace(
    snapshotPointerKey(groupOf(3)),
    pointer,
    replace(hardStateKey(groupOf(3)), hardState),
  );
  const group = recover(records).groups[3];
  expect(group?.log.lastIndex).toBe(70);
  expect(group?.entries).toEqual([]);
  expect(group?.remains).toMatchObject({ firstIndex: 3, lastIndex: 4 });
});

test("a snapshot pointer that is not the one last written is damage", () => {
  const key = snapshotPointerKey(groupOf(3));
  const pointerTo = (position: LogPosition) =>
    errorOf(replace(key, encodeSnapshotPointer({ group: groupOf(3), position })));
  expect(pointerTo(positionOf(2, 5)).message).toMatch(
    /group 3, found: a snapshot pointer to 2 where 3 was written/,
  );
  expect(pointerTo(positionOf(3, 5)).message).toMatch(/contradicts the log/);
  expect(pointerTo({ ...positionOf(3, 6), timeMs: 31 as LogTimeMs }).message).toMatch(
    /contradicts the log/,
  );
  expect(errorOf(without(key)).message).toMatch(/a snapshot pointer to 0 where 3 was written/);
  const value = encodeSnapshotPointer({ group: groupOf(1), position: positionOf(3, 6) });
  const extra = { key: snapshotPointerKey(groupOf(1)), value };
  expect(errorOf(inOrder([...SOUND, extra])).message).toMatch(/to 3 where 0 was written/);
});

test("a group whose last step alone was lost is found by the store head", () => {
  const before = encodeHardState({ ...boundsOf(groupOf(2)), writeSequence: 6 });
  const error = errorOf(replace(hardStateKey(groupOf(2)), before));
  expect(error.message).toMatch(/a record that is missing, or not the last one written/);
});

test.each([
  ["a term that falls", { term: 1 }],
  ["a log time that falls", { timeMs: 0 }],
])("%s along the log is damage", (what, change) => {
  const group = groupOf(0);
  const prevChain = chainsOf(group, [1, 1, 2, 2])[4] ?? 0;
  const record = entryRecord(group, 5, 3);
  const entry = { ...record.entry, ...change } as typeof record.entry;
  const { value, chain } = encodeEntry({ ...record, entry, prevChain });
  const bounds = { ...boundsOf(group), lastChain: chain };
  const changed = replace(hardStateKey(group), encodeHardState(bounds));
  expect(errorOf(replace(entryKey(group, indexOf(5)), value, changed)).message).toContain(what);
});

test("an entry that was written before the one in front of it is damage", () => {
  const group = groupOf(2);
  const prevChain = chainsOf(group, [4])[1] ?? 0;
  const record = { ...entryRecord(group, 2, 4), writeSequence: 1, prevChain };
  const { value, chain } = encodeEntry(record);
  const bounds = { ...boundsOf(group), lastChain: chain };
  const changed = replace(hardStateKey(group), encodeHardState(bounds));
  const error = errorOf(replace(entryKey(group, indexOf(2)), value, changed));
  expect(error.message).toMatch(/written before the one in front of it/);
});

test("an entry that claims a later write than its group's hard state is damage", () => {
  const group = groupOf(2);
  const prevChain = chainsOf(group, [4])[1] ?? 0;
  const { value, chain } = encodeEntry({
    ...entryRecord(group, 2, 4),
    writeSequence: 8,
    prevChain,
  });
  const bounds = { ...boundsOf(group), lastChain: chain };
  const changed = replace(hardStateKey(group), encodeHardState(bounds));
  const error = errorOf(replace(entryKey(group, indexOf(2)), value, changed));
  expect(error.message).toMatch(/newer than the hard state/);
});

test("a store of another cluster or server is named as such", () => {
  const clusterError = errorOf(SOUND, { ...EXPECTED, clusterId: "cluster-b" });
  expect(clusterError.code).toBe("clusterMismatch");
  expect(clusterError.message).toMatch(/cluster cluster-a, not to cluster-b/);
  const serverError = errorOf(SOUND, { ...EXPECTED, serverId: 2 as ServerId });
  expect(serverError.code).toBe("serverMismatch");
  expect(serverError.message).toMatch(/server 1, not to 2/);
});

test("a record of a later version asks for a later program", () => {
  const later = Uint8Array.of(9, ...encodeStoreHead(headOf()).subarray(1));
  const error = errorOf(replace(STORE_HEAD_KEY, resealed(later)));
  expect(error.code).toBe("formatUnknown");
});

function soundStore(): Records {
  const records: KeyValue[] = [
    { key: IDENTITY_KEY, value: encodeIdentity(IDENTITY) },
    { key: STORE_HEAD_KEY, value: encodeStoreHead(headOf()) },
    { key: ADMISSION_KEY, value: encodeAdmission({ writeSequence: ADMITTED_AT }) },
    ...PEERS.map((peer) => ({ key: peerKey(peer.server), value: encodePeer(peer) })),
  ];
  for (const { group, terms, baseIndex, snapshotIndex } of GROUPS) {
    const configuration = encodeConfiguration({ ...replicaOf(group), group });
    records.push({ key: configurationKey(group), value: configuration });
    records.push({ key: hardStateKey(group), value: encodeHardState(boundsOf(group)) });
    let prevChain = CHAIN_START;
    for (const [at, term] of terms.entries()) {
      const { value, chain } = encodeEntry({ ...entryRecord(group, at + 1, term), prevChain });
      if (at >= baseIndex) records.push({ key: entryKey(group, indexOf(at + 1)), value });
      prevChain = chain;
    }
    if (snapshotIndex === 0) continue;
    const position = positionOf(snapshotIndex, terms[snapshotIndex - 1] ?? 0);
    const pointer = encodeSnapshotPointer({ group, position });
    records.push({ key: snapshotPointerKey(group), value: pointer });
  }
  return inOrder(records);
}

function headOf(): { writeSequence: number; sequenceSum: number; groupCount: number } {
  const sequences = [...GROUPS, ...PEERS].map(({ writeSequence }) => writeSequence);
  sequences.push(ADMITTED_AT);
  const sequenceSum = sequences.reduce((sum, sequence) => sum + sequence, 0);
  return { writeSequence: Math.max(...sequences), sequenceSum, groupCount: GROUPS.length };
}

function boundsOf(group: GroupId): HardStateRecord {
  const found = GROUPS.find((one) => one.group === group) ?? expect.fail("no such group");
  const { terms, writeSequence, baseIndex, snapshotIndex } = found;
  const lastTerm = terms.at(-1) ?? 0;
  const chains = chainsOf(group, terms);
  return {
    group,
    hardState: hardStateOf(lastTerm, 1, terms.length),
    base: positionOf(baseIndex, terms[baseIndex - 1] ?? 0),
    baseChain: chains[baseIndex] ?? CHAIN_START,
    lastIndex: indexOf(terms.length),
    lastTerm: entryOf(0, lastTerm).term,
    lastChain: chains.at(-1) ?? CHAIN_START,
    snapshotIndex: indexOf(snapshotIndex),
    writeSequence,
  };
}

/** Chain values before the first entry and after each. */
function chainsOf(group: GroupId, terms: readonly number[]): number[] {
  const chains = [CHAIN_START];
  for (const [at, term] of terms.entries()) {
    const prevChain = chains[at] ?? CHAIN_START;
    chains.push(encodeEntry({ ...entryRecord(group, at + 1, term), prevChain }).chain);
  }
  return chains;
}

function lastChainOf(group: GroupId): number {
  const terms = GROUPS.find((one) => one.group === group)?.terms ?? [];
  return chainsOf(group, terms).at(-1) ?? CHAIN_START;
}

function entryRecord(
  group: GroupId,
  index: number,
  term: number,
): Parameters<typeof encodeEntry>[0] {
  const entry = entryOf(index, term, index === 1 ? "" : `${group}/${index}`);
  return { group, entry, writeSequence: Math.min(index + 1, 6), prevChain: CHAIN_START };
}

function recover(records: Records, expected: ExpectedIdentity = EXPECTED): RecoveredStore {
  const recovery = new Recovery("/data/raft", expected);
  for (const { key, value } of records) recovery.accept(key, value);
  return recovery.finish();
}

/** The storage error of a store that must not open. */
function errorOf(records: Records, expected: ExpectedIdentity = EXPECTED): StorageError {
  try {
    recover(records, expected);
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  return expect.fail("the damage was not found");
}

function valueAt(key: Bytes): Bytes {
  const record = SOUND.find((one) => bytesEqual(one.key, key));
  return record?.value ?? expect.fail("no such record");
}

function replace(key: Bytes, value: Bytes, records: Records = SOUND): Records {
  return records.map((record) => (bytesEqual(record.key, key) ? { key, value } : record));
}

function without(key: Bytes): Records {
  return SOUND.filter((record) => !bytesEqual(record.key, key));
}

function inOrder(records: readonly KeyValue[]): Records {
  return records.toSorted((a, b) => compareBytes(a.key, b.key));
}

function kindOf(record: KeyValue): string | undefined {
  return parseKey(record.key)?.kind;
}

function flip(bytes: Bytes, bit: number): Bytes {
  const flipped = bytes.slice();
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}
