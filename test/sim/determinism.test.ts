// A seed is all that a run depends on.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runSeed, type SeedRun } from "./run-seed.ts";
import { runOnWorkers } from "./workers.ts";

const SEEDS = [3, 11];
const program = fileURLToPath(new URL("main.ts", import.meta.url));
const nodeArgs = ["--import", new URL("../typescript.mjs", import.meta.url).href];

async function runInOtherProcess(seeds: readonly number[]): Promise<readonly SeedRun[]> {
  const waiting = [...seeds];
  const runs: SeedRun[] = [];
  await runOnWorkers({
    workers: 1,
    program,
    nodeArgs,
    mode: undefined,
    nextSeed: () => waiting.shift(),
    onResult: (result) => {
      if (result.kind === "failed") throw new Error(result.log);
      runs.push(result.run);
    },
  });
  return runs;
}

test("the same seed gives the same run: again, in another order, and in another process", async () => {
  const first: SeedRun[] = [];
  for (const seed of SEEDS) first.push(await runSeed(seed));
  const again: SeedRun[] = [];
  for (const seed of SEEDS.toReversed()) again.unshift(await runSeed(seed));
  expect(again).toEqual(first);
  const elsewhere = await runInOtherProcess([...SEEDS.slice(1), ...SEEDS.slice(0, 1)]);
  expect([...elsewhere.slice(-1), ...elsewhere.slice(0, -1)]).toEqual(first);
  expect(new Set(first.map(({ traceHash }) => traceHash)).size).toBe(SEEDS.length);
}, 120_000);
