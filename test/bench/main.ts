/**
 * The benchmark: `npm run bench`. Runs the scenarios one after the other, each on clusters of its
 * own, writes what was found, and ends everything it has started, whatever happens. The exit code
 * is 0 when everything that was asked for could be measured: a missed budget is a result.
 */

import { writeFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { Bench, type Finding, type Scenario } from "./bench.ts";
import { Cleanups } from "./cleanups.ts";
import { EtcdCluster, etcdVersion } from "./etcd-cluster.ts";
import { H2load, h2loadVersion } from "./h2load.ts";
import { machineFacts } from "./machine.ts";
import { type BenchOptions, parseOptions, SCENARIOS, USAGE, UsageError } from "./options.ts";
import { OurCluster } from "./our-cluster.ts";
import { type Outcome, type Row, rowToJson, toMarkdown } from "./results.ts";

const RESULTS_FILE = fileURLToPath(new URL("RESULTS.md", import.meta.url));
const NO_ETCD = "etcd is not installed (Debian: etcd-server)";
const NO_H2LOAD = "h2load is not installed (Debian: nghttp2-client)";

const cleanups = new Cleanups();
let isStopping = false;
endOnSignals();
try {
  process.exitCode = await run(parseOptions(process.argv.slice(2)));
} catch (error) {
  const isUsage = error instanceof UsageError;
  const text = error instanceof Error ? (isUsage ? error.message : error.stack) : String(error);
  say(`${text}${isUsage ? `\n${USAGE}` : ""}`);
  process.exitCode = isUsage ? 2 : 1;
} finally {
  await cleanups.run();
}

/** Answers the exit code. */
async function run(options: BenchOptions): Promise<number> {
  const facts = machineFacts(cleanups);
  const rows: Row[] = [];
  if (options.isShort) rows.push(...(await onOnePair(options)));
  else for (const scenario of options.scenarios) rows.push(...(await onOwnPair(scenario, options)));
  const report = toMarkdown(rows, facts, methodOf(options));
  process.stdout.write(report);
  const { jsonFile, isComplete, withPeer } = options;
  const hadPeer = withPeer && etcdVersion() !== undefined;
  const resultsFile = options.resultsFile ?? (isComplete && hadPeer ? RESULTS_FILE : undefined);
  if (resultsFile !== undefined) writeFileSync(resultsFile, report);
  if (jsonFile !== undefined) {
    writeFileSync(jsonFile, `${JSON.stringify(rows.map(rowToJson), undefined, 2)}\n`);
  }
  return rows.some(({ outcome }) => outcome.kind === "failed") ? 1 : 0;
}

async function onOnePair(options: BenchOptions): Promise<readonly Row[]> {
  const bench = await startPair(options);
  const rows: Row[] = [];
  for (const scenario of options.scenarios)
    rows.push(...(await runScenario(scenario, () => bench)));
  return rows;
}

/** What one scenario leaves behind must not slow the next one. */
async function onOwnPair(scenario: Scenario, options: BenchOptions): Promise<readonly Row[]> {
  const rows = await runScenario(scenario, () => startPair(options));
  await cleanups.run();
  return rows;
}

async function startPair({ withPeer, sizes }: BenchOptions): Promise<Bench> {
  const ours = await OurCluster.start(cleanups);
  const hasPeer = withPeer && etcdVersion() !== undefined;
  const peer = hasPeer ? await EtcdCluster.start(cleanups) : undefined;
  const h2load = h2loadVersion() === undefined ? undefined : new H2load(cleanups);
  return new Bench({ ours, peer, h2load, sizes, say });
}

async function runScenario(
  scenario: Scenario,
  bench: () => Bench | Promise<Bench>,
): Promise<readonly Row[]> {
  if (scenario.needsH2load && h2loadVersion() === undefined) {
    say(`${scenario.name}: SKIPPED, ${NO_H2LOAD}`);
    return outcomeOfAll(scenario, { kind: "skipped", why: NO_H2LOAD });
  }
  try {
    const pair = await bench();
    say(`${scenario.name}: starting`);
    const findings = await scenario.run(pair);
    return scenario.rows.map((head, at) => rowOf(head, findings[at]));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // What was ended under its feet has not failed by itself.
    if (!isStopping) say(`${scenario.name}: FAILED, ${error instanceof Error ? error.stack : why}`);
    return outcomeOfAll(scenario, { kind: "failed", why: why.replaceAll("\n", " ") });
  }
}

function rowOf(head: Scenario["rows"][number], finding: Finding | undefined): Row {
  if (finding === undefined) {
    return { ...head, outcome: { kind: "failed", why: "nothing was found" }, note: "" };
  }
  const { ours, peer, note } = finding;
  return { ...head, outcome: { kind: "measured", ours, peer }, note };
}

function outcomeOfAll({ rows }: Scenario, outcome: Outcome): readonly Row[] {
  return rows.map((head) => ({ ...head, outcome, note: "" }));
}

function methodOf({ sizes, withPeer, scenarios }: BenchOptions): readonly string[] {
  const peer = !withPeer
    ? "without a peer (--vs etcd)"
    : etcdVersion() === undefined
      ? `the peer was SKIPPED: ${NO_ETCD}`
      : "three members of etcd beside three servers of Cadastre, both running all the time";
  return [
    peer,
    `${sizes.rounds} rounds each, in turns, after ${sizes.warmUpRounds} of warm-up`,
    "shown: the median over the rounds, and the smallest and the largest",
    `each round: ${sizes.warmUpMs} ms unmeasured, then ${sizes.measureMs} ms`,
    "one machine, loopback, no TLS, data on one disk, every write synced by a quorum",
    "the generator shares the processors with the servers; what it takes stands in the notes",
    `${scenarios.length} of ${SCENARIOS.length} scenarios`,
  ];
}

function say(line: string): void {
  const seconds = (performance.now() / 1_000).toFixed(1);
  process.stderr.write(`bench: ${seconds} s: ${line}\n`);
}

/** A signal, or the end of whoever started us, undoes everything first. */
function endOnSignals(): void {
  const end = (signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void => {
    if (!isStopping) say(`stopping (${signal})`);
    isStopping = true;
    void cleanups.run().finally(() => process.exit(128 + os.constants.signals[signal]));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  process.once("disconnect", () => end("SIGTERM"));
  process.channel?.unref();
}
