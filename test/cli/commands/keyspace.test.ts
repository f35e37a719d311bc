// `cadastre keyspace create` and `cadastre keyspace list`.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { bytesToHex } from "../../../src/base/bytes.ts";
import { failed } from "../../../src/base/result.ts";
import { FakeDirectory, refusal } from "./fake-directory.ts";
import { runVerb } from "./run-verb.ts";

function startsOf(fake: FakeDirectory, keyspace: string): string[] {
  const ranges = fake.ranges.get(keyspace) ?? [];
  return ranges.map(({ descriptor }) => bytesToHex(descriptor.span.startKey));
}

test("a keyspace is made with its boundaries in order, and the settings in force are printed", async () => {
  const fake = new FakeDirectory();
  const run = await runVerb(fake, ["keyspace", "create", "demo", "--split-at", "t,g,m"]);
  expect(run.out).toBe(
    "Created keyspace demo: 4 ranges, leases of 10s renewed every 3.3s, exclusive, data local.\n",
  );
  expect(run.exit).toBe(0);
  expect(startsOf(fake, "demo")).toEqual(["", "67", "6d", "74"]);
});

test("boundaries of a hash keyspace are tokens in numeric order", async () => {
  const fake = new FakeDirectory();
  const create = ["keyspace", "create", "ring", "--kind", "hash"];
  const run = await runVerb(fake, [...create, "--split-at", "10,-5,9", "-o", "json"]);
  expect(run.json()).toMatchObject({
    keyspace: { kind: "hash", hashFunction: "given", rangeCount: "4", unownedCount: "4" },
  });
  expect(startsOf(fake, "ring")).toEqual([
    "",
    "7ffffffffffffffb",
    "8000000000000009",
    "800000000000000a",
  ]);
});

test.each([
  [["--lease", "1499ms"], "--lease"],
  [["--lease", "601s"], "--lease"],
  [["--lease", "0s"], "--lease"],
  [["--lease=-1s"], "--lease"],
  [["--lease", "10"], "--lease"],
  [["--lease", "9007199254740992ms"], "--lease"],
  [["--renew", "499ms"], "--renew"],
  [["--renew", "4s"], "--renew"],
  [["--lease", "2s", "--renew", "1s"], "--renew"],
  [["--hash-function", "given"], "--hash-function"],
  [["--kind", "hsah"], "--kind"],
  [["--split-at", "g,,m"], "--split-at"],
  [["--split-at", "g,m,g"], "--split-at"],
  [["--split-at", "hex:6"], "--split-at"],
  [["--split-at", "g", "--split-file", "f"], "--split-"],
  [["--split-file", "missing"], "--split-file"],
  [["--split-at", "x".repeat(4_097)], "--split-at"],
])("%j is refused before anything is sent, naming the option (B39)", async (options, flag) => {
  const fake = new FakeDirectory();
  const run = await runVerb(fake, ["keyspace", "create", "demo", ...options]);
  expect(run).toMatchObject({ exit: 2, out: "" });
  expect(run.err).toContain(flag);
  expect(run.err.trim().split("\n")).toHaveLength(1);
  expect(fake.calls).toEqual([]);
});

test("the shortest and the longest lease are accepted (B39)", async () => {
  for (const [name, lease, ms] of [
    ["a", "1500ms", 1_500],
    ["b", "10m", 600_000],
  ] as const) {
    const argv = ["keyspace", "create", name, "--lease", lease, "-o", "json"];
    const run = await runVerb(new FakeDirectory(), argv);
    expect(run.json()).toMatchObject({
      keyspace: { leaseDurationMs: ms, renewIntervalMs: ms / 3 },
    });
  }
});

test("boundaries come from a file, a line each; an empty line is refused by its number", async () => {
  const cwd = mkdtempSync(path.join(tmpdir(), "cadastre-split-"));
  writeFileSync(path.join(cwd, "keys"), "g\r\n\\x00\\xff\r\n");
  writeFileSync(path.join(cwd, "gap"), "g\n\nm\n");
  const fake = new FakeDirectory();
  await runVerb(fake, ["keyspace", "create", "demo", "--split-file", "keys"], { cwd });
  expect(startsOf(fake, "demo")).toEqual(["", "00ff", "67"]);
  const bad = await runVerb(fake, ["keyspace", "create", "x", "--split-file", "gap"], { cwd });
  expect(bad.exit).toBe(2);
  expect(bad.err).toContain("key 2 is empty");
});

test("when the boundaries failed, the same command sets them later; other settings conflict", async () => {
  const fake = new FakeDirectory();
  const { defineRanges } = fake.services.keyspaces;
  const error = refusal("DENIED", "not today");
  fake.services.keyspaces.defineRanges = () => Promise.resolve(failed(error));
  const create = ["keyspace", "create", "demo", "--split-at", "g"];
  expect((await runVerb(fake, create)).exit).toBe(6);
  expect(startsOf(fake, "demo")).toEqual([""]);
  fake.services.keyspaces.defineRanges = defineRanges;
  expect((await runVerb(fake, create)).exit).toBe(0);
  expect(startsOf(fake, "demo")).toEqual(["", "67"]);
  expect((await runVerb(fake, create)).exit).toBe(4);
  const fresh = new FakeDirectory();
  fresh.addKeyspace("demo");
  expect((await runVerb(fresh, [...create, "--lease", "30s"])).exit).toBe(4);
  expect((await runVerb(fresh, ["keyspace", "create", "demo"])).exit).toBe(4);
});

test("the list shows leases and how much is unowned", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["g", "m"]);
  fake.addKeyspace("ring", [], "hash");
  fake.addNode("n1");
  fake.setOwner(fake.ranges.get("demo")?.[0]?.descriptor.rangeId ?? "", "n1");
  const run = await runVerb(fake, ["keyspace", "list"]);
  expect(run.out).toBe(
    [
      "KEYSPACE  KIND         RANGES  UNOWNED  LEASE  RENEWED  MODE       DATA   STATE",
      "demo      range             3        2    10s     3.3s  exclusive  local  ready",
      "ring      hash, given       1        1    10s     3.3s  exclusive  local  ready",
      "",
    ].join("\n"),
  );
  const empty = await runVerb(new FakeDirectory(), ["keyspace", "list"]);
  expect(empty.err).toContain("cadastre keyspace create NAME");
});
