// One launcher per folder: a lock file with the launcher's process in it. A lock whose process is
// gone is taken over. What protects the data is each server's own lock; this one makes the refusal
// early and plain.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CliError } from "../failure.ts";
import { numberOf, parseJson, textOf } from "../json-fields.ts";
import { isRunning, processRef, type ProcessRef } from "./processes.ts";

export const LOCK_FILE = "launcher.lock";
const ATTEMPTS = 5;

/** Takes the lock for this process; the answer gives it back. */
export function lockFolder(folder: string): () => void {
  const file = path.join(folder, LOCK_FILE);
  const own = JSON.stringify(processRef(process.pid));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (createExclusively(file, own)) return () => release(file, own);
    const holder = readHolder(file);
    if (holder !== undefined && isRunning(holder)) {
      throw new CliError({
        message: `a development cluster already runs in ${folder} (launcher pid ${holder.pid})`,
        remedy: `use it, stop it with \`kill ${holder.pid}\`, or give another --data-dir`,
      });
    }
    removeStale(file, holder);
  }
  throw new CliError({ message: `cannot take ${file}`, remedy: "try again in a moment" });
}

function createExclusively(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Moved aside first: if another launcher was quicker, that was its lock, and it goes back. */
function removeStale(file: string, stale: ProcessRef | undefined): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  const isStale = moved === undefined || moved.pid === stale?.pid || !isRunning(moved);
  if (isStale) rmSync(aside, { force: true });
  else renameSync(aside, file);
}

function readHolder(file: string): ProcessRef | undefined {
  try {
    const value = parseJson(readFileSync(file, "utf8"));
    const pid = numberOf(value, "pid");
    return pid === undefined ? undefined : { pid, startMark: textOf(value, "startMark") ?? "" };
  } catch {
    return undefined;
  }
}

function release(file: string, own: string): void {
  try {
    if (readFileSync(file, "utf8") === own) rmSync(file, { force: true });
  } catch {
    // Gone already: the folder was deleted under us.
  }
}
