/** The command line of the benchmark, and the sizes of its two forms. */

import { parseArgs } from "node:util";
import type { Scenario, Sizes } from "./bench.ts";
import { failover } from "./failover.ts";
import { grantLatency, grantRate } from "./grants.ts";
import { lookupRate } from "./lookups.ts";
import { renewals } from "./renewals.ts";

export const SCENARIOS: readonly Scenario[] = [
  grantRate({ name: "grants-256", inFlight: 256, pipe: "grpc-js" }),
  grantRate({ name: "grants-256-raw", inFlight: 256, pipe: "raw HTTP/2" }),
  grantLatency({ name: "grant-1", inFlight: 1, pipe: "grpc-js" }),
  grantLatency({ name: "grant-1-raw", inFlight: 1, pipe: "raw HTTP/2" }),
  lookupRate("lookups-256", "h2load"),
  lookupRate("lookups-256-grpcjs", "grpc-js"),
  failover,
  renewals,
];

const FULL: Sizes = {
  warmUpRounds: 1,
  rounds: 5,
  warmUpMs: 1_000,
  measureMs: 4_000,
  ranges: 60_000,
  kills: 11,
  pauses: 5,
  settleMs: 1_000,
  nodes: 1_000,
  rangesPerNode: 100,
  renewIntervalMs: 3_000,
};

/** To see that everything works. Its numbers mean nothing. */
const SHORT: Sizes = {
  warmUpRounds: 0,
  rounds: 1,
  warmUpMs: 50,
  measureMs: 150,
  ranges: 2_500,
  kills: 1,
  pauses: 1,
  settleMs: 50,
  nodes: 20,
  rangesPerNode: 5,
  renewIntervalMs: 500,
};

export const USAGE: string = [
  "usage: npm run bench -- [SCENARIO ...] [--vs etcd] [--json FILE] [--results FILE]",
  "                        [--rounds N] [--seconds N] [--kills N] [--nodes N] [--short]",
  "",
  `scenarios: ${SCENARIOS.map(({ name }) => name).join(" ")} (all of them if none is named)`,
  "--vs etcd       the same load on a three-member etcd, in turns",
  "--json FILE     the results as JSON",
  "--results FILE  the results as a table; test/bench/RESULTS.md after a complete run with a peer",
  "--rounds N      recorded rounds of each contestant (5)",
  "--seconds N     measured in each round (4)",
  "--kills N       leaders killed (11)",
  "--nodes N       storage nodes that renew, of 100 ranges each (1000)",
  "--short         everything for a moment, to see that it works",
].join("\n");

export interface BenchOptions {
  readonly scenarios: readonly Scenario[];
  readonly isComplete: boolean;
  readonly withPeer: boolean;
  readonly isShort: boolean;
  readonly jsonFile: string | undefined;
  readonly resultsFile: string | undefined;
  readonly sizes: Sizes;
}

/** What is wrong with the command line, in a line. */
export class UsageError extends Error {}

export function parseOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args);
  const { vs, short: isShort = false } = values;
  if (vs !== undefined && vs !== "etcd") throw new UsageError(`--vs ${vs}: there is only etcd`);
  const scenarios = positionals.map((name) => {
    const found = SCENARIOS.find((scenario) => scenario.name === name);
    if (found === undefined) throw new UsageError(`there is no scenario ${name}`);
    return found;
  });
  const base = isShort ? SHORT : FULL;
  const sizes: Sizes = {
    ...base,
    rounds: count("rounds", values.rounds) ?? base.rounds,
    measureMs: (count("seconds", values.seconds) ?? base.measureMs / 1_000) * 1_000,
    kills: count("kills", values.kills) ?? base.kills,
    nodes: count("nodes", values.nodes) ?? base.nodes,
  };
  return {
    scenarios: scenarios.length === 0 ? SCENARIOS : scenarios,
    isComplete: scenarios.length === 0 && !isShort,
    withPeer: vs !== undefined,
    isShort,
    jsonFile: values.json,
    resultsFile: values.results,
    sizes,
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        vs: text,
        json: text,
        results: text,
        rounds: text,
        seconds: text,
        kills: text,
        nodes: text,
        short: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function count(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new UsageError(`--${flag} ${text}: must be a whole number from 1`);
}
