import { expect, test } from "vitest";
import { addCoverage, newCoverage } from "./raft-trace.ts";
import { runRaftSeed } from "./raft-simulation.ts";
import { seedsToRun } from "./seeds.ts";

const SEEDS_USUAL = 200;

test("groups under faults keep every invariant, and heal", { timeout: 86_400_000 }, () => {
  const total = newCoverage();
  const seeds = seedsToRun(SEEDS_USUAL);
  for (const seed of seeds) {
    const run = runRaftSeed(seed);
    expect(run.events, `seed ${seed} is a full run`).toBeGreaterThan(3_000);
    addCoverage(total, run.coverage);
  }
  if (seeds.length < SEEDS_USUAL) return;
  for (const [what, count] of Object.entries(total)) expect(count, what).toBeGreaterThan(0);
});

test("the same seed gives the same run", () => {
  for (const seed of [7, 8, 9]) expect(runRaftSeed(seed)).toEqual(runRaftSeed(seed));
});

test("different seeds give different runs", () => {
  expect(runRaftSeed(1).traceHash).not.toBe(runRaftSeed(2).traceHash);
});
