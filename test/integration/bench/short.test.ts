// The short form of the benchmark: every scenario for a moment on real servers, without a peer. The
// numbers mean nothing and are not looked at; that none of the calls failed is what is tested.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { SCENARIOS } from "../../bench/options.ts";
import { cleanUp, freshFolder, scriptPath, start } from "../cli/processes.ts";

const BOOTSTRAP = scriptPath("../../../src/cli/bootstrap.mjs");

const Rows = z.array(
  z.strictObject({
    name: z.string(),
    value: z.number().nullable(),
    unit: z.string().min(1),
    budget: z.string().nullable(),
    ok: z.boolean().nullable(),
    peer: z.null(),
    ratio: z.null(),
    note: z.string(),
  }),
);

afterAll(cleanUp);

function run(folder: string, ...args: string[]) {
  return start(BOOTSTRAP, ["bench", ...args], { env: { TMPDIR: folder } });
}

test("every scenario is measured without a failed call, and nothing is left behind", async () => {
  const [temporary, results] = [freshFolder(), freshFolder()];
  const jsonFile = path.join(results, "rows.json");
  const bench = run(temporary, "--short", "--json", jsonFile);
  expect(await bench.ended, bench.output()).toEqual({ code: 0, signal: null });
  const rows = Rows.parse(JSON.parse(readFileSync(jsonFile, "utf8")));
  const expected = SCENARIOS.flatMap((scenario) => scenario.rows.map(({ name }) => name));
  expect(rows.map(({ name }) => name)).toEqual(expected);
  for (const { name, value, note } of rows) {
    if (note.startsWith("SKIPPED: h2load is not installed")) expect(value).toBeNull();
    else expect(value, name).not.toBeNull();
    expect(bench.output()).toContain(`| ${name} |`);
  }
  expect(readdirSync(temporary)).toEqual([]);
});

test("a signal in the middle of it ends the servers and leaves nothing behind", async () => {
  const temporary = freshFolder();
  const bench = run(temporary, "grants-256", "--seconds", "100");
  await bench.says("grants-256: starting");
  bench.child.kill("SIGINT");
  expect((await bench.ended).code).toBe(130);
  expect(readdirSync(temporary)).toEqual([]);
});

test("a command line that is not understood starts nothing", async () => {
  const temporary = freshFolder();
  const bench = run(temporary, "no-such-scenario");
  expect((await bench.ended).code).toBe(2);
  expect(bench.stderr()).toContain("there is no scenario no-such-scenario");
  expect(readdirSync(temporary)).toEqual([]);
});
