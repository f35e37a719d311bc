/**
 * The little that the log store needs of LevelDB, as an interface (the seam at which tests inject
 * failing disks), and its implementation on the `level` package.
 *
 * Facts it relies on (classic-level 3.0.0 on LevelDB 1.20, read in their source): a chained batch
 * copies keys and values at once and is one atomic record of the write-ahead file; `sync: true` is
 * an fdatasync of that file; keys come back in byte order. The chained form is used because the
 * array form costs ten times as much on the main thread.
 */

import { mkdir, stat } from "node:fs/promises";
import { Level } from "level";
import type { Bytes } from "../base/bytes.ts";
import { fromLevelError, StorageError } from "./errors.ts";

export interface KeyValue {
  readonly key: Bytes;
  readonly value: Bytes;
}

/** Changes that become durable together or not at all; a later change of a key wins. */
export interface SyncedBatch {
  put(key: Bytes, value: Bytes): void;
  delete(key: Bytes): void;
  /** Resolves when all of it is on disk. After a rejection nothing is known. */
  write(): Promise<void>;
}

export interface KeyValueStore {
  openBatch(): SyncedBatch;
  /**
   * Deletes records that nothing needs any more, without waiting for the disk: a crash may bring
   * any of them back. A rejection is that of a write, as serious as one of a synced batch.
   */
  deleteUnsynced(keys: readonly Bytes[]): Promise<void>;
  /**
   * Gives back the disk space of what was deleted from firstKey to lastKey, both included. Changes
   * nothing that is read. May take seconds; writes go on meanwhile.
   */
  compact(firstKey: Bytes, lastKey: Bytes): Promise<void>;
  /** All records in key order, in portions. */
  scan(): AsyncIterable<readonly KeyValue[]>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/** Two write buffers may be in memory at once; a larger one means fewer stalls by flushes. */
const WRITE_BUFFER_BYTES = 32 * 2 ** 20;
const SCAN_PORTION_ENTRIES = 1000;
const SCAN_PORTION_BYTES = 2 ** 20;

/**
 * The folders (device and inode) that this process has open. LevelDB's lock is the kernel's, per
 * process: a second open of a held folder fails, but in failing it closes the lock file, and that
 * silently gives the first one's lock away (env_posix.cc). So it must not get that far.
 */
const openFolders = new Set<string>();

/** `level` is typed for browsers as well; under Node it is classic-level, which has this method. */
type NativeLevel = Level<Bytes, Bytes> & {
  compactRange(start: Bytes, end: Bytes): Promise<void>;
};

/** Opens LevelDB in a folder. Rejects with a StorageError. */
export async function openLevelDb(
  location: string,
  mode: "createNew" | "openExisting",
): Promise<KeyValueStore> {
  const folder = await identifyFolder(location, mode);
  if (openFolders.has(folder)) {
    const what = `${location} is in use by this process`;
    throw new StorageError("dataDirInUse", { dir: location, what });
  }
  openFolders.add(folder);
  const db = new Level<Bytes, Bytes>(location, {
    keyEncoding: "view",
    valueEncoding: "view",
    compression: false,
    writeBufferSize: WRITE_BUFFER_BYTES,
    createIfMissing: mode === "createNew",
    errorIfExists: mode === "createNew",
  }) as NativeLevel;
  try {
    await db.open();
  } catch (error) {
    openFolders.delete(folder);
    throw fromLevelError(error, location);
  }
  return new LevelKeyValueStore(db, () => openFolders.delete(folder));
}

async function identifyFolder(
  location: string,
  mode: "createNew" | "openExisting",
): Promise<string> {
  try {
    if (mode === "createNew") await mkdir(location, { recursive: true });
    const { dev, ino } = await stat(location, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    throw fromLevelError(error, location);
  }
}

class LevelKeyValueStore implements KeyValueStore {
  readonly #db: NativeLevel;
  readonly #onClosed: () => void;

  constructor(db: NativeLevel, onClosed: () => void) {
    this.#db = db;
    this.#onClosed = onClosed;
  }

  openBatch(): SyncedBatch {
    const batch = this.#db.batch();
    return {
      put: (key, value) => void batch.put(key, value),
      delete: (key) => void batch.del(key),
      write: () => batch.write({ sync: true }),
    };
  }

  async deleteUnsynced(keys: readonly Bytes[]): Promise<void> {
    const batch = this.#db.batch();
    for (const key of keys) batch.del(key);
    await batch.write({ sync: false });
  }

  compact(firstKey: Bytes, lastKey: Bytes): Promise<void> {
    return this.#db.compactRange(firstKey, lastKey);
  }

  async *scan(): AsyncGenerator<readonly KeyValue[]> {
    const iterator = this.#db.iterator({
      fillCache: false,
      highWaterMarkBytes: SCAN_PORTION_BYTES,
    });
    try {
      for (;;) {
        const portion = await iterator.nextv(SCAN_PORTION_ENTRIES);
        if (portion.length === 0) return;
        yield portion.map(([key, value]) => ({ key: plain(key), value: plain(value) }));
      }
    } finally {
      await iterator.close();
    }
  }

  async close(): Promise<void> {
    await this.#db.close();
    this.#onClosed();
  }
}

/** LevelDB answers Buffers, whose slice() shares memory unlike that of the type they claim. */
function plain(bytes: Bytes): Bytes {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
