// `cadastre release`: only with the owner's name, only with consent while its session is open.
import { expect, test } from "vitest";
import type { Incarnation } from "../../../src/base/brands.ts";
import { FakeDirectory } from "./fake-directory.ts";
import { runVerb } from "./run-verb.ts";

function demo(options: { readonly sessionOpen: boolean }): FakeDirectory {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["g", "m"]);
  fake.addKeyspace("ring", [], "hash");
  fake.addNode("n1", options);
  for (const rangeId of ["1.102.0", "1.102.1", "1.104.0"]) fake.setOwner(rangeId, "n1");
  return fake;
}

test("a stopped owner's range is released, an unowned one is a conflict", async () => {
  const fake = demo({ sessionOpen: false });
  const run = await runVerb(fake, ["release", "--range", "1.102.0"]);
  expect(run).toMatchObject({ exit: 0, out: "Released 1 range.\n", err: "" });
  expect(fake.range("1.102.0")?.descriptor.owner).toBeUndefined();
  const again = await runVerb(fake, ["release", "--range", "1.102.0"]);
  expect(again.exit).toBe(4);
  expect(again.err).toContain("is unowned already");
});

test("while the owner's session is open, --yes is needed, and a warning stays", async () => {
  const fake = demo({ sessionOpen: true });
  const refused = await runVerb(fake, ["release", "--range", "1.102.0"]);
  expect(refused.exit).toBe(4);
  expect(refused.err).toBe(
    "cadastre: n1 (incarnation 11) may still be serving: its lease has not run out. " +
      "Stop it, or wait for the lease to end; with --yes you state that it has stopped.\n",
  );
  expect(fake.calls).not.toContain("release");
  const run = await runVerb(fake, ["release", "--range", "1.102.0", "--yes"]);
  expect(run.exit).toBe(0);
  expect(run.err).toContain("Warning: n1 (incarnation 11) may still be serving");
});

test("an earlier process of a node may still serve, whatever its later one does", async () => {
  const fake = demo({ sessionOpen: false });
  const node = fake.nodes.get("n1");
  if (node !== undefined) fake.nodes.set("n1", { ...node, incarnation: 99 as Incarnation });
  const refused = await runVerb(fake, ["release", "--range", "1.102.0"]);
  expect(refused.exit).toBe(4);
});

test("everything of a node is released, in all keyspaces", async () => {
  const fake = demo({ sessionOpen: false });
  const run = await runVerb(fake, ["release", "--node", "n1", "--all"]);
  expect(run.out).toBe("Released 3 ranges.\n");
  const nothing = await runVerb(fake, ["release", "--node", "n1", "--all"]);
  expect(nothing).toMatchObject({ exit: 0, out: "Released 0 ranges.\n" });
});

test("what the directory refuses is named, with exit 4", async () => {
  const fake = demo({ sessionOpen: false });
  const { release } = fake.services.ownership;
  fake.services.ownership.release = (request, context) => {
    fake.setOwner("1.102.1", "n1");
    return release(request, context);
  };
  const run = await runVerb(fake, ["release", "--range", "1.102.0,1.102.1", "-o", "json"]);
  expect(run.exit).toBe(4);
  expect(run.json()).toEqual({
    outcomes: [
      { rangeId: "1.102.0", refused: null, currentEpoch: "105" },
      { rangeId: "1.102.1", refused: "STALE_EPOCH", currentEpoch: "108" },
    ],
  });
});

test.each([
  [[], "--range"],
  [["--node", "n1"], "--all"],
  [["--range", "1.2.3", "--node", "n1"], "--node"],
])("%j is refused before anything is sent", async (options, named) => {
  const fake = demo({ sessionOpen: false });
  const run = await runVerb(fake, ["release", ...options]);
  expect(run).toMatchObject({ exit: 2, out: "" });
  expect(run.err).toContain(named);
  expect(fake.calls).toEqual([]);
});
