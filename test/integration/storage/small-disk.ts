/**
 * A directory in which writes fail before long, for real: a small file system where this user may
 * mount one, else a limit on the size of this process's files.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly dir: string;
  /** How a write fails: the file system is full, or the file may not grow. */
  readonly failure: "diskFull" | "ioError";
  /** Makes room. */
  readonly grow: () => void;
}

const SMALL_MIB = 12;
const LARGE_MIB = 128;
const MIB = 2 ** 20;

export async function withSmallDisk(run: (disk: SmallDisk) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "cadastre-small-disk-"));
  const disk = mounted(dir) ?? limited(dir);
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
    grow: () => void execFileSync("mount", ["-o", `remount,size=${LARGE_MIB}m`, dir], QUIET),
    release: () => void execFileSync("umount", [dir], QUIET),
  };
}

function limited(dir: string): Releasable {
  const limit = (bytes: number | "unlimited"): void => {
    const pid = String(process.pid);
    execFileSync("prlimit", ["--pid", pid, `--fsize=${bytes}:unlimited`], QUIET);
  };
  const lift = (): void => limit("unlimited");
  limit(SMALL_MIB * MIB);
  return { dir, failure: "ioError", grow: lift, release: lift };
}

const QUIET = { stdio: "ignore" } as const;
