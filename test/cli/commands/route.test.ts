// `cadastre route`.
import { expect, test } from "vitest";
import { FakeDirectory } from "./fake-directory.ts";
import { runVerb } from "./run-verb.ts";

function demo(): FakeDirectory {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["g", "m"]);
  fake.addNode("n1");
  const first = fake.ranges.get("demo")?.[0]?.descriptor.rangeId ?? "";
  fake.setOwner(first, "n1");
  return fake;
}

test("an owned key: range, span, epoch, owner, addresses, revision; exit 0", async () => {
  const run = await runVerb(demo(), ["route", "b"]);
  expect(run).toMatchObject({ exit: 0, err: "" });
  expect(run.out).toBe(
    [
      "range      1.102.0",
      "keyspace   demo",
      "span       [-inf, g)",
      "epoch      103",
      "owner      n1 (incarnation 11)",
      "addresses  n1.example:7000",
      "revision   103",
      "",
    ].join("\n"),
  );
});

test("an unowned key says so, and for whom the range is meant; exit 4", async () => {
  const fake = demo();
  const bare = await runVerb(fake, ["route", "h", "--keyspace", "demo"]);
  expect(bare.exit).toBe(4);
  expect(bare.out).toContain("owner     UNOWNED\n");
  fake.setIntended("1.102.1", "n7");
  const intended = await runVerb(fake, ["route", "h"]);
  expect(intended.exit).toBe(4);
  expect(intended.out).toContain("owner     UNOWNED, intended for n7\n");
});

test("a key equal to a boundary belongs to the right-hand range, the empty key to the first (B38)", async () => {
  const at = (run: { json(): unknown }): unknown => run.json();
  const boundary = await runVerb(demo(), ["route", "g", "-o", "json"]);
  expect(at(boundary)).toMatchObject({ range: { start: { utf8: "g", hex: "67" } } });
  const empty = await runVerb(demo(), ["route", "", "-o", "json"]);
  expect(at(empty)).toMatchObject({ range: { start: null } });
});

test("JSON has 64-bit numbers as strings, open ends and absent owners as null (B37)", async () => {
  const run = await runVerb(demo(), ["route", "zz", "-o", "json"]);
  expect(run.json()).toEqual({
    range: {
      rangeId: "1.102.2",
      keyspace: "demo",
      start: { utf8: "m", hex: "6d" },
      end: null,
      epoch: "0",
      owner: null,
      replicas: [],
      descriptorRevision: "102",
      group: 1,
    },
    addresses: [],
    intendedNodeId: null,
    header: {
      clusterId: "c1",
      group: 1,
      generation: 0,
      revision: "103",
      serverId: 1,
      leaderServerId: 1,
      term: "3",
    },
    staleness: null,
  });
});

test("in a hash keyspace the key is a token, negative ones too", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("ring", [], "hash");
  const run = await runVerb(fake, ["route", "-9223372036854775808", "--keyspace", "ring"]);
  expect(run.out).toContain("span      [-inf, +inf)");
  const text = await runVerb(fake, ["route", "user:42"]);
  expect(text).toMatchObject({ exit: 2, out: "" });
  expect(text.err).toContain("KEY: a token is a decimal whole number");
  const large = await runVerb(fake, ["route", "9223372036854775808"]);
  expect(large.exit).toBe(2);
});

test("local reads say how stale they may be; the two ways to weaken a read exclude each other", async () => {
  const local = await runVerb(demo(), ["route", "b", "--consistency", "local"]);
  expect(local.out).toContain(
    "staleness  2 revisions behind what this server knows, confirmed 40ms",
  );
  const both = await runVerb(demo(), ["route", "b", "--consistency", "local", "--at-least", "5"]);
  expect(both).toMatchObject({ exit: 2, out: "" });
  const fraction = await runVerb(demo(), ["route", "b", "--at-least", "1.5"]);
  expect(fraction.exit).toBe(2);
  expect(fraction.err).toContain("--at-least");
});

test("a keyspace may be left out only while there is one, and a misspelt one is guessed", async () => {
  const fake = demo();
  fake.addKeyspace("ring", [], "hash");
  const unnamed = await runVerb(fake, ["route", "b"]);
  expect(unnamed.exit).toBe(2);
  expect(unnamed.err).toContain("demo, ring");
  const misspelt = await runVerb(fake, ["route", "b", "--keyspace", "dmeo"]);
  expect(misspelt.exit).toBe(3);
  expect(misspelt.err).toBe('cadastre: there is no keyspace "dmeo". Did you mean demo?\n');
  const none = await runVerb(new FakeDirectory(), ["route", "b"]);
  expect(none.exit).toBe(3);
  expect(none.err).toContain("cadastre keyspace create NAME");
});

test("a key that cannot be read is refused before anything is sent", async () => {
  const fake = demo();
  const run = await runVerb(fake, ["route", "hex:abc"]);
  expect(run.exit).toBe(2);
  expect(run.err).toContain("hex digits");
  expect(fake.calls).toEqual([]);
});
