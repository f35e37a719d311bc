/**
 * Files and directories by their paths: reading what may be missing, and making names durable.
 *
 * A name is durable only once its directory was synced. Everything rejects with a StorageError.
 */

import { access, constants, mkdir, open, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { codeOf, fromLevelError, StorageError } from "./errors.ts";

/** A file's text; undefined when there is no such file. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  return (await readBytesIfPresent(path))?.toString("utf8");
}

export async function readBytesIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw fromLevelError(error, path);
  }
}

/** Whether a directory is there, one that this process may use. Throws StorageError otherwise. */
export async function isUsableDirectory(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isDirectory()) {
      throw new StorageError("notADirectory", { dir: path, what: `${path} is not a directory` });
    }
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw fromLevelError(error, path);
  }
}

/** Makes a directory and those above it, each durable. */
export async function createDirectory(path: string): Promise<void> {
  const firstMade = await mkdir(path, { recursive: true });
  if (firstMade === undefined) return;
  let made = resolve(path);
  for (const last = dirname(resolve(firstMade)); made !== last; made = dirname(made)) {
    await syncPath(dirname(made));
  }
}

/** fsync of a file, or of a directory: of the names in it. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
