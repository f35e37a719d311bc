// Owners end to end: seats and clients over whole servers, under faults, on virtual time.
import { expect, test } from "vitest";
import { runOwnersSeed } from "./owners-simulation.ts";
import { addOwnersCoverage, newOwnersCoverage } from "./owners-trace.ts";
import { seedsToRun } from "./seeds.ts";

const SEEDS_USUAL = 20;
/** So many seeds meet everything that the simulation can do. */
const SEEDS_COVERING = 200;

test(
  "two guards never admit one key, and everything heals (laws 3-13)",
  { timeout: 86_400_000 },
  async () => {
    const total = newOwnersCoverage();
    const seeds = seedsToRun(SEEDS_USUAL);
    let events = 0;
    let slowestMs = 0;
    for (const seed of seeds) {
      const run = await runOwnersSeed(seed);
      expect(run.virtualMs, `seed ${seed} is a full run`).toBeGreaterThan(30_000);
      addOwnersCoverage(total, run.coverage);
      events += run.events;
      slowestMs = Math.max(slowestMs, run.servedAfterMs);
    }
    const words = JSON.stringify({ seeds: seeds.length, events, slowestMs, ...total });
    process.stdout.write(`owners: ${words}\n`);
    if (seeds.length < SEEDS_COVERING) return;
    for (const [what, count] of Object.entries(total)) expect(count, what).toBeGreaterThan(0);
  },
);

test("the same seed gives the same run of owners, another seed another", async () => {
  const first = await runOwnersSeed(3);
  expect(await runOwnersSeed(3)).toEqual(first);
  expect((await runOwnersSeed(4)).traceHash).not.toBe(first.traceHash);
});
