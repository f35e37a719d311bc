/** A shard's snapshots: fixed while entries go on, and the same machine when they are restored. */

import { expect, test, vi } from "vitest";
import { defined } from "../../../src/base/assert.ts";
import type { LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { type Bytes, bytesToHex, concatBytes } from "../../../src/base/bytes.ts";
import { ok } from "../../../src/base/result.ts";
import { checkShard } from "../../../src/machine/shard/invariants.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import { digestOf, drain, restore, snapshotOf } from "../snapshots.ts";
import { grantItem, GROUP, ShardHarness } from "./harness.ts";
import { type RandomEntry, RandomRun } from "./random-run.ts";

const SEEDS = 24;

test("a cut gives the state at which it was opened, whatever is applied between its pieces", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = new RandomRun(seed);
    run.steps(run.prng.nextInteger(0, 120));
    const { machine } = run.shard;
    for (let round = 0; round < 3; round++) {
      const whole = bytesToHex(snapshotOf(machine));
      const cut = machine.openCut(run.prng.nextInteger(1, 90));
      expect(cut.revision).toBe(machine.revision);
      const pieces = drain(cut, () => run.steps(run.prng.nextInteger(0, 2)));
      expect(bytesToHex(concatBytes(...pieces)), `seed ${seed}`).toBe(whole);
    }
  }
}, 120_000);

test("cuts that are open at once each give the state at which they were opened", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = new RandomRun(seed);
    const { machine } = run.shard;
    const cuts = [0, 1, 2].map(() => {
      run.steps(run.prng.nextInteger(0, 40));
      const whole = bytesToHex(snapshotOf(machine));
      return {
        whole,
        cut: machine.openCut(run.prng.nextInteger(20, 200)),
        pieces: [] as Bytes[],
      };
    });
    const open = [...cuts];
    while (open.length > 0) {
      const at = run.prng.nextInteger(0, open.length - 1);
      const { cut, pieces } = defined(open[at], "a position within the list");
      run.steps(run.prng.nextInteger(0, 2));
      const piece = cut.next();
      if (piece !== undefined) pieces.push(piece);
      else {
        cut.close();
        open.splice(at, 1);
      }
    }
    for (const { whole, pieces } of cuts) {
      expect(bytesToHex(concatBytes(...pieces)), `seed ${seed}`).toBe(whole);
    }
  }
}, 120_000);

test("a restored shard gives the answers, events and digests of the one that went on", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = new RandomRun(seed);
    for (let round = 0; round < 8; round++) {
      run.steps(run.prng.nextInteger(0, 30));
      const restored = new ShardMachine(GROUP);
      const bytes = snapshotOf(run.shard.machine);
      expect(restore(restored, bytes, run.prng), `seed ${seed}`).toEqual(ok(undefined));
      checkShard(restored.state);
      expectSame(run, restored, seed);
      for (let step = 0; step < 15; step++) {
        expectSameEntry(restored, run.step());
        checkShard(restored.state);
        expectSame(run, restored, seed);
      }
    }
  }
}, 120_000);

test("a renewal that ends before its session's later grant ends the same after a restore", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "m");
  shard.open("a");
  const [first, second] = shard.ranges(keyspaceId).map(({ rangeId }) => rangeId);
  if (first === undefined || second === undefined) throw new Error("there are two ranges");
  shard.grant(first, "a");
  shard.timeMs = 1_000;
  shard.renew("a");
  shard.timeMs = 2_000;
  shard.grant(second, "a");
  const restored = new ShardMachine(GROUP);
  expect(restore(restored, snapshotOf(shard.machine))).toEqual(ok(undefined));
  expect(restored.nextDueMs()).toBe(4_000);
  const { answer, events } = restored.apply(
    { index: (shard.revision + 1) as LogIndex, term: 1 as Term, timeMs: 4_000 as LogTimeMs },
    restored.expireRequest(),
  );
  expect(answer?.result).toEqual({ kind: "done" });
  expect(events).toMatchObject([{ cause: "expired", changes: [{ after: { rangeId: first } }] }]);
  expect(restored.nextDueMs()).toBe(5_000);
});

test("rows staged, published and granted during a cut are not in it", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.open("a");
  shard.stage("i", keyspaceId, 0, [["", "a"], ["b"], ["c"]]);
  const whole = bytesToHex(snapshotOf(shard.machine));
  const cut = shard.machine.openCut(10);
  const pieces = [cut.next() ?? new Uint8Array(0)];
  shard.stage("i", keyspaceId, 1, [["d"], ["e"]]);
  pieces.push(cut.next() ?? new Uint8Array(0));
  shard.commit("i", keyspaceId, 5);
  expect(shard.ranges(keyspaceId)[0]?.owner?.nodeId).toBe("a");
  pieces.push(...drain(cut));
  expect(bytesToHex(concatBytes(...pieces))).toBe(whole);
});

test("pieces have the same length, however long a record is", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  const keys = Array.from({ length: 60 }, (_, at) =>
    `${String(at).padStart(2, "0")}`.padEnd(4_000),
  );
  const requestId = {
    clientId: "k",
    sequence: 1,
    seenRevision: 0 as Revision,
    acknowledgedBelow: 0,
  };
  shard.split(keyspaceId, ...keys);
  shard.open("a");
  const items = shard.ranges(keyspaceId).map((range) => grantItem(range, "a"));
  // The remembered answer holds all keys twice: one record of more than 480,000 bytes.
  shard.apply({ kind: "grant", items, onlyUnowned: true, handOver: false }, requestId);
  const pieces = drain(shard.machine.openCut());
  expect(pieces.length).toBeGreaterThan(10);
  expect(new Set(pieces.slice(0, -1).map(({ length }) => length))).toEqual(new Set([32_768]));
  expect(pieces.at(-1)?.length).toBeLessThanOrEqual(32_768);
});

test("a cut that is closed early keeps nothing, and closing again is harmless", () => {
  const run = new RandomRun(3);
  run.steps(60);
  const images = run.shard.machine.state.slotImages;
  const kept: ReturnType<typeof images.open>[] = [];
  const open = images.open.bind(images);
  vi.spyOn(images, "open").mockImplementation(() => {
    kept.push(open());
    return defined(kept.at(-1), "it was just added");
  });
  const cut = run.shard.machine.openCut(20);
  cut.next();
  cut.close();
  cut.close();
  expect(() => cut.next()).toThrow("closed cut");
  const sizes = kept.map(({ size }) => size);
  run.steps(60);
  expect([sizes.length, kept.map(({ size }) => size)]).toEqual([1, sizes]);
  const whole = bytesToHex(snapshotOf(run.shard.machine));
  const second = run.shard.machine.openCut(20);
  const pieces = drain(second, () => run.steps(1));
  expect(bytesToHex(concatBytes(...pieces))).toBe(whole);
});

function expectSameEntry(restored: ShardMachine, entry: RandomEntry): void {
  entry.prepare(restored);
  const { answer, events } = restored.apply(entry.meta, entry.request);
  const inHex = (one: typeof answer): string | undefined =>
    one && bytesToHex(restored.encodeAnswer(one));
  expect(inHex(answer)).toBe(inHex(entry.answer));
  expect(events).toEqual(entry.events);
}

function expectSame(run: RandomRun, restored: ShardMachine, seed: number): void {
  const { machine } = run.shard;
  expect(restored.revision).toBe(machine.revision);
  expect(restored.nextDueMs(), `seed ${seed}`).toBe(machine.nextDueMs());
  const digest = machine.digest();
  expect(restored.digest(), `seed ${seed}`).toBe(digest);
  expect(digestOf(snapshotOf(machine))).toBe(digest);
}
