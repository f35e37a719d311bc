/**
 * Checks of LevelDB's own files around an open. LevelDB opens a store from which it dropped data;
 * these checks make that an error, and one that stays.
 *
 * Its text files LOG and LOG.old are both read, before and after the open: every open moves LOG to
 * LOG.old, so the note of a drop would be gone two starts later. As the check before the open
 * refuses to open, a note once written is never moved away by us; LOG.old covers one open by
 * another tool.
 */

import { access, constants, readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, damaged, fromLevelError } from "./errors.ts";
import { readBytesIfPresent, readIfPresent, syncPath } from "./paths.ts";
import { findWalDamage } from "./wal-check.ts";

const TEXT_LOGS = ["LOG", "LOG.old"];
/** What db_impl.cc notes: "(ignoring error) F: dropping N bytes; ..." and "Ignoring error ...". */
const DROP_NOTE = /: dropping \d+ bytes; |Ignoring error /;
const WAL_NAME = /^\d+\.log$/;

/**
 * Everything that can be said of a store's files without opening it. Throws StorageError. LOCK is
 * asked about and never opened: closing it would drop a lock that this process holds (law 13).
 */
export async function checkFilesBeforeOpen(raftDir: string): Promise<void> {
  await checkCurrentManifest(raftDir);
  await checkTextLogs(raftDir);
  for (const name of await readdir(raftDir)) {
    await assertUsable(join(raftDir, name), constants.R_OK | constants.W_OK);
    if (!WAL_NAME.test(name)) continue;
    const file = await readBytesIfPresent(join(raftDir, name));
    const found = file === undefined ? undefined : findWalDamage(file);
    if (found !== undefined) throw damaged(raftDir, `${found} of ${name}`);
  }
}

/** Throws when LevelDB noted that it dropped something. */
export async function checkTextLogs(raftDir: string): Promise<void> {
  for (const name of TEXT_LOGS) {
    const path = join(raftDir, name);
    const text = await readIfPresent(path);
    const note = text?.split("\n").find((line) => DROP_NOTE.test(line));
    if (note === undefined) continue;
    // The next start relies on this note, so it must not be lost in a power failure.
    await syncPath(path);
    throw damaged(raftDir, `LevelDB dropped data, says ${name}: ${note}`);
  }
}

/** Whether CURRENT names a manifest that is there, as in every store that was ever opened. */
async function checkCurrentManifest(raftDir: string): Promise<void> {
  const manifest = (await readIfPresent(join(raftDir, "CURRENT")))?.trim();
  if (manifest === undefined) throw damaged(raftDir, "no file CURRENT");
  const isNamed = /^MANIFEST-\d+$/.test(manifest);
  if (!isNamed || (await readIfPresent(join(raftDir, manifest))) === undefined) {
    throw damaged(raftDir, "a file CURRENT that names no manifest");
  }
}

/** A process that uses the store may delete a file between its listing and this. */
async function assertUsable(path: string, mode: number): Promise<void> {
  try {
    await access(path, mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw fromLevelError(error, path);
  }
}
