// The command line of the benchmark, which scripts rely upon.
import { expect, test } from "vitest";
import { parseOptions, SCENARIOS, UsageError } from "./options.ts";

test("without names all scenarios run, without a peer", () => {
  const options = parseOptions([]);
  expect(options.scenarios).toBe(SCENARIOS);
  expect(options).toMatchObject({ withPeer: false, isComplete: true, jsonFile: undefined });
});

test("named scenarios run in the order given, beside the peer", () => {
  const options = parseOptions(["failover", "grants-256", "--vs", "etcd", "--json", "out.json"]);
  expect(options.scenarios.map(({ name }) => name)).toEqual(["failover", "grants-256"]);
  expect(options).toMatchObject({ withPeer: true, isComplete: false, jsonFile: "out.json" });
});

test("sizes can be given one by one", () => {
  const { sizes } = parseOptions(["--rounds", "7", "--seconds", "2", "--kills", "3"]);
  expect(sizes).toMatchObject({ rounds: 7, measureMs: 2_000, kills: 3 });
});

test.each([
  [["no-such-scenario"], "there is no scenario no-such-scenario"],
  [["--vs", "zookeeper"], "--vs zookeeper: there is only etcd"],
  [["--rounds", "0"], "--rounds 0: must be a whole number from 1"],
  [["--rounds", "many"], "--rounds many: must be a whole number from 1"],
  [["--no-such-flag"], "Unknown option '--no-such-flag'"],
])("%j is refused by name", (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});

test("names of rows are unique, as scripts tell rows apart by them", () => {
  const names = SCENARIOS.flatMap(({ rows }) => rows.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});
