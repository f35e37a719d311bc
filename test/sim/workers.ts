/**
 * Seeds on several cores: each worker is a process of its own that runs one seed after the other.
 * The parent hands out seeds and gathers what they found; the order of ending decides nothing.
 */

import { type ChildProcess, fork } from "node:child_process";
import { runSeed, SeedFailure, type SeedRun } from "./run-seed.ts";
import type { Mode } from "./shape.ts";

export type SeedResult =
  | { readonly kind: "passed"; readonly run: SeedRun }
  | { readonly kind: "failed"; readonly seed: number; readonly what: string; readonly log: string };

interface Task {
  readonly seed: number;
  readonly mode: Mode | undefined;
}

/** What a worker's process does: `main` calls it when it was started as one. */
export function serveSeeds(): void {
  process.on("message", (task: Task) => {
    void runOne(task).then((result) => process.send?.(result));
  });
  process.on("disconnect", () => process.exit());
}

async function runOne({ seed, mode }: Task): Promise<SeedResult> {
  try {
    return { kind: "passed", run: await runSeed(seed, { mode }) };
  } catch (error) {
    if (error instanceof SeedFailure) {
      return { kind: "failed", seed, what: error.what, log: error.message };
    }
    const log = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { kind: "failed", seed, what: log.split("\n")[0] ?? log, log };
  }
}

export interface PoolOptions {
  readonly workers: number;
  /** The program whose workers serve seeds, and how Node is started for it. */
  readonly program: string;
  readonly nodeArgs: readonly string[];
  readonly mode: Mode | undefined;
  /** undefined: there are no more. */
  readonly nextSeed: () => number | undefined;
  readonly onResult: (result: SeedResult) => void;
}

/** Resolves when all seeds have been run. */
export async function runOnWorkers(options: PoolOptions): Promise<void> {
  const { workers, program, nodeArgs } = options;
  const pool = Array.from({ length: workers }, () => {
    return fork(program, ["--worker"], { execArgv: [...nodeArgs] });
  });
  try {
    await Promise.all(pool.map((worker) => drive(worker, options)));
  } finally {
    for (const worker of pool) worker.disconnect();
  }
}

/** One seed after the other on one worker. */
function drive(worker: ChildProcess, { mode, nextSeed, onResult }: PoolOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    let present: number | undefined;
    const next = (): void => {
      present = nextSeed();
      if (present === undefined) resolve();
      else worker.send({ seed: present, mode });
    };
    worker.on("message", (result: SeedResult) => {
      onResult(result);
      next();
    });
    worker.once("error", reject);
    worker.once("exit", (code, signal) => {
      if (present === undefined) return;
      reject(new Error(`a worker ended (${signal ?? code}) while it ran seed ${present}`));
    });
    next();
  });
}
