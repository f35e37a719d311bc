/**
 * The deterministic simulation of the whole: `npm run sim`. Runs seeds, prints what failed with how
 * to repeat it, and what was covered. The exit code is 0 only when nothing failed.
 *
 * With --seed one seed runs in this process and prints every event, a line each.
 */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { addCoverage, type Coverage, missing, newCoverage } from "./coverage.ts";
import { parseOptions, type SimOptions, USAGE, UsageError } from "./options.ts";
import { runSeed, SeedFailure } from "./run-seed.ts";
import { runOnWorkers, type SeedResult, serveSeeds } from "./workers.ts";

/** So many seeds meet everything that the simulation can do. */
const COVERING_SEEDS = 1_000;
const LOGS_PRINTED = 3;
const PROGRESS_MS = 10_000;

class Tally {
  readonly coverage: Coverage = newCoverage();
  readonly failed: { readonly seed: number; readonly what: string }[] = [];
  passed = 0;
  events = 0;
  virtualMs = 0;

  add(result: SeedResult): void {
    if (result.kind === "failed") {
      const { seed, what } = result;
      this.failed.push({ seed, what });
      return;
    }
    const { run } = result;
    this.passed++;
    this.events += run.events;
    this.virtualMs += run.virtualMs;
    addCoverage(this.coverage, run.coverage);
  }

  get seeds(): number {
    return this.passed + this.failed.length;
  }
}

if (process.argv[2] === "--worker") {
  serveSeeds();
} else {
  try {
    process.exitCode = await main(parseOptions(process.argv.slice(2)));
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const text = error instanceof Error ? (isUsage ? error.message : error.stack) : String(error);
    say(`${text}${isUsage ? `\n${USAGE}` : ""}`);
    process.exitCode = isUsage ? 2 : 1;
  }
}

/** Answers the exit code. */
async function main(options: SimOptions): Promise<number> {
  const tally = new Tally();
  if (options.isVerbose) await runVerbosely(options, tally);
  else await runMany(options, tally);
  const lacking = tally.seeds >= COVERING_SEEDS ? missing(tally.coverage) : [];
  const { seeds, passed, failed, coverage } = tally;
  if (options.jsonFile !== undefined) {
    const report = { seeds, passed, failed, coverage };
    writeFileSync(options.jsonFile, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  if (!options.isVerbose) printCoverage(coverage);
  for (const { seed, what } of failed) say(`seed ${seed}: ${what}`);
  if (lacking.length > 0) say(`never happened in ${seeds} seeds: ${lacking.join(", ")}`);
  say(`${passed} of ${seeds} seeds passed`);
  return failed.length === 0 && lacking.length === 0 ? 0 : 1;
}

async function runVerbosely({ first, mode }: SimOptions, tally: Tally): Promise<void> {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    const run = await runSeed(first, { mode, print });
    tally.add({ kind: "passed", run });
    const { coverage: _, ...facts } = run;
    print(JSON.stringify(facts));
  } catch (error) {
    if (!(error instanceof SeedFailure)) throw error;
    const { seed, what, message } = error;
    print(message);
    tally.add({ kind: "failed", seed, what, log: message });
  }
}

async function runMany(options: SimOptions, tally: Tally): Promise<void> {
  const { first, seeds, minutes, mode } = options;
  const startMs = performance.now();
  const endMs = minutes === undefined ? Number.POSITIVE_INFINITY : startMs + minutes * 60_000;
  let next = first;
  let toldMs = startMs;
  await runOnWorkers({
    workers: options.workers ?? os.availableParallelism(),
    program: fileURLToPath(import.meta.url),
    nodeArgs: process.execArgv,
    mode,
    nextSeed: () => {
      const isOver = seeds === undefined ? performance.now() >= endMs : next - first >= seeds;
      return isOver ? undefined : next++;
    },
    onResult: (result) => {
      tally.add(result);
      if (result.kind === "failed") printFailure(result, options, tally);
      if (performance.now() - toldMs < PROGRESS_MS) return;
      toldMs = performance.now();
      say(`${tally.seeds} seeds, ${tally.failed.length} failed`);
    },
  });
  const seconds = (performance.now() - startMs) / 1_000;
  const perSeed = (value: number): string => (value / Math.max(1, tally.passed)).toFixed(0);
  say(
    `seeds ${first} to ${next - 1} in ${seconds.toFixed(1)} s;` +
      ` ${perSeed(tally.events)} events and ${perSeed(tally.virtualMs)} virtual ms each`,
  );
}

/** Seed, commit and command; for the first ones the last events, too. */
function printFailure(
  { seed, what, log }: Extract<SeedResult, { kind: "failed" }>,
  { mode }: SimOptions,
  tally: Tally,
): void {
  if (tally.failed.length <= LOGS_PRINTED) process.stdout.write(`${log}\n`);
  const modeArgument = mode === undefined ? "" : ` --mode ${mode}`;
  say(`seed ${seed} FAILED at commit ${commit()}: ${what}`);
  say(`again: npm run sim -- --seed ${seed}${modeArgument}`);
}

function commit(): string {
  try {
    const cwd = fileURLToPath(new URL(".", import.meta.url));
    const args = ["describe", "--always", "--dirty", "--abbrev=12"];
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("git", args, { cwd, encoding: "utf8", stdio: [...stdio] }).trim();
  } catch {
    return "unknown";
  }
}

function printCoverage(coverage: Coverage): void {
  const words = Object.entries(coverage).map(([what, count]) => `${what} ${count}`);
  say(`coverage: ${words.join(", ")}`);
}

function say(line: string): void {
  process.stdout.write(`sim: ${line}\n`);
}
