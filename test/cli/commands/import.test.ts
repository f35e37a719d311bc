// `cadastre import`: the dry run, staging and commit, and what a failure leaves behind.
import { expect, test } from "vitest";
import { failed } from "../../../src/base/result.ts";
import { FakeDirectory, refusal } from "./fake-directory.ts";
import { runVerb, type VerbRun } from "./run-verb.ts";

const GOOD = [
  '{"end":"g","owner":"old1"}',
  '{"start":"g","end":"m","owner":"old2"}',
  '{"start":"m","owner":null}',
].join("\n");
const GAP = ['{"end":"g","owner":"old1"}', '{"start":"m","owner":"old2"}'].join("\n");

function importFile(
  fake: FakeDirectory,
  text: string | Uint8Array,
  options: readonly string[] = [],
  interrupt?: AbortController,
): Promise<VerbRun> {
  const argv = ["import", "map", "--keyspace", "demo", "--format", "jsonl", ...options];
  const files = { map: text };
  return runVerb(fake, argv, interrupt === undefined ? { files } : { files, interrupt });
}

test("without --apply the map is checked and nobody is asked", async () => {
  const fake = new FakeDirectory();
  const run = await importFile(fake, GOOD);
  expect(run.exit).toBe(0);
  expect(run.out).toContain("3 ranges");
  expect(run.out.trim().endsWith("can be imported")).toBe(true);
  const gap = await importFile(fake, GAP);
  expect(gap.exit).toBe(1);
  expect(gap.out).toContain("error gap");
  expect(gap.out.trim().endsWith("cannot be imported")).toBe(true);
  expect(fake.calls).toEqual([]);
});

test("the findings are JSON for scripts", async () => {
  const run = await importFile(new FakeDirectory(), GAP, ["-o", "json"]);
  expect(run.exit).toBe(1);
  expect(run.json()).toMatchObject({
    importable: false,
    rangeCount: "2",
    owners: [{ name: "old1", rangeCount: "1" }, { name: "old2" }],
    findings: [{ kind: "gap", severity: "error" }, {}],
    findingCounts: { gap: "1" },
  });
});

test("--apply makes the keyspace, stages, commits, and renames owners", async () => {
  const fake = new FakeDirectory();
  const run = await importFile(fake, GOOD, ["--apply", "--as", "old1=n1", "--as", "old2=n2"]);
  expect(run.exit).toBe(0);
  expect(run.out).toContain("Imported 3 ranges into demo at revision");
  expect(run.err).toContain("created keyspace demo, kind range");
  expect(run.err).toContain("staged 3 of 3 ranges");
  const ranges = fake.ranges.get("demo") ?? [];
  expect(ranges.map(({ intendedNodeId }) => intendedNodeId)).toEqual(["n1", "n2", undefined]);
});

test("parts are staged in order, from 0, and the commit names the number of rows", async () => {
  const fake = new FakeDirectory();
  const keys = Array.from({ length: 25_000 }, (_, at) => `k${String(at).padStart(6, "0")}`);
  const lines = keys.map((key, at) => {
    const start = at === 0 ? "" : `"start":"${key}",`;
    const end = keys[at + 1];
    return `{${start}${end === undefined ? "" : `"end":"${end}",`}"owner":"n1"}`;
  });
  const run = await importFile(fake, lines.join("\n"), ["--apply"]);
  expect(run.exit).toBe(0);
  expect(fake.stageRequests.map(({ part }) => part)).toEqual(fake.stageRequests.map((_, at) => at));
  expect(fake.stageRequests.length).toBeGreaterThan(2);
  expect(fake.ranges.get("demo")).toHaveLength(25_000);
});

test("a map that cannot be imported, or whose owners are no node ids, is refused unsent", async () => {
  const fake = new FakeDirectory();
  const gap = await importFile(fake, GAP, ["--apply"]);
  expect(gap.exit).toBe(1);
  expect(gap.err).toContain("cannot be imported");
  const addresses = GOOD.replace("old1", "10.0.0.1:9042");
  const unnamed = await importFile(fake, addresses, ["--apply"]);
  expect(unnamed.exit).toBe(2);
  expect(unnamed.err).toContain("--as '10.0.0.1:9042=NODE'");
  const nobody = await importFile(fake, GOOD, ["--apply", "--as", "old7=n1"]);
  expect(nobody.exit).toBe(2);
  expect(nobody.err).toContain("--as: no owner is called old7");
  expect(fake.calls).toEqual([]);
});

test("a failure while staging drops what was staged and says that nothing changed", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo");
  fake.services.keyspaces.stageImport = () =>
    Promise.resolve(failed(refusal("DENIED", "not allowed")));
  const run = await importFile(fake, GOOD, ["--apply"]);
  expect(run).toMatchObject({ exit: 6, out: "" });
  expect(run.err).toContain(
    "not allowed; nothing changed in keyspace demo, what was staged is dropped",
  );
  expect(fake.calls).toContain("abortImport");
});

test("when even the abort fails, the staging is said to expire by itself", async () => {
  const fake = new FakeDirectory();
  fake.services.keyspaces.commitImport = () =>
    Promise.resolve(failed(refusal("ALREADY_GRANTED", "a range was granted")));
  fake.services.keyspaces.abortImport = () => Promise.resolve(failed(refusal("DENIED", "no")));
  const run = await importFile(fake, GOOD, ["--apply"]);
  expect(run.exit).toBe(4);
  expect(run.err).toContain("keyspace demo was made and is one unowned range");
  expect(run.err).toContain("expires by itself in 10 min");
});

test("a commit without an answer is not called failed, and nothing is dropped", async () => {
  const fake = new FakeDirectory();
  fake.services.keyspaces.commitImport = () =>
    Promise.resolve(failed(refusal("UNCERTAIN", "connection lost")));
  const run = await importFile(fake, GOOD, ["--apply", "--timeout", "200ms"]);
  expect(run.exit).toBe(5);
  expect(run.err).toContain("either wholly in or not at all");
  expect(fake.calls).not.toContain("abortImport");
});

test("Ctrl-C before the commit leaves the keyspace as it was", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo");
  const interrupt = new AbortController();
  const { stageImport } = fake.services.keyspaces;
  fake.services.keyspaces.stageImport = (request, context) => {
    interrupt.abort();
    return stageImport(request, context);
  };
  fake.services.keyspaces.commitImport = () => Promise.reject(new Error("must not be sent"));
  const run = await importFile(fake, GOOD, ["--apply"], interrupt);
  expect(run.exit).toBe(1);
  expect(run.err).toContain("interrupted; nothing changed in keyspace demo");
  expect(fake.ranges.get("demo")).toHaveLength(1);
});

test("an existing keyspace of the other kind is a conflict", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", [], "hash");
  const run = await importFile(fake, GOOD, ["--apply"]);
  expect(run.exit).toBe(4);
  expect(run.err).toContain("keyspace demo is of kind hash, the map of kind range");
});

test("unreadable files, unknown formats and text that is none are usage errors", async () => {
  const fake = new FakeDirectory();
  const argv = ["import", "missing", "--keyspace", "demo", "--format", "jsonl"];
  const missing = await runVerb(fake, argv);
  expect(missing.exit).toBe(2);
  expect(missing.err).toContain("cannot read missing");
  const format = await runVerb(fake, ["import", "m", "--keyspace", "demo", "--format", "csv"]);
  expect(format.exit).toBe(2);
  expect(format.err).toContain("--format");
  const binary = await importFile(fake, Uint8Array.of(0xff, 0xfe, 0x00));
  expect(binary.exit).toBe(2);
  expect(binary.err).toContain("not UTF-8 text");
});
