// `cadastre range list` and `cadastre range get`.
import { expect, test } from "vitest";
import { hexToBytes } from "../../../src/base/bytes.ts";
import { tokenToKey } from "../../../src/keys/token.ts";
import { FakeDirectory } from "./fake-directory.ts";
import { runVerb } from "./run-verb.ts";

function demo(): FakeDirectory {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["g", hexToBytes("7400ff") ?? new Uint8Array()]);
  fake.addNode("n1");
  fake.setOwner("1.102.1", "n1");
  fake.setIntended("1.102.2", "n9");
  return fake;
}

test("the list is in key order, with binary keys readable", async () => {
  const run = await runVerb(demo(), ["range", "list", "demo"]);
  expect(run).toMatchObject({ exit: 0, err: "" });
  expect(run.out).toBe(
    [
      "RANGE    SPAN               EPOCH  ACCEPTED  OWNER",
      "1.102.0  [-inf, g)              0         -  UNOWNED",
      String.raw`1.102.1  [g, t\x00\xff)       103         -  n1`,
      String.raw`1.102.2  [t\x00\xff, +inf)      0         -  UNOWNED, intended for n9`,
      "",
    ].join("\n"),
  );
});

test("a page says how to get the rest, and the span that it names gives the rest", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["b", "c", "d", "e"]);
  const first = await runVerb(fake, ["range", "list", "demo", "--limit", "2", "--span", "a..d"]);
  expect(first.out.trim().split("\n")).toHaveLength(3);
  expect(first.err).toContain("2 ranges, and there are more: add --all");
  const [, rest] = /--span '(.*)'/.exec(first.err) ?? [];
  expect(rest).toBe("c..d");
  const second = await runVerb(fake, ["range", "list", "demo", "--span", rest ?? ""]);
  expect(second.out).toContain("[c, d)");
  expect(second.out).not.toContain("[b, c)");
  const whole = await runVerb(fake, ["range", "list", "demo", "--span", "a..d"]);
  expect(whole.err).toBe("");
});

test("--all prints every page as one table, and as one JSON document", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["b", "c", "d", "e"]);
  const all = ["range", "list", "demo", "--all", "--limit", "2"];
  const text = await runVerb(fake, all);
  expect(text.err).toBe("");
  expect(text.out.match(/RANGE/g)).toHaveLength(1);
  expect(text.out.trim().split("\n")).toHaveLength(6);
  const { ranges, nextPageToken } = (await runVerb(fake, [...all, "-o", "json"])).json() as {
    ranges: { start: { utf8: string } | null }[];
    nextPageToken: string | null;
  };
  expect(ranges.map(({ start }) => start?.utf8)).toEqual([undefined, "b", "c", "d", "e"]);
  expect(nextPageToken).toBeNull();
});

test("a script pages by the token of the answer before", async () => {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["b", "c"]);
  const list = ["range", "list", "demo", "--limit", "2", "-o", "json"];
  const { nextPageToken } = (await runVerb(fake, list)).json() as { nextPageToken: string };
  const rest = await runVerb(fake, [...list, "--page-token", nextPageToken]);
  expect(rest.json()).toMatchObject({ ranges: [{ start: { utf8: "c" } }], nextPageToken: null });
});

test("filters: by owner, unowned, and by a span of tokens", async () => {
  const owned = await runVerb(demo(), ["range", "list", "demo", "--node", "n1"]);
  expect(owned.out.trim().split("\n")).toHaveLength(2);
  const unowned = await runVerb(demo(), ["range", "list", "demo", "--unowned"]);
  expect(unowned.out.trim().split("\n")).toHaveLength(3);
  const nobody = await runVerb(demo(), ["range", "list", "demo", "--node", "n5"]);
  expect(nobody).toMatchObject({ exit: 0, out: "", err: "No range matches.\n" });
  const fake = new FakeDirectory();
  fake.addKeyspace("ring", [tokenToKey(-5n), tokenToKey(10n)], "hash");
  const tokens = await runVerb(fake, ["range", "list", "ring", "--span", "9..10"]);
  expect(tokens.out).toContain("[-5, 10)");
  expect(tokens.out.trim().split("\n")).toHaveLength(2);
});

test.each(["m..g", "g..g", "g", "a..b..c", "..-inf"])(
  "the span %s is refused before anything is sent (B38)",
  async (span) => {
    const fake = demo();
    const run = await runVerb(fake, ["range", "list", "demo", "--span", span]);
    expect(run).toMatchObject({ exit: 2, out: "" });
    expect(run.err).toContain("--span");
    expect(fake.calls).toEqual([]);
  },
);

test("one range: epoch, lease, successor and for whom it is meant", async () => {
  const fake = demo();
  const unowned = await runVerb(fake, ["range", "get", "1.102.2"]);
  expect(unowned.out).toContain("owner                UNOWNED, intended for n9\n");
  expect(unowned.out).toContain("epoch                0 (never granted)\n");
  expect(unowned.out).not.toContain("lease left");
  const owned = await runVerb(fake, ["range", "get", "1.102.1"]);
  expect(owned.out).toContain("owner                n1 (incarnation 11)\n");
  expect(owned.out).toContain("lease left           8.2s\n");
  const json = await runVerb(fake, ["range", "get", "1.102.1", "-o", "json"]);
  expect(json.json()).toMatchObject({
    range: { epoch: "103", owner: { nodeId: "n1", incarnation: "11" }, successor: null },
    leaseRemainingMs: "8200",
  });
  const missing = await runVerb(fake, ["range", "get", "1.1.1"]);
  expect(missing.exit).toBe(3);
});
