/**
 * Programs that the benchmark starts: their last words, how they end, and the processor time that
 * they (or any process, by id) have used.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Cleanups } from "./cleanups.ts";

const LAST_WORDS_CHARS_MAX = 4_000;
const KILL_AFTER_MS = 6_000;
/** What /proc counts processor time in, on every Linux that Node runs on. */
const CLOCK_TICKS_PER_SECOND = 100;
const POLL_MS = 20;

export interface Started {
  readonly pid: number;
  readonly isRunning: () => boolean;
  /** The end of what it has printed. */
  readonly lastWords: () => string;
  /** SIGTERM, and SIGKILL when that does not help. Resolves when it is gone. */
  readonly stop: () => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<void>;
}

export interface StartOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cleanups: Cleanups;
  /** A Node program that ends by itself when the channel to us breaks. */
  readonly ipc?: boolean;
}

export function startProcess({ file, args, cleanups, ipc = false }: StartOptions): Started {
  const child: ChildProcess = spawn(file, args, {
    stdio: ["ignore", "pipe", "pipe", ...(ipc ? ["ipc" as const] : [])],
  });
  let words = "";
  const hear = (chunk: Buffer): void => {
    words = (words + chunk.toString()).slice(-LAST_WORDS_CHARS_MAX);
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", (error) => {
      words += error.message;
      resolve();
    });
  });
  const isRunning = (): boolean =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const kill = (signal: NodeJS.Signals): void => void (isRunning() && child.kill(signal));
  const end = async (): Promise<void> => {
    kill("SIGTERM");
    // A paused process acts on nothing else.
    kill("SIGCONT");
    const timer = setTimeout(() => kill("SIGKILL"), KILL_AFTER_MS);
    await ended;
    clearTimeout(timer);
  };
  const stop = cleanups.add(end);
  return { pid: child.pid ?? 0, isRunning, lastWords: () => words, stop, kill, ended };
}

/** A folder of our own under the system's folder for such, gone at the end. */
export function temporaryFolder(name: string, cleanups: Cleanups): string {
  const folder = mkdtempSync(path.join(tmpdir(), `cadastre-bench-${name}-`));
  cleanups.add(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The first line that a program prints when asked for its version; undefined: it is not here. */
export function versionLine(file: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      .split("\n")[0]
      ?.trim();
  } catch {
    return undefined;
  }
}

/** Processor time of all threads of these processes so far; undefined where /proc is not. */
export function cpuMsOf(pids: readonly number[]): number | undefined {
  let ticks = 0;
  try {
    for (const pid of pids) ticks += ticksOf(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
  return (ticks * 1_000) / CLOCK_TICKS_PER_SECOND;
}

/** Fields 14 and 15; the name in field 2 may hold anything, in parentheses. */
function ticksOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Waits for an answer that is not undefined; what fails meanwhile counts as none. */
export async function eventually<T>(
  what: string,
  timeoutMs: number,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const startedAtMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - startedAtMs > timeoutMs) {
      throw new Error(`${what}: not within ${timeoutMs} ms`);
    }
    await delay(POLL_MS);
  }
}
