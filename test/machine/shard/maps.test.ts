/** First boundaries, and maps that are staged part by part and switched in whole. */

import { expect, test } from "vitest";
import { bytesToUtf8, utf8ToBytes } from "../../../src/base/bytes.ts";
import { STAGING_MS } from "../../../src/machine/shard/keyspaces.ts";
import { onlyRange, reasonOf, ShardHarness } from "./harness.ts";

function keysOf(shard: ShardHarness, keyspaceId: number): (string | undefined)[] {
  return shard.ranges(keyspaceId).map(({ startKey }) => bytesToUtf8(startKey));
}

const PARTS = [
  [["", "a"], ["c"], ["f", "b"]],
  [["h"], ["k", "a"]],
  [["p"], ["t", "c"], ["x"]],
] as const;
const ROWS = 8;

test("a new keyspace has one range from -inf to +inf, and a repeat changes nothing", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  const [range] = shard.ranges(keyspaceId);
  expect(range).toMatchObject({ rangeId: "1.1.0", epoch: 0, endKey: undefined });
  const terms = shard.machine.state.keyspaces.get(keyspaceId)?.terms;
  if (terms === undefined) throw new Error("the keyspace exists");
  const again = shard.apply({
    kind: "createKeyspace",
    terms: { ...terms, leaseDurationMs: 1 },
  });
  expect(again.result).toEqual({ kind: "keyspaceCreated", existed: true });
  expect(again.events).toEqual([]);
  expect(shard.machine.state.keyspaces.get(keyspaceId)?.terms).toBe(terms);
});

test("boundaries are set while nothing was granted, with fresh range ids each time", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  expect(shard.split(keyspaceId, "c", "m").result).toMatchObject({ rangeCount: 3 });
  const earlier = shard.ranges(keyspaceId).map(({ rangeId }) => rangeId);
  shard.split(keyspaceId, "c", "m");
  const later = shard.ranges(keyspaceId).map(({ rangeId }) => rangeId);
  expect(keysOf(shard, keyspaceId)).toEqual(["", "c", "m"]);
  expect(later.filter((rangeId) => earlier.includes(rangeId))).toEqual([]);
  expect(reasonOf(shard.split(9, "c"))).toBe("keyspaceNotFound");
});

test("split keys that do not ascend are refused by position, and nothing half-happens", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "k");
  for (const [keys, item] of [
    [["", "b"], 0],
    [["b", "b"], 1],
    [["b", "d", "c"], 2],
  ] as const) {
    const step = shard.split(keyspaceId, ...keys);
    expect(step.result).toMatchObject({ reason: "invalidSplitKeys", item });
    expect(step.events).toEqual([]);
  }
  expect(keysOf(shard, keyspaceId)).toEqual(["", "k"]);
});

test("once a range was granted the map is not replaced, not even when it is unowned again", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.stage("i", keyspaceId, 0, [["", "b"]]);
  shard.open("a");
  const rangeId = onlyRange(shard, keyspaceId);
  shard.grant(rangeId, "a");
  shard.release(rangeId, "a");
  expect(reasonOf(shard.split(keyspaceId, "c"))).toBe("alreadyGranted");
  expect(reasonOf(shard.stage("i", keyspaceId, 1, [["c"]]))).toBe("alreadyGranted");
  expect(reasonOf(shard.commit("i", keyspaceId, 1))).toBe("alreadyGranted");
  expect(onlyRange(shard, keyspaceId)).toBe(rangeId);
});

test("an import that stops at any part leaves the old map, one that commits gives the new", () => {
  for (let staged = 0; staged <= PARTS.length; staged++) {
    const shard = new ShardHarness();
    const keyspaceId = shard.keyspace("orders");
    shard.split(keyspaceId, "m");
    for (let part = 0; part < staged; part++) {
      const rows = PARTS[part] ?? [];
      expect(shard.stage("i", keyspaceId, part, rows).events).toEqual([]);
    }
    expect(keysOf(shard, keyspaceId)).toEqual(["", "m"]);
    const step = shard.commit("i", keyspaceId, ROWS);
    if (staged < PARTS.length) {
      expect(reasonOf(step)).toBe("importIncomplete");
      expect(keysOf(shard, keyspaceId)).toEqual(["", "m"]);
      continue;
    }
    expect(step.result).toEqual({ kind: "importCommitted", rangeCount: ROWS, grantedCount: 0 });
    expect(keysOf(shard, keyspaceId)).toEqual(["", "c", "f", "h", "k", "p", "t", "x"]);
    const intended = shard.ranges(keyspaceId).map(({ intendedNodeId }) => intendedNodeId);
    expect(intended.filter((nodeId) => nodeId !== undefined)).toEqual(["a", "b", "a", "c"]);
    // A repeat after success, with nothing staged any more, answers the same.
    expect(shard.commit("i", keyspaceId, ROWS).result).toEqual(step.result);
  }
});

test("a repeated part is left alone, a skipped one is refused with the part that is expected", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.stage("i", keyspaceId, 0, PARTS[0]);
  const repeat = shard.stage("i", keyspaceId, 0, PARTS[0]);
  expect(repeat.result).toEqual({ kind: "importStaged", stagedRows: 3, expiresInMs: STAGING_MS });
  expect(shard.stage("i", keyspaceId, 2, PARTS[2]).result).toMatchObject({
    reason: "importOutOfOrder",
    item: 1,
  });
  expect(reasonOf(shard.stage("i", 9, 1, PARTS[1]))).toBe("keyspaceNotFound");
  const other = shard.keyspace("users");
  expect(reasonOf(shard.stage("i", other, 1, PARTS[1]))).toBe("importInvalid");
});

test("rows that do not ascend over the parts, or do not start at -inf, are refused", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  expect(reasonOf(shard.stage("i", keyspaceId, 0, [["b"]]))).toBe("importInvalid");
  expect(reasonOf(shard.stage("i", keyspaceId, 0, []))).toBe("importInvalid");
  expect(shard.stage("i", keyspaceId, 0, [[""], ["b"], ["b"]]).result).toMatchObject({ item: 2 });
  shard.stage("i", keyspaceId, 0, [[""], ["d"]]);
  expect(reasonOf(shard.stage("i", keyspaceId, 1, [["d"]]))).toBe("importInvalid");
  expect(reasonOf(shard.stage("i", keyspaceId, 1, [["c"]]))).toBe("importInvalid");
  expect(shard.commit("i", keyspaceId, 2).result).toMatchObject({ rangeCount: 2 });
});

test("a commit whose count is wrong is refused and can be corrected", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.stage("i", keyspaceId, 0, PARTS[0]);
  for (const count of [0, 2, 4]) {
    expect(shard.commit("i", keyspaceId, count).result).toMatchObject({
      reason: "importIncomplete",
      item: 3,
    });
  }
  expect(reasonOf(shard.commit("i", keyspaceId, 3))).toBe("importCommitted");
});

test("what is staged expires by log time, and staging a part keeps it", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.stage("i", keyspaceId, 0, PARTS[0]);
  shard.advance(STAGING_MS - 1);
  shard.stage("i", keyspaceId, 1, PARTS[1]);
  shard.advance(STAGING_MS - 1);
  expect(shard.machine.state.imports.size).toBe(1);
  expect(shard.advance(1).events).toEqual([]);
  expect(shard.machine.state.imports.size).toBe(0);
  expect(shard.commit("i", keyspaceId, 5).result).toMatchObject({
    reason: "importIncomplete",
    item: 0,
  });
});

test("an aborted import is gone, and aborting is repeated without harm", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  const other = shard.keyspace("users");
  shard.stage("i", keyspaceId, 0, PARTS[0]);
  shard.apply({ kind: "abortImport", importId: "i", keyspaceId: other });
  expect(shard.machine.state.imports.size).toBe(1);
  for (let times = 0; times < 2; times++) {
    const { result } = shard.apply({ kind: "abortImport", importId: "i", keyspaceId });
    expect(result).toEqual({ kind: "done" });
  }
  expect(reasonOf(shard.commit("i", keyspaceId, 3))).toBe("importIncomplete");
});

test("intended owners that are here already are granted by the commit itself", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.open("b");
  shard.open("a");
  for (const [part, rows] of PARTS.entries()) shard.stage("i", keyspaceId, part, rows);
  const { result, events, revision } = shard.commit("i", keyspaceId, ROWS);
  expect(result).toMatchObject({ grantedCount: 3 });
  expect(events.map(({ cause }) => cause)).toEqual(["imported", "granted", "granted"]);
  const owned = shard.ranges(keyspaceId).filter(({ owner }) => owner !== undefined);
  expect(owned.map(({ owner }) => owner?.nodeId)).toEqual(["a", "b", "a"]);
  for (const { epoch } of owned) expect(epoch).toBe(revision);
});

test("maps that are staged are bounded in number", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  for (let number = 0; number < 8; number++) shard.stage(`i${number}`, keyspaceId, 0, [[""]]);
  expect(shard.stage("i8", keyspaceId, 0, [[""]]).result).toMatchObject({
    reason: "importInvalid",
    waitMs: STAGING_MS,
  });
  expect(reasonOf(shard.stage("i0", keyspaceId, 1, [["m"]]))).toBe("importStaged");
});

test("a map replaces an imported one as long as nothing was granted, counts included", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.stage("i", keyspaceId, 0, [
    ["", "a"],
    ["m", "a"],
  ]);
  shard.commit("i", keyspaceId, 2);
  expect(shard.machine.state.intendedCounts.get("a")).toBe(2);
  shard.apply({ kind: "defineRanges", keyspaceId, splitKeys: [utf8ToBytes("q")] });
  expect(shard.machine.state.intendedCounts.size).toBe(0);
  expect(reasonOf(shard.commit("i", keyspaceId, 2))).toBe("importIncomplete");
  expect(shard.open("a").result).toMatchObject({ grantedCount: 0 });
});
