// `cadastre grant`: spreading, successors, partial results, races.
import { expect, test } from "vitest";
import { failed } from "../../../src/base/result.ts";
import type { GrantRequest } from "../../../src/wire/api.ts";
import { FakeDirectory, refusal } from "./fake-directory.ts";
import { runVerb } from "./run-verb.ts";

function demo(ranges = 5): FakeDirectory {
  const fake = new FakeDirectory();
  const keys = Array.from({ length: ranges - 1 }, (_, at) => `k${String(at).padStart(6, "0")}`);
  fake.addKeyspace("demo", keys);
  for (const nodeId of ["n1", "n2"]) fake.addNode(nodeId);
  return fake;
}

function owners(fake: FakeDirectory): (string | undefined)[] {
  return (fake.ranges.get("demo") ?? []).map(({ descriptor }) => descriptor.owner?.nodeId);
}

const GRANT_ALL = ["grant", "--keyspace", "demo", "--all", "--to", "n1,n2"];

test("all ranges are spread in contiguous blocks, and the summary counts them", async () => {
  const fake = demo();
  const run = await runVerb(fake, GRANT_ALL);
  expect(run).toMatchObject({ exit: 0, err: "" });
  expect(run.out).toBe(
    [
      "NODE  GRANTED  SUCCESSOR  ALREADY OWNER  LEFT ALONE",
      "n1          3          0              0           0",
      "n2          2          0              0           0",
      "",
    ].join("\n"),
  );
  expect(owners(fake)).toEqual(["n1", "n1", "n1", "n2", "n2"]);
});

test("an owned range gets a successor, and the longest wait is said", async () => {
  const fake = demo(3);
  fake.setOwner("1.102.0", "n2");
  fake.setOwner("1.102.1", "n1");
  const run = await runVerb(fake, ["grant", "--keyspace", "demo", "--all", "--to", "n1"]);
  expect(run.exit).toBe(0);
  expect(run.out).toContain("n1          1          1              1           0");
  expect(run.out).toContain("1 range is owned: the successor is recorded");
  expect(run.out).toContain("in at most 8.2s");
  const json = await runVerb(fake, ["grant", "--range", "1.102.0", "--to", "n1", "-o", "json"]);
  expect(json.json()).toMatchObject({
    outcomes: [{ rangeId: "1.102.0", outcome: "successorRecorded", waitMs: "8200" }],
    skipped: [],
    failed: [],
    notSent: [],
  });
});

test("--hand-over asks the owners of owned ranges to stop, and says how long that may take", async () => {
  const fake = demo(2);
  fake.setOwner("1.102.0", "n2");
  const argv = ["grant", "--keyspace", "demo", "--all", "--to", "n1", "--hand-over"];
  const run = await runVerb(fake, argv);
  expect(run.exit).toBe(0);
  expect(fake.grantRequests).toMatchObject([{ handOver: true }]);
  expect(run.out).toContain("1 range is owned: the owner is asked to hand over");
  expect(run.out).toContain("with its lease, in at most 8.2s");
  expect(run.out).not.toContain("when the present lease ends");
  const show = await runVerb(fake, ["range", "get", "1.102.0"]);
  expect(show.out).toMatch(
    /successor +n1 \(incarnation \d+\), for whom the owner was asked to stop/,
  );
  const json = await runVerb(fake, ["range", "get", "1.102.0", "-o", "json"]);
  expect(json.json()).toMatchObject({ range: { handOverRevision: "300" } });
  expect((await runVerb(fake, [...argv, "--only-unowned"])).exit).toBe(2);
});

test("--only-unowned leaves owned ranges alone", async () => {
  const fake = demo(4);
  fake.setOwner("1.102.1", "n2");
  const argv = ["grant", "--keyspace", "demo", "--all", "--only-unowned", "--to", "n1"];
  expect((await runVerb(fake, argv)).exit).toBe(0);
  expect(owners(fake)).toEqual(["n1", "n2", "n1", "n1"]);
  expect(fake.grantRequests.every((request) => request.onlyUnowned)).toBe(true);
});

test("requests have at most 1,000 items, and a failure says which part is done", async () => {
  const fake = demo(2_500);
  const grant = fake.services.ownership.grant;
  let requests = 0;
  fake.services.ownership.grant = (request, context) => {
    requests++;
    if (requests === 2) return Promise.resolve(failed(refusal("DENIED", "no more today")));
    return grant(request, context);
  };
  const run = await runVerb(fake, [...GRANT_ALL, "-o", "json"]);
  expect(run.exit).toBe(6);
  const { outcomes, failed: refused, notSent } = run.json() as Record<string, unknown[]>;
  expect([outcomes?.length, refused?.length, notSent?.length]).toEqual([1_000, 1_000, 500]);
  const { error } = JSON.parse(run.err) as { error: { message: string; reason: string } };
  expect(error.reason).toBe("DENIED");
  expect(error.message).toBe(
    "1,000 ranges done, 1,000 ranges (ranges 1.102.1000 to 1.102.1999) refused, " +
      "500 (ranges 1.102.2000 to 1.102.2499) not sent; no more today",
  );
  expect(fake.grantRequests.map(({ items }) => items.length)).toEqual([1_000]);
});

test("an unknown outcome is not called refused", async () => {
  const fake = demo(1);
  fake.services.ownership.grant = () =>
    Promise.resolve(failed(refusal("UNCERTAIN", "connection lost")));
  const run = await runVerb(fake, [...GRANT_ALL, "--timeout", "300ms"]);
  expect(run.exit).toBe(5);
  expect(run.err).toContain("1 range (range 1.102.0) may have been granted");
  expect(run.err).toContain("--only-unowned");
});

test("ranges that changed meanwhile are read again: unowned ones are granted, others left alone", async () => {
  const fake = demo(4);
  const grant = fake.services.ownership.grant;
  let race: (() => void) | undefined = () => {
    fake.setOwner("1.102.0", "n2");
    fake.setOwner("1.102.1", "n2");
    fake.setOwner("1.102.1", undefined);
  };
  fake.services.ownership.grant = (request, context) => {
    race?.();
    race = undefined;
    return grant(request, context);
  };
  const run = await runVerb(fake, ["grant", "--keyspace", "demo", "--all", "--to", "n1"]);
  expect(run.exit).toBe(4);
  expect(run.out).toContain("n1          3          0              0           1");
  expect(run.out).toContain(
    "Left alone: range 1.102.0 changed meanwhile: owned by n2 at epoch 103.",
  );
  expect(owners(fake)).toEqual(["n2", "n1", "n1", "n1"]);
});

test("a race without end is given up after a few rounds", async () => {
  const fake = demo(1);
  const requests: GrantRequest[] = [];
  fake.services.ownership.grant = (request) => {
    requests.push(request);
    fake.setOwner("1.102.0", undefined);
    return Promise.resolve(failed(refusal("STALE_EPOCH", "changed again")));
  };
  const run = await runVerb(fake, [...GRANT_ALL]);
  expect(run.exit).toBe(4);
  expect(run.err).toContain("0 ranges done, 1 range (range 1.102.0) refused; changed again");
  expect(requests).toHaveLength(5);
  const [first, second] = requests.map(({ items }) => items[0]?.expectedDescriptorRevision);
  expect(second).toBeGreaterThan(first ?? 0);
});

test("Ctrl-C stops between two requests and says what is left", async () => {
  const fake = demo(2_500);
  const interrupt = new AbortController();
  const grant = fake.services.ownership.grant;
  fake.services.ownership.grant = (request, context) => {
    interrupt.abort();
    return grant(request, context);
  };
  const run = await runVerb(fake, GRANT_ALL, { interrupt });
  expect(run.exit).toBe(1);
  expect(run.err).toContain("interrupted: 1,000 ranges done, 1,500 (ranges 1.102.1000 to");
});

test("nodes are checked first: unknown ones are guessed, those without a session named", async () => {
  const fake = demo();
  fake.addNode("stopped", { sessionOpen: false });
  const unknown = await runVerb(fake, ["grant", "--all", "--to", "n1,sotpped"]);
  expect(unknown.exit).toBe(3);
  expect(unknown.err).toContain('no storage node "sotpped". Did you mean stopped?');
  const stopped = await runVerb(fake, ["grant", "--all", "--to", "stopped"]);
  expect(stopped.exit).toBe(4);
  expect(stopped.err).toContain("stopped has no open session");
  expect(fake.grantRequests).toEqual([]);
});

test.each([
  [["--to", "n1"], "--range, --span or --all"],
  [["--all"], "--to"],
  [["--all", "--to", "n1,n1"], "twice"],
  [["--all", "--to", "n/1"], "--to"],
  [["--all", "--range", "1.2.3", "--to", "n1"], "--all"],
  [["--span", "m..g", "--to", "n1"], "--span"],
  [["--withdraw"], "--range"],
  [["--withdraw", "--range", "1.2.3", "--to", "n1"], "--to"],
])("%j is refused before anything is sent", async (options, named) => {
  const fake = demo();
  const run = await runVerb(fake, ["grant", ...options]);
  expect(run).toMatchObject({ exit: 2, out: "" });
  expect(run.err).toContain(named);
  expect(fake.calls).toEqual([]);
});

test("a successor is withdrawn; without one it is a conflict", async () => {
  const fake = demo(1);
  fake.setOwner("1.102.0", "n1");
  await runVerb(fake, ["grant", "--range", "1.102.0", "--to", "n2"]);
  const run = await runVerb(fake, ["grant", "--withdraw", "--range", "1.102.0"]);
  expect(run.out).toBe("Range 1.102.0 stays with n1; n2 is withdrawn.\n");
  const again = await runVerb(fake, ["grant", "--withdraw", "--range", "1.102.0"]);
  expect(again.exit).toBe(4);
  expect(again.err).toContain("has no successor");
});
