import { expect, test } from "vitest";
import { importMap } from "../../src/importers/import-map.ts";
import { renameOwners } from "../../src/importers/rename-owners.ts";
import { findingsOf, fixture, kindsOf, rangeTexts } from "./maps.ts";

const map = importMap("cassandra-ring", fixture("ring-3node-1token-mintoken.txt"));

test("owners get new names in ranges and counts and keep their addresses", () => {
  const renamed = renameOwners(map, { "10.101.35.67": "node-1", "10.101.34.191": "node-3" });
  if (!renamed.ok) throw new Error(renamed.error);
  expect(renamed.value.owners).toEqual([
    { name: "10.101.34.223", address: "10.101.34.223", ranges: 1 },
    { name: "node-1", address: "10.101.35.67", ranges: 2 },
    { name: "node-3", address: "10.101.34.191", ranges: 1 },
  ]);
  expect(renamed.value.ranges.map((range) => range.owner)).toEqual([
    "node-1",
    "10.101.34.223",
    "node-3",
    "node-1",
  ]);
  expect(kindsOf(renamed.value, "warning")).toEqual([]);
  expect(map.owners.map((owner) => owner.name)).toContain("10.101.35.67");
});

test("an unknown owner is refused with the names that there are", () => {
  expect(renameOwners(map, { "10.101.35.68": "node-1" })).toEqual({
    ok: false,
    error: "no owner is called 10.101.35.68; there are 10.101.34.191, 10.101.34.223, 10.101.35.67",
  });
  expect(renameOwners(map, { constructor: "node-1" }).ok).toBe(false);
  const ownerless = importMap("jsonl", "{}\n");
  expect(renameOwners(ownerless, { a: "b" })).toEqual({
    ok: false,
    error: "no owner is called a; there are none",
  });
});

test.each(["", "two words", "a\n"])("the new name %j is refused", (name) => {
  expect(renameOwners(map, { "10.101.35.67": name }).ok).toBe(false);
});

test("names can be swapped, and two owners that become one are pointed out", () => {
  const text =
    '{"end": "b", "owner": "x"}\n{"start": "b", "end": "c", "owner": "y"}\n{"start": "c"}\n';
  const swapped = renameOwners(importMap("jsonl", text), { x: "y", y: "x" });
  if (!swapped.ok) throw new Error(swapped.error);
  expect(rangeTexts(swapped.value)).toEqual(["[-inf, b) y @1", "[b, c) x @2", "[c, +inf) - @3"]);
  expect(findingsOf(swapped.value, "mergedOwners")).toEqual([]);

  const merged = renameOwners(importMap("jsonl", text), { x: "y" });
  if (!merged.ok) throw new Error(merged.error);
  expect(merged.value.owners).toEqual([{ name: "y", ranges: 2 }]);
  expect(merged.value.findings.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
    "mergedOwners: x, y become one owner, y",
    "missingOwner: ranges without an owner: line 3",
    "ownerCount: owners: 1; ranges of each: 2",
  ]);
  expect(merged.value.findingCounts.get("mergedOwners")).toBe(1);
});
