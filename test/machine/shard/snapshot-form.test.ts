/** The stored form of a shard: its golden bytes, and a restore that no bytes can hurt. */

import { expect, test } from "vitest";
import type {
  Epoch,
  Incarnation,
  LogIndex,
  LogTimeMs,
  Revision,
  Term,
} from "../../../src/base/brands.ts";
import { type Bytes, bytesToHex, utf8ToBytes } from "../../../src/base/bytes.ts";
import { failed, ok } from "../../../src/base/result.ts";
import type { EntryMeta } from "../../../src/machine/group.ts";
import type { GrantItem, ShardRequest } from "../../../src/machine/shard/commands.ts";
import { checkShard } from "../../../src/machine/shard/invariants.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import {
  expectOrderedRecords,
  expectTotalRestore,
  goldenSnapshot,
  restore,
  snapshotOf,
  type Subject,
} from "../snapshots.ts";
import { SENT_AGAIN } from "../../sent-again.ts";
import { GROUP } from "./harness.ts";
import { RandomRun } from "./random-run.ts";

const ids = (
  nodeId: string,
  incarnation: number,
): { nodeId: string; incarnation: Incarnation } => ({
  nodeId,
  incarnation: incarnation as Incarnation,
});

function at(...addresses: string[]): { provenSince: Incarnation; addresses: string[] } {
  return { provenSince: 7 as Incarnation, addresses };
}

function grantOf(nodeId: string, epoch: number, descriptor: number): GrantItem {
  return {
    rangeId: "1.2.0",
    expectedEpoch: epoch as Epoch,
    expectedDescriptorRevision: descriptor as Revision,
    nodeId,
    incarnation: undefined,
  };
}

const PAIRS = { pair: { sequence: 2, nonce: 300 }, known: [{ sequence: 1, nonce: 5 }] };

/** One request for each kind of record, in which every optional field is once present. */
const REQUESTS: readonly ShardRequest["command"][] = [
  {
    kind: "createKeyspace",
    terms: {
      keyspaceId: 1,
      name: "o",
      leaseDurationMs: 100,
      renewIntervalMs: 10,
      leaseMode: "exclusive",
      dataKind: "local",
    },
  },
  { kind: "defineRanges", keyspaceId: 1, splitKeys: [utf8ToBytes("m")] },
  {
    kind: "createKeyspace",
    terms: {
      keyspaceId: 2,
      name: "p",
      leaseDurationMs: 200,
      renewIntervalMs: 20,
      leaseMode: "affinity",
      dataKind: "none",
    },
  },
  {
    kind: "stageImport",
    importId: "j",
    keyspaceId: 2,
    part: 0,
    rows: [{ startKey: utf8ToBytes(""), intendedNodeId: "z" }],
  },
  { kind: "commitImport", importId: "j", keyspaceId: 2, rowCount: 1 },
  {
    kind: "stageImport",
    importId: "i",
    keyspaceId: 2,
    part: 0,
    rows: [
      { startKey: utf8ToBytes(""), intendedNodeId: "b" },
      { startKey: utf8ToBytes("q"), intendedNodeId: undefined },
    ],
  },
  { kind: "openSession", ...ids("a", 7), ...at("a:1", "i") },
  { kind: "grant", items: [grantOf("a", 0, 2)], onlyUnowned: true, handOver: false },
  { kind: "openSession", ...ids("b", 300), ...at() },
  { kind: "grant", items: [grantOf("b", 8, 8)], onlyUnowned: false, handOver: true },
  { kind: "accept", ...ids("a", 7), ranges: [{ rangeId: "1.2.0", epoch: 8 as Epoch }] },
  { kind: "renew", renewals: [{ ...ids("a", 7), asOf: 9 as Revision, except: [], ...PAIRS }] },
];

function goldenShard(): ShardMachine {
  const machine = new ShardMachine(GROUP);
  const metaOf = (at: number): EntryMeta => ({
    index: (at + 1) as LogIndex,
    term: 1 as Term,
    timeMs: 300 as LogTimeMs,
  });
  for (const [at, command] of REQUESTS.entries()) {
    const requestId =
      command.kind === "defineRanges"
        ? { clientId: "k", sequence: 5, seenRevision: 1 as Revision, acknowledgedBelow: 3 }
        : undefined;
    machine.apply(metaOf(at), { requestId, command });
  }
  machine.apply(metaOf(REQUESTS.length), undefined);
  return machine;
}

/** Form 1. Any other bytes for the same state need a new version. */
const GOLDEN = [
  "43445354 01 01", // magic, shard, version
  "04 01 0d ac02", // position: group 1, revision 13, time 300
  "06 01 05 ac02 cc21", // last lease order 5; grace from 300 until 4300
  "09 02 0161 07 01 02 ac02 00", // incarnation of a: 7, renewed as 2 of nonce 300, not closed
  "07 02 0162 ac02 00 00", // of b: 300, not renewed yet
  "0e 03 0161 07 07 02 03613a31 0169", // session a: opened at 7, addresses a:1 and i,
  "00 09", // not superseded, changes kept above 9
  "0f 04 00 bc50 cc9e01 01 05 09 bc50 cc9e01", // base standing to 10300, with grace to 20300;
  // renewed as order 5 with asOf 9
  "0d 04 01 9003 f403 01 05 09 9003 f403", // in keyspace 1 to 400, with grace to 500
  "1d 05 0a 03 05312e322e30 01 00 01016d 08", // change at 10, successorSet: 1.2.0 of 1, "" to m
  "01016107 010162ac02 0a 00 00 00 08", // as it was then: epoch 8, owner a, b asked for at 10, at 8
  "09 03 0162 ac02 09 00 00 08", // session b: opened at 9, no address
  "0f 04 00 bc50 cc9e01 01 03 09 bc50 cc9e01",
  "0a 06 01 016f 64 0a 00 02 01 00", // keyspace 1, o: 100, 10, exclusive, local; granted before
  "1c 07 05312e322e30 00 08 01016107 010162ac02 0a", // 1.2.0 from "", epoch 8, a, then b, asked
  "00 08 00 08 9003 f403 04", // not intended, accepted 8, no replicas, at 8; to 400 or 500, cut
  // loose at 4
  "14 07 05312e322e31 016d 00 00 00 00 00 00 00 02 00 00 00", // 1.2.1 from m, never granted, at 2
  "0d 06 02 0170 c801 14 01 00 00 01016a", // keyspace 2, p: 200, 20, affinity, none; import j
  "15 07 05312e342e30 00 00 00 00 00 01017a 00 00 05 00 00 00", // 1.4.0, intended for z, at 5
  "08 08 0169 02 01 ecd124", // import i into 2: one part, dropped at 600300
  "0b 09 05312e362e30 00 010162", // its row 1.6.0 from "", for b
  "0a 09 05312e362e31 0171 00", // 1.6.1 from q
  "06 0c 00 01 ac02 01", // request floor 0, to be 1 ten minutes after 300
  "04 0a 016b 03", // client k, mark 3
  "0e 0b 05 01 9198b0edace38008", // its request 5, seen 1, of digest 8018d66d 60608c1a (53 bits):
  "0402 02", // 2 ranges defined, decided at 2
];
const RECORDS = 20;

test("a shard's form is stored: its golden bytes never change within a version", () => {
  const bytes = goldenSnapshot(GOLDEN, RECORDS);
  expect(bytesToHex(snapshotOf(goldenShard()))).toBe(bytesToHex(bytes));
  const restored = new ShardMachine(GROUP);
  expect(restore(restored, bytes)).toEqual(ok(undefined));
  checkShard(restored.state);
  for (const derived of ["rangesById", "sessions", "intendedCounts", "imports"] as const) {
    expect(restored.state[derived], derived).toEqual(goldenShard().state[derived]);
  }
});

test("cut, altered and invented bytes are refused or the one form of a shard, never thrown on", () => {
  expectTotalRestore(subjectOf(goldenSnapshot(GOLDEN, RECORDS)));
}, 60_000);

test("a shard without a record, or with one twice or out of place, is refused or another", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const run = new RandomRun(seed);
    run.steps(100);
    expectOrderedRecords(subjectOf(snapshotOf(run.shard.machine)));
  }
}, 60_000);

/** What was restored keeps the invariants, also after a renewal of all sessions and their end. */
function subjectOf(bytes: Bytes): Subject<ShardMachine> {
  return { newMachine: () => new ShardMachine(GROUP), check, bytes };
}

function check(machine: ShardMachine): void {
  const { state } = machine;
  checkShard(state);
  const renewals = [...state.sessions.values()].map(({ nodeId, incarnation }) => ({
    nodeId,
    incarnation,
    asOf: machine.revision,
    except: [],
    ...SENT_AGAIN,
  }));
  // A position or time at the edge of its numbers leaves no room for another entry.
  if (machine.revision > 2 ** 43 || state.timeMs > 2 ** 50) return;
  for (const lateMs of [0, 10_000, 700_000]) {
    const index = (machine.revision + 1) as LogIndex;
    const meta = { index, term: 1 as Term, timeMs: (state.timeMs + lateMs) as LogTimeMs };
    machine.apply(meta, { requestId: undefined, command: { kind: "renew", renewals } });
    checkShard(state);
  }
}

test("a snapshot of another machine, form, group or generation is refused by name", () => {
  const bytes = goldenSnapshot(GOLDEN, RECORDS);
  const restoredBy = (machine: ShardMachine, given = bytes): string => {
    const result = restore(machine, given);
    return result.ok ? "restored" : result.error;
  };
  const altered = (at: number, byte: number): Uint8Array => {
    const copy = bytes.slice();
    copy[at] = byte;
    return copy;
  };
  const machine = new ShardMachine(GROUP);
  expect(restoredBy(machine, altered(0, 0x44))).toContain("no snapshot");
  expect(restoredBy(machine, altered(4, 0))).toContain("not of a shard");
  expect(restoredBy(machine, altered(5, 9))).toContain("form 9 and this program reads form 1");
  expect(restoredBy(machine, altered(7, 2))).toContain("of group 2, generation 0");
  expect(restoredBy(new ShardMachine(GROUP, 3))).toContain("of group 1, generation 3");
});

test("a range that is intended for a node that is here is refused (MS9)", () => {
  // 1.4.0 for a instead of z.
  const forged = GOLDEN.map((frame) => frame.replace("01017a", "010161"));
  const restored = restore(new ShardMachine(GROUP), goldenSnapshot(forged, RECORDS));
  expect(restored).toEqual(failed(expect.stringContaining("MS9: an intended owner is not here")));
});

test("a length that no record has is refused when it is read, before any of its bytes", () => {
  const restoring = new ShardMachine(GROUP).beginRestore();
  const start = goldenSnapshot(GOLDEN.slice(0, 2), 0).subarray(0, 11);
  expect(restoring.accept(start)).toEqual(ok(undefined));
  const forged = restoring.accept(Uint8Array.of(0xff, 0xff, 0xff, 0x7f));
  expect(forged.ok).toBe(false);
  expect(restoring.accept(Uint8Array.of(1))).toEqual(forged);
  expect(restoring.finish()).toEqual(forged);
});

test("a restore changes the machine once, at its finish, and is of no more use then", () => {
  const machine = new ShardMachine(GROUP);
  const before = machine.state;
  const restoring = machine.beginRestore();
  expect(restoring.finish().ok).toBe(false);
  expect(restoring.accept(goldenSnapshot(GOLDEN, RECORDS))).toEqual(ok(undefined));
  expect(machine.state).toBe(before);
  expect(restoring.finish()).toEqual(ok(undefined));
  const { state } = machine;
  expect(state.revision).toBe(13);
  expect(restoring.finish()).toEqual(failed(expect.stringContaining("used before")));
  expect(machine.state).toBe(state);
});
