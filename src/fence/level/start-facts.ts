/**
 * What this machine says of a process that has a store open: which boot of the kernel it is, and
 * which file the kernel keeps locked for the process. Reading neither opens the locked file.
 */

import { readFile, stat } from "node:fs/promises";
import path from "node:path";

const BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id";
/** LevelDB's own; it locks the whole file for as long as the store is open. */
const LOCK_FILE = "LOCK";

/**
 * Drawn by the kernel at each boot, as 32 hex digits with dashes; undefined where there is no such
 * kernel. A suspended and resumed machine keeps it, and so does the copy of a virtual one.
 */
export async function readBootId(): Promise<string | undefined> {
  try {
    const text = (await readFile(BOOT_ID_FILE, "utf8")).trim();
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * "device:inode" of the file by which the open store in this folder is locked. A copy of the folder
 * has another, and so has a folder whose lock file was deleted and made anew.
 */
export async function lockedFileOf(folder: string): Promise<string> {
  const { dev, ino } = await stat(path.join(folder, LOCK_FILE), { bigint: true });
  return `${dev}:${ino}`;
}
