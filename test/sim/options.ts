/**
 * The arguments of `npm run sim`.
 */

import { type Mode, MODES } from "./shape.ts";

export const USAGE =
  "usage: npm run sim -- [--seeds N | --minutes M | --seed S] [--first S]" +
  " [--mode safety|liveness] [--workers W] [--json FILE]";

const SEEDS_DEFAULT = 100;
const WORKERS_MAX = 64;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface SimOptions {
  /** So many seeds, from `first` on; undefined: until the time is over. */
  readonly seeds: number | undefined;
  readonly minutes: number | undefined;
  readonly first: number;
  /** One seed only, with every event in words. */
  readonly isVerbose: boolean;
  /** Drawn by each seed if left out. */
  readonly mode: Mode | undefined;
  /** undefined: as many as there are cores. */
  readonly workers: number | undefined;
  readonly jsonFile: string | undefined;
}

export function parseOptions(args: readonly string[]): SimOptions {
  const given = new Map<string, string>();
  for (let at = 0; at < args.length; at += 2) {
    const [name = "", value] = args.slice(at, at + 2);
    if (!NAMES.has(name)) throw new UsageError(`there is no option ${name}`);
    if (given.has(name)) throw new UsageError(`${name} is given twice`);
    if (value === undefined) throw new UsageError(`${name} needs a value`);
    given.set(name, value);
  }
  const limits = ["--seeds", "--minutes", "--seed"].filter((name) => given.has(name));
  if (limits.length > 1) throw new UsageError(`${limits.join(" and ")} exclude each other`);
  const seed = wholeNumber(given, "--seed", 0, Number.MAX_SAFE_INTEGER);
  const first = wholeNumber(given, "--first", 0, Number.MAX_SAFE_INTEGER);
  const minutes = positiveNumber(given, "--minutes");
  const seeds = wholeNumber(given, "--seeds", 1, 1_000_000_000);
  return {
    seeds: seed !== undefined ? 1 : minutes !== undefined ? undefined : (seeds ?? SEEDS_DEFAULT),
    minutes,
    first: seed ?? first ?? 1,
    isVerbose: seed !== undefined,
    mode: modeOf(given.get("--mode")),
    workers: wholeNumber(given, "--workers", 1, WORKERS_MAX),
    jsonFile: given.get("--json"),
  };
}

const NAMES: ReadonlySet<string> = new Set([
  "--seeds",
  "--minutes",
  "--seed",
  "--first",
  "--mode",
  "--workers",
  "--json",
]);

function modeOf(text: string | undefined): Mode | undefined {
  if (text === undefined) return undefined;
  const mode = MODES.find((one) => one === text);
  if (mode === undefined) throw new UsageError(`--mode is ${MODES.join(" or ")}, not ${text}`);
  return mode;
}

function wholeNumber(
  given: ReadonlyMap<string, string>,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  const isFitting = /^\d+$/.test(text) && number >= least && number <= most;
  if (!isFitting) throw new UsageError(`${name} is a whole number from ${least} on, not ${text}`);
  return number;
}

function positiveNumber(given: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  const isFitting = /^\d+(\.\d+)?$/.test(text) && number > 0;
  if (!isFitting) throw new UsageError(`${name} is a positive number, not ${text}`);
  return number;
}
