/**
 * A server's data directory as far as the log store goes: `raft/`, the LevelDB store,
 * `acknowledged`, the second record, and `raft.initialised`, the marker that their creation was
 * completed. Others may keep files beside.
 *
 * The marker is written last at creation. So a store without one was never used: nothing was
 * acknowledged from it, and it may be made anew. With one, whatever cannot be read is damage.
 */

import { rename } from "node:fs/promises";
import { join } from "node:path";
import { type Bytes, bytesToUtf8, utf8ToBytes } from "../base/bytes.ts";
import { crc32c } from "../base/crc32c.ts";
import { readAcknowledged } from "./acknowledged-file.ts";
import { damaged, fromLevelError, missing, StorageError } from "./errors.ts";
import { type FileStore, publishWhole } from "./files.ts";
import { type KeyValueStore, openLevelDb } from "./level-db.ts";
import { NodeFileStore } from "./node-files.ts";
import { isUsableDirectory, readIfPresent, syncPath } from "./paths.ts";
import { STORE_FORMAT } from "./records.ts";
import { recoverStore } from "./recovery.ts";

/** A store's first write, of its creation, is number 1. */
export const CREATION_SEQUENCE = 1;

const MARKER = "raft.initialised";
const DISOWNED = "disowned";
const MARKER_FIRST_LINE = `cadastre log store ${STORE_FORMAT}`;

/**
 * "absent": nothing of a log store. "neverInitialised": the remains of a creation that was
 * interrupted. "initialised": creation was completed; whether the store is sound, opening tells.
 */
export type DataDirState = "absent" | "neverInitialised" | "initialised";

export function raftDirOf(dataDir: string): string {
  return join(dataDir, "raft");
}

/**
 * Tells whether a server is to be created or to be opened here. Rejects with a StorageError:
 * `notADirectory`, `permissionDenied`, `dataDirInUse` (creation is under way elsewhere), `damaged`
 * (a used store whose marker is missing), `missing` (its traces, and no store), `ioError`.
 */
export async function inspectDataDir(dataDir: string): Promise<DataDirState> {
  if (!(await isUsableDirectory(dataDir))) return "absent";
  if ((await readIfPresent(join(dataDir, MARKER))) !== undefined) return "initialised";
  const raftDir = raftDirOf(dataDir);
  const record = await readAcknowledged(new NodeFileStore(dataDir), dataDir);
  if (!(await isUsableDirectory(raftDir))) {
    if (record === undefined) return "absent";
    throw missing(dataDir, "its log store");
  }
  const wasTold = record?.slot.groups.some(({ term }) => term > 0) === true;
  if (wasTold || (await isUsedStore(raftDir))) {
    throw damaged(raftDir, "a store in use whose marker raft.initialised is missing");
  }
  return "neverInitialised";
}

/** Whether a store without a marker holds more than its creation wrote. */
async function isUsedStore(raftDir: string): Promise<boolean> {
  if ((await readIfPresent(join(raftDir, "CURRENT"))) === undefined) return false;
  const opened = await openLevelDb(raftDir, "openExisting").catch((error: unknown) => {
    const failure = fromLevelError(error, raftDir);
    if (failure.code === "damaged" || failure.code === "ioError") return undefined;
    throw failure;
  });
  if (opened === undefined) return false;
  try {
    if (await isEmptyStore(opened)) return false;
    const { head } = await recoverStore(opened, raftDir);
    return head.writeSequence > CREATION_SEQUENCE;
  } finally {
    await opened.close();
  }
}

async function isEmptyStore(db: KeyValueStore): Promise<boolean> {
  for await (const portion of db.scan()) {
    if (portion.length > 0) return false;
  }
  return true;
}

/** Puts the remains of an interrupted creation out of the way; they are not deleted. */
export async function setAside(dataDir: string, suffix: string): Promise<void> {
  await rename(raftDirOf(dataDir), `${raftDirOf(dataDir)}.unfinished-${suffix}`);
  await syncPath(dataDir);
}

/** States, durably, that the store with this uuid is complete. */
export function writeMarker(files: FileStore, storeUuid: string): Promise<void> {
  return publishWhole(files, MARKER, utf8ToBytes(markerText(storeUuid)));
}

/** The uuid of the store that was completed here. Throws `damaged` or `formatUnknown`. */
export async function readMarker(files: FileStore, dataDir: string): Promise<string> {
  const content = await files.readWhole(MARKER);
  const text = content === undefined ? undefined : bytesToUtf8(content);
  const [firstLine, storeUuid = ""] = (text ?? "").split("\n");
  if (text === markerText(storeUuid)) return storeUuid;
  if (/^cadastre log store \d+$/.test(firstLine ?? "") && firstLine !== MARKER_FIRST_LINE) {
    const what = `the log store in ${dataDir} has an unknown format (${firstLine})`;
    throw new StorageError("formatUnknown", { dir: dataDir, what });
  }
  throw damaged(dataDir, "a marker raft.initialised that is not as it was written");
}

/**
 * Notes, durably, that other servers hold proof against this store: it stays with the directory,
 * as those who hold the proof may forget it with their processes.
 */
export function writeDisowned(files: FileStore, what: string): Promise<void> {
  return publishWhole(files, DISOWNED, utf8ToBytes(`${what}\n`));
}

/** Rejects with `disowned` when there is such a note. */
export async function checkNotDisowned(files: FileStore, dataDir: string): Promise<void> {
  const content = await files.readWhole(DISOWNED);
  if (content === undefined) return;
  const what = bytesToUtf8(content) ?? "a note that cannot be read";
  throw new StorageError("disowned", { dir: dataDir, what: `${dataDir} was disowned: ${what}` });
}

function markerText(storeUuid: string): string {
  const body: Bytes = utf8ToBytes(storeUuid);
  return `${MARKER_FIRST_LINE}\n${storeUuid}\n${crc32c(body).toString(16).padStart(8, "0")}\n`;
}
