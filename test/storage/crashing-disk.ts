/**
 * A real disk on which a process can be ended at any point at which it asks for something to be
 * kept: LevelDB and files, behind the two seams of storage.
 *
 * Every call that changes the disk is a point. At the point where the process ends, the call has
 * had no effect, all of it, or a part; it never returns, and nothing that is asked for afterwards
 * happens. If the power went, too, what was not synced is lost as far as it may be.
 */

import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Bytes, bytesToHex } from "../../src/base/bytes.ts";
import type { AppendFile, FileEntry, FileStore, ReadFile } from "../../src/storage/files.ts";
import type { KeyValue, KeyValueStore, SyncedBatch } from "../../src/storage/level-db.ts";
import { openLevelDb } from "../../src/storage/level-db.ts";
import type { StoreDisk } from "../../src/storage/log-store.ts";
import { NodeFileStore } from "../../src/storage/node-files.ts";

export const CRASHES = ["before", "part", "after", "power"] as const;
export type Crash = (typeof CRASHES)[number];

export interface CrashAt {
  /** Number of the point, from 0. */
  readonly point: number;
  /**
   * How far the call came: not at all, half, or whole; `power` is whole, and then the power goes,
   * which takes what was not synced.
   */
  readonly crash: Crash;
}

interface Effect<T> {
  readonly whole: () => Promise<T>;
  /** Half of it, for calls that are not atomic. */
  readonly part?: () => Promise<unknown>;
}

export class CrashingDisk implements StoreDisk {
  readonly files: FileStore;
  /** What was asked for so far, and whether it can happen in part. */
  readonly points: { readonly name: string; readonly hasPart: boolean }[] = [];
  /** What was done so far. */
  readonly finished: string[] = [];
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #dir: string;
  readonly #inner: NodeFileStore;
  readonly #crashAt: CrashAt | undefined;
  readonly #open: (KeyValueStore | AppendFile)[] = [];
  #db: KeyValueStore | undefined;
  /** All that was ever put, for deletions that a power failure undoes. */
  readonly #put = new Map<string, KeyValue>();
  readonly #deleted = new Set<string>();
  /** Files without a durable name, and how much of each is synced. */
  readonly #drafts = new Map<string, { fileBytes: number; syncedBytes: number }>();
  readonly #removed = new Map<string, Bytes>();
  /** Files that have a durable name, and less of them synced than was written. */
  readonly #hollow = new Map<string, number>();
  #hasEnded = false;
  #end: () => void = () => undefined;

  constructor(dir: string, crashAt?: CrashAt) {
    this.#dir = dir;
    this.#inner = new NodeFileStore(dir);
    this.#crashAt = crashAt;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.files = this.#makeFiles();
  }

  readonly openDb: StoreDisk["openDb"] = async (location, mode) => {
    const open = async (): Promise<KeyValueStore> => {
      this.#db = await openLevelDb(location, mode);
      this.#open.push(this.#db);
      return this.#wrap(this.#db);
    };
    return mode === "createNew" ? this.#point("create LevelDB", { whole: open }) : open();
  };

  /** The disk as the next process finds it. */
  async release(): Promise<void> {
    if (this.#crashAt?.crash === "power") await this.#losePower();
    for (const one of this.#open) await one.close();
  }

  #wrap(inner: KeyValueStore): KeyValueStore {
    return {
      openBatch: () => this.#wrapBatch(inner.openBatch()),
      deleteUnsynced: (keys) => {
        const half = keys.slice(0, Math.ceil(keys.length / 2));
        for (const key of keys) this.#deleted.add(bytesToHex(key));
        return this.#point(`delete ${keys.length} entries`, {
          whole: () => inner.deleteUnsynced(keys),
          part: () => inner.deleteUnsynced(half),
        });
      },
      compact: (first, last) =>
        this.#point("compact LevelDB", { whole: () => inner.compact(first, last) }),
      scan: () => inner.scan(),
      close: () => this.#close(inner),
    };
  }

  async #close(one: KeyValueStore | AppendFile): Promise<void> {
    await this.#alive();
    this.#open.splice(this.#open.indexOf(one), 1);
    if (one === this.#db) this.#db = undefined;
    await one.close();
  }

  #wrapBatch(inner: SyncedBatch): SyncedBatch {
    const kinds = new Set<string>();
    const put = new Map<string, KeyValue>();
    const note = (key: Bytes): void => void kinds.add(String.fromCharCode(key[0] ?? 0));
    return {
      put: (key, value) => {
        note(key);
        put.set(bytesToHex(key), { key, value });
        inner.put(key, value);
      },
      delete: (key) => {
        note(key);
        inner.delete(key);
      },
      write: () =>
        this.#point(`write ${[...kinds].join("")}`, {
          whole: async () => {
            await inner.write();
            for (const [hex, record] of put) {
              this.#put.set(hex, record);
              this.#deleted.delete(hex);
            }
          },
        }),
    };
  }

  #makeFiles(): FileStore {
    const inner = this.#inner;
    return {
      list: async (folder): Promise<readonly FileEntry[]> => {
        await this.#alive();
        return inner.list(folder);
      },
      readWhole: async (name) => {
        await this.#alive();
        return inner.readWhole(name);
      },
      openForRead: async (name): Promise<ReadFile | undefined> => {
        await this.#alive();
        return inner.openForRead(name);
      },
      openForAppend: (name) =>
        this.#point(`open ${nameOf(name)}`, { whole: () => this.#openDraft(name) }),
      writeSynced: (name, offset, bytes) =>
        this.#point(`overwrite ${nameOf(name)}`, {
          whole: () => inner.writeSynced(name, offset, bytes),
          part: () => inner.writeSynced(name, offset, bytes.subarray(0, bytes.length / 2)),
        }),
      publish: (from, to) =>
        this.#point(`publish ${nameOf(to)}`, {
          whole: async () => {
            await inner.publish(from, to);
            const { fileBytes = 0, syncedBytes = 0 } = this.#drafts.get(from) ?? {};
            if (syncedBytes < fileBytes) this.#hollow.set(to, syncedBytes);
            this.#drafts.delete(from);
            this.#removed.delete(to);
          },
        }),
      remove: (name) =>
        this.#point(`remove ${nameOf(name)}`, {
          whole: async () => {
            const content = await inner.readWhole(name);
            await inner.remove(name);
            if (content !== undefined && !this.#drafts.delete(name)) {
              this.#removed.set(name, content);
            }
          },
        }),
    };
  }

  async #openDraft(name: string): Promise<AppendFile> {
    const file = await this.#inner.openForAppend(name);
    this.#open.push(file);
    const draft = { fileBytes: file.fileBytes, syncedBytes: file.fileBytes };
    this.#drafts.set(name, draft);
    return {
      get fileBytes() {
        return file.fileBytes;
      },
      append: (bytes) =>
        this.#point(`append to ${nameOf(name)}`, {
          whole: async () => {
            await file.append(bytes);
            draft.fileBytes = file.fileBytes;
          },
          part: () => file.append(bytes.subarray(0, bytes.length / 2)),
        }),
      sync: () =>
        this.#point(`sync ${nameOf(name)}`, {
          whole: async () => {
            await file.sync();
            draft.syncedBytes = draft.fileBytes;
          },
        }),
      close: () => this.#close(file),
    };
  }

  async #point<T>(name: string, { whole, part }: Effect<T>): Promise<T> {
    await this.#alive();
    const point = this.points.length;
    this.points.push({ name, hasPart: part !== undefined });
    if (point !== this.#crashAt?.point) {
      const result = await whole();
      this.finished.push(name);
      return result;
    }
    this.#hasEnded = true;
    if (this.#crashAt.crash === "part") await part?.();
    else if (this.#crashAt.crash !== "before") await whole();
    this.#end();
    return never();
  }

  /** Never resolves once the process has ended. */
  #alive(): Promise<void> {
    return this.#hasEnded ? never() : Promise.resolve();
  }

  /** Every other deletion comes back, and so do removed files; drafts lose their names or ends. */
  async #losePower(): Promise<void> {
    const batch = this.#db?.openBatch();
    for (const [at, hex] of [...this.#deleted].entries()) {
      const record = this.#put.get(hex);
      if (at % 2 === 0 && record !== undefined) batch?.put(record.key, record.value);
    }
    await batch?.write();
    for (const [name, content] of this.#removed) writeFileSync(join(this.#dir, name), content);
    for (const [name, syncedBytes] of this.#hollow) {
      truncateSync(join(this.#dir, name), syncedBytes);
    }
    for (const [at, [name, { syncedBytes }]] of [...this.#drafts].entries()) {
      const path = join(this.#dir, name);
      if (!existsSync(path)) continue;
      if (at % 2 === 0) truncateSync(path, Math.min(syncedBytes, readFileSync(path).length));
      else rmSync(path);
    }
  }
}

function nameOf(path: string): string {
  return basename(path);
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
