// `cadastre watch`: one line a change, tokens, snapshots.
import { expect, test } from "vitest";
import type { Epoch, Incarnation, Revision } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { failed } from "../../../src/base/result.ts";
import type * as api from "../../../src/wire/api.ts";
import { FakeDirectory, refusal } from "./fake-directory.ts";
import { runVerb, type VerbRun } from "./run-verb.ts";

function demo(): FakeDirectory {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["g", "m"]);
  fake.addKeyspace("ring", [], "hash");
  fake.addNode("n3");
  fake.setOwner("1.102.0", "n3");
  return fake;
}

function owned(
  record: api.RangeRecord,
  nodeId: string | undefined,
  epoch: number,
): api.RangeRecord {
  const owner = nodeId === undefined ? undefined : { nodeId, incarnation: 11 as Incarnation };
  return { ...record, descriptor: { ...record.descriptor, owner, epoch: epoch as Epoch } };
}

function framesOf(fake: FakeDirectory): api.WatchFrame[] {
  const ranges = [...fake.ranges.values()].flat();
  const range = ranges[1];
  if (range === undefined) throw new Error("the demo has ranges");
  const header = { ...fake.header(), revision: 300 as Revision };
  const before = owned(range, "n3", 214);
  const after = owned(range, "n8", 231);
  const successor = { nodeId: "n9", incarnation: 12 as Incarnation };
  const revisions: api.RevisionChanges[] = [
    { revision: 231 as Revision, changes: [{ before, after, cause: "granted" }] },
    {
      revision: 240 as Revision,
      changes: [
        { before: after, after: { ...after, successor }, cause: "successorSet" },
        { before: after, after: { ...after, acceptedEpoch: 231 as Epoch }, cause: "accepted" },
      ],
    },
    {
      revision: 250 as Revision,
      changes: [{ before: after, after: owned(range, undefined, 231), cause: "expired" }],
    },
  ];
  const snapshot = { first: true, last: true, afterCompaction: false };
  return [
    {
      header: fake.header(),
      resumeToken: utf8ToBytes("t1"),
      kind: "snapshot",
      ranges,
      ...snapshot,
    },
    { header, resumeToken: utf8ToBytes("t2"), kind: "changes", revisions, continues: false },
    { header, resumeToken: utf8ToBytes("t3"), kind: "progress" },
  ];
}

/** Watches until the last expected line is there, then Ctrl-C. */
async function watch(
  fake: FakeDirectory,
  options: readonly string[],
  untilText: string,
): Promise<VerbRun> {
  const interrupt = new AbortController();
  let seen = "";
  const onOutput = (text: string): void => {
    seen += text;
    if (seen.includes(untilText)) setImmediate(() => interrupt.abort());
  };
  return runVerb(fake, ["watch", ...options], { interrupt, onOutput });
}

test("a snapshot is summed up, each change is a line, Ctrl-C ends with the token; exit 0", async () => {
  const fake = demo();
  fake.frames = framesOf(fake);
  const run = await watch(fake, [], "expired");
  expect(run.exit).toBe(0);
  expect(run.out).toBe(
    [
      "rev 105  snapshot  demo: 3 ranges, 2 unowned; ring: 1 range, 1 unowned",
      "rev 231  demo  [g, m)  epoch 214 -> 231  n3 -> n8  granted",
      "rev 240  demo  [g, m)  epoch 231  n8  successor set: n9",
      "rev 240  demo  [g, m)  epoch 231  n8  accepted epoch 231",
      "rev 250  demo  [g, m)  epoch 231  n8 -> UNOWNED  expired",
      "",
    ].join("\n"),
  );
  expect(run.err).toMatch(/^resume with --from (dDI|dDM)\n$/);
});

test("progress and the whole snapshot are printed on demand, the snapshot can be left out", async () => {
  const fake = demo();
  fake.frames = framesOf(fake);
  const full = await watch(fake, ["--full", "--progress"], "progress");
  expect(full.out).toContain("  demo  [-inf, g)  epoch 105  n3\n");
  expect(full.out).toContain("  ring  [-inf, +inf)  epoch 0  UNOWNED\n");
  expect(full.out).toContain("rev 300  progress  group 1, server 1\n");
  expect(full.err).toBe("resume with --from dDM\n");
  const bare = await watch(fake, ["--no-snapshot"], "expired");
  expect(bare.out).not.toContain("snapshot");
});

test("JSON lines carry the token on the last line of each frame, and nothing on stderr", async () => {
  const fake = demo();
  fake.frames = framesOf(fake);
  const run = await watch(fake, ["-o", "json", "--progress"], "progress");
  const lines = run.out.trim().split("\n");
  const objects = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(objects.map(({ kind }) => kind)).toEqual([
    "snapshot",
    "change",
    "change",
    "change",
    "change",
    "progress",
  ]);
  const tokens = objects.map(({ resumeToken }) => resumeToken);
  expect(tokens).toEqual(["dDE", null, null, null, "dDI", "dDM"]);
  expect(objects[1]).toMatchObject({
    revision: "231",
    cause: "granted",
    before: { epoch: "214", owner: { nodeId: "n3", incarnation: "11" } },
    after: { epoch: "231", start: { utf8: "g", hex: "67" } },
  });
  expect(objects[0]).toMatchObject({ keyspaces: [{ keyspace: "demo", rangeCount: "3" }, {}] });
  expect(objects[0]).not.toHaveProperty("ranges");
  expect(run.err).toBe("");
});

test("the filter and the token are sent as they are given", async () => {
  const fake = demo();
  const interrupt = new AbortController();
  const argv = ["watch", "--keyspace", "demo", "--span", "..m", "--node", "n3", "--from", "dDI"];
  fake.onWatch = () => interrupt.abort();
  const run = await runVerb(fake, [...argv, "--fail-if-compacted"], { interrupt });
  expect(run).toMatchObject({ exit: 0, out: "", err: "resume with --from dDI\n" });
  expect(fake.watchRequests[0]).toEqual({
    keyspace: "demo",
    span: { startKey: new Uint8Array(), endKey: utf8ToBytes("m") },
    nodeId: "n3",
    resumeToken: utf8ToBytes("t2"),
    failIfCompacted: true,
  });
});

test.each([
  [["--span", "a..b"], "--keyspace"],
  [["--from", "not a token"], "--from"],
  [["--keyspace", "demo", "--span", "b..a"], "--span"],
  [["--full", "--no-snapshot"], "--full"],
])("%j is refused before anything is sent", async (options, named) => {
  const fake = demo();
  const run = await runVerb(fake, ["watch", ...options]);
  expect(run).toMatchObject({ exit: 2, out: "" });
  expect(run.err).toContain(named);
  expect(fake.calls).toEqual([]);
});

test("a token that the directory refuses is not offered for resuming", async () => {
  const fake = demo();
  fake.services.directory.watch = async function* () {
    yield await Promise.resolve(failed(refusal("INVALID", "resume_token: it is cut short")));
  };
  const run = await runVerb(fake, ["watch", "--from", "AAAA"]);
  expect(run).toMatchObject({
    exit: 2,
    out: "",
    err: "cadastre: resume_token: it is cut short.\n",
  });
});

test("a directory that does not answer is said once, not at every try", async () => {
  const fake = demo();
  const interrupt = new AbortController();
  let tries = 0;
  fake.services.directory.watch = async function* () {
    if (++tries === 4) interrupt.abort();
    yield await Promise.resolve(failed(refusal("TRANSIENT", "s1:1 does not answer")));
  };
  const run = await runVerb(fake, ["watch"], { interrupt });
  expect(run).toMatchObject({
    exit: 0,
    err: "s1:1 does not answer; going on at another server\n",
  });
});
