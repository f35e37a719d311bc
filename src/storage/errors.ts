/**
 * What can go wrong with a server's durable log: one error type, its codes, and the translation of
 * everything that LevelDB and the file system throw (STYLE 5, failure of the world).
 *
 * The message is one line: what happened, where, and what to do about it. Codes decide, texts are
 * for people; LevelDB has one code for all system errors, so a full disk is told by asking the
 * file system and not by reading the text.
 */

import { statfsSync } from "node:fs";
import type { GroupId, LogIndex } from "../base/brands.ts";

export const STORAGE_ERROR_CODES = [
  /** No log store was ever completed here. */
  "notInitialised",
  /** A log store was asked to be created where one is. */
  "alreadyInitialised",
  /** Another process, or another part of this one, holds the store's lock. */
  "dataDirInUse",
  "clusterMismatch",
  "serverMismatch",
  /** Stored data contradict themselves. The server takes no part (law 30), as with the next 4. */
  "damaged",
  /** The log store is sound and behind what was acknowledged from it. */
  "regressed",
  /** A server lives here, and its log store is gone. */
  "missing",
  /** The data directory is put together from parts of several. */
  "foreign",
  /** Other servers saw this one acknowledge more than it has, or know it with another store. */
  "disowned",
  /** A snapshot from another server that is not what was asked for. It was dropped. */
  "badSnapshot",
  /** Written by another version of this program. */
  "formatUnknown",
  "notADirectory",
  "permissionDenied",
  "diskFull",
  "ioError",
] as const;

export type StorageErrorCode = (typeof STORAGE_ERROR_CODES)[number];

const KEEP = "this server takes no part, the others go on without it; keep the directory as it is";

const REMEDIES: Record<StorageErrorCode, string> = {
  notInitialised: "give the directory that the server was created with, or create the server first",
  alreadyInitialised: "start the server that lives there, or give an empty directory",
  dataDirInUse: "stop the process that uses it, or give this server a directory of its own",
  clusterMismatch: "give the data directory that belongs to this cluster",
  serverMismatch: "give each server its own data directory, and never copy one",
  damaged: `nothing was repaired; ${KEEP}`,
  regressed: `it is an older copy, or the disk lost writes that it confirmed; ${KEEP}`,
  missing: `an empty store in its place would forget what it promised; ${KEEP}`,
  foreign: `put the parts that belong together back, and never copy one; ${KEEP}`,
  disowned: `give it its own newest data directory back, if there is one; ${KEEP}`,
  badSnapshot: "it was dropped and is fetched again; check the network and the sender's disk",
  formatUnknown: "start a version of cadastre that knows this format, or give another directory",
  notADirectory: "give a path that is a directory or does not exist yet",
  permissionDenied: "let the server's user read and write the directory and its files",
  diskFull: "free space on that file system, then start the server again",
  ioError: "check the disk and the system log, then start the server again",
};

/**
 * Whether what is stored can no longer be trusted to hold what was promised from it: then the
 * server starts and takes no part. All other failures lie outside the data, in the configuration,
 * rights, the version or the disk: then it does not start, and can start when they are mended.
 */
export function isDistrust({ code }: StorageError): boolean {
  return DISTRUSTED.has(code);
}

const DISTRUSTED: ReadonlySet<StorageErrorCode> = new Set([
  "damaged",
  "regressed",
  "missing",
  "foreign",
  "disowned",
]);

/** Where a damage was found; parts that do not apply are undefined. */
export interface DamagePlace {
  readonly group: GroupId | undefined;
  readonly index: LogIndex | undefined;
}

const NO_PLACE: DamagePlace = { group: undefined, index: undefined };

/** A failure of the disk, the directory or the data in it. The server cannot go on. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly code: StorageErrorCode;
  /** The data directory or the store's folder in it. */
  readonly dir: string;
  readonly place: DamagePlace;

  constructor(
    code: StorageErrorCode,
    details: {
      readonly dir: string;
      readonly what: string;
      readonly place?: DamagePlace;
      readonly cause?: unknown;
    },
  ) {
    super(`${oneLine(details.what)}: ${REMEDIES[code]}`, { cause: details.cause });
    this.code = code;
    this.dir = details.dir;
    this.place = details.place ?? NO_PLACE;
  }
}

/** The error for data that contradict themselves. `found` says what, in a few words. */
export function damaged(
  dir: string,
  found: string,
  place: DamagePlace = NO_PLACE,
  cause?: unknown,
): StorageError {
  const group = place.group === undefined ? "" : `group ${place.group}, `;
  const index = place.index === undefined ? "" : `index ${place.index}, `;
  const what = `the log store in ${dir} is damaged (${group}${index}found: ${found})`;
  return new StorageError("damaged", { dir, what, place, cause });
}

/** The error for a data directory that a server lived in, and that lost a part. */
export function missing(dir: string, what: string): StorageError {
  return new StorageError("missing", {
    dir,
    what: `a server was made in ${dir}, and lost ${what}`,
  });
}

/** Whatever LevelDB or the file system threw, as a storage error. Total over unknown. */
export function fromLevelError(error: unknown, dir: string): StorageError {
  if (error instanceof StorageError) return error;
  const cause = causeOf(error);
  const code = codeOf(error);
  // A failed open arrives as "not open", with the reason as its cause.
  if (code === "LEVEL_DATABASE_NOT_OPEN" && cause !== undefined) return fromLevelError(cause, dir);
  switch (code ?? "") {
    case "LEVEL_LOCKED":
      return new StorageError("dataDirInUse", { dir, what: `${dir} is in use`, cause: error });
    case "LEVEL_CORRUPTION":
      return damaged(dir, textOf(error), NO_PLACE, error);
    case "ENOSPC":
    case "EDQUOT":
      return diskFull(error, dir);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new StorageError("permissionDenied", {
        dir,
        what: `no access to ${dir} (${code})`,
        cause: error,
      });
    case "ENOTDIR":
    case "EEXIST":
      return new StorageError("notADirectory", {
        dir,
        what: `${dir} is not a directory`,
        cause: error,
      });
    default:
      if (isFileSystemFull(dir)) return diskFull(error, dir);
      return new StorageError("ioError", {
        dir,
        what: `reading or writing ${dir} failed (${textOf(error)})`,
        cause: error,
      });
  }
}

function diskFull(cause: unknown, dir: string): StorageError {
  return new StorageError("diskFull", { dir, what: `no space is left for ${dir}`, cause });
}

function isFileSystemFull(dir: string): boolean {
  try {
    return statfsSync(dir).bavail === 0;
  } catch {
    return false;
  }
}

/** The `code` of an error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
