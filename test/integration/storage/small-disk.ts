/**
 * A directory in which writes fail before long, for real: a small file system where this user may
 * mount one, else a limit on the size of this process's files.
 */

import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeOf } from "../../../src/storage/errors.ts";

export interface SmallDisk {
  readonly dir: string;
  /** How a write fails: the file system is full, or the file may not grow. */
  readonly failure: "diskFull" | "ioError";
  /** Leaves no room at all for the process that writes there. */
  readonly fill: (pid: number) => void;
  /** Makes room. */
  readonly grow: () => void;
}

const SMALL_MIB = 12;
const LARGE_MIB = 128;
const MIB = 2 ** 20;

/** `isOurs`: it is this process that writes there. */
export async function withSmallDisk(
  isOurs: boolean,
  run: (disk: SmallDisk) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "cadastre-small-disk-"));
  const disk = mounted(dir) ?? limited(dir, isOurs);
  try {
    await run(disk);
  } finally {
    disk.release();
    rmSync(dir, { recursive: true, force: true });
  }
}

type Releasable = SmallDisk & { readonly release: () => void };

function mounted(dir: string): Releasable | undefined {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SMALL_MIB}m`, "tmpfs", dir], QUIET);
  } catch {
    return undefined;
  }
  return {
    dir,
    failure: "diskFull",
    fill: () => {
      const ballast = openSync(join(dir, "ballast"), "w");
      try {
        for (;;) writeSync(ballast, new Uint8Array(4096));
      } catch (error) {
        if (codeOf(error) !== "ENOSPC") throw error;
      } finally {
        closeSync(ballast);
      }
    },
    grow: () => void execFileSync("mount", ["-o", `remount,size=${LARGE_MIB}m`, dir], QUIET),
    release: () => void execFileSync("umount", [dir], QUIET),
  };
}

function limited(dir: string, isOurs: boolean): Releasable {
  const limit = (pid: number, bytes: number | "unlimited"): void => {
    execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`], QUIET);
  };
  const lift = (): void => limit(process.pid, "unlimited");
  if (isOurs) limit(process.pid, SMALL_MIB * MIB);
  return { dir, failure: "ioError", fill: (pid) => limit(pid, 0), grow: lift, release: lift };
}

const QUIET = { stdio: "ignore" } as const;
