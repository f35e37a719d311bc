import { expect, test } from "vitest";
import { addCoverage, newCoverage } from "./raft-trace.ts";
import { runRaftSeed } from "./raft-simulation.ts";

/** SIM_SEED runs one seed, SIM_SEEDS=N or FROM-TO several, neither the usual 200. */
function seedsToRun(): readonly number[] {
  const one = process.env["SIM_SEED"];
  if (one !== undefined) return [Number(one)];
  const [first, last] = (process.env["SIM_SEEDS"] ?? "200").split("-").map(Number);
  const from = last === undefined ? 1 : (first ?? 1);
  const to = last ?? first ?? 200;
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

test("groups under faults keep every invariant, and heal", { timeout: 86_400_000 }, () => {
  const total = newCoverage();
  const seeds = seedsToRun();
  for (const seed of seeds) {
    const run = runRaftSeed(seed);
    expect(run.events, `seed ${seed} is a full run`).toBeGreaterThan(3_000);
    addCoverage(total, run.coverage);
  }
  if (seeds.length < 200) return;
  for (const [what, count] of Object.entries(total)) expect(count, what).toBeGreaterThan(0);
});

test("the same seed gives the same run", () => {
  for (const seed of [7, 8, 9]) expect(runRaftSeed(seed)).toEqual(runRaftSeed(seed));
});

test("different seeds give different runs", () => {
  expect(runRaftSeed(1).traceHash).not.toBe(runRaftSeed(2).traceHash);
});
