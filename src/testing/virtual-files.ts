/**
 * The file system of one simulated server, under the real stores (the seam FileStore of
 * storage/files.ts). It outlives the processes that use it.
 *
 * - A killed process loses nothing that was written.
 * - A power cut keeps of each file what was synced, and of what was appended since a part, perhaps
 *   torn; of what was being overwritten any mixture of old and new; of the renames and removals
 *   since a folder's last sync some of the first ones.
 */

import { assert } from "../base/assert.ts";
import { type Bytes, EMPTY_BYTES } from "../base/bytes.ts";
import type { Prng } from "../base/prng.ts";
import { StorageError } from "../storage/errors.ts";
import type { AppendFile, FileEntry, FileStore, ReadFile } from "../storage/files.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

interface Inode {
  content: Bytes;
  /** Its length at the last sync; everything up to there is durable. */
  syncedBytes: number;
}

type Names = Map<string, Inode>;

/** A change of names that a power cut may undo, until its folder is synced. */
interface NameChange {
  readonly folder: string;
  readonly apply: (names: Names) => void;
}

/** All files with their names, as a power cut would leave the synced ones. */
export type FilesImage = ReadonlyMap<string, Bytes>;

export class VirtualFiles {
  readonly #world: VirtualClock;
  readonly #prng: Prng;
  #syncMsMax: number;
  #names: Names = new Map();
  #durableNames: Names = new Map();
  #pending: NameChange[] = [];
  /** Of files that are being overwritten: what stood there. */
  readonly #mixtures = new Map<Inode, { old: Bytes; offset: number; length: number }>();
  #user: ProcessClock | undefined;
  #failsNextSync = false;

  constructor(options: {
    readonly world: VirtualClock;
    readonly prng: Prng;
    readonly syncMsMax: number;
  }) {
    this.#world = options.world;
    this.#prng = options.prng;
    this.#syncMsMax = options.syncMsMax;
  }

  setSyncMsMax(syncMsMax: number): void {
    this.#syncMsMax = syncMsMax;
  }

  /** The next sync of any file or folder is rejected, and what it would have kept is uncertain. */
  failNextSync(): void {
    this.#failsNextSync = true;
  }

  /** The files as one process sees them; the one before has ended. */
  open(clock: ProcessClock): FileStore {
    assert(this.#user === undefined, "one process at a time uses the files");
    this.#user = clock;
    return new ProcessFiles(this, clock);
  }

  /** The process has ended, however it did. */
  release(): void {
    this.#user = undefined;
    this.#failsNextSync = false;
  }

  /** Power is lost, and with it what was not made durable. The process has ended as well. */
  cutPower(): void {
    this.release();
    const kept = this.#prng.nextInteger(0, this.#pending.length);
    for (const change of this.#pending.slice(0, kept)) change.apply(this.#durableNames);
    this.#pending = [];
    this.#names = new Map(this.#durableNames);
    for (const inode of new Set(this.#names.values())) this.#tear(inode);
  }

  image(): FilesImage {
    return new Map([...this.#names].map(([name, { content }]) => [name, content.slice()] as const));
  }

  /** The files are as they were when the image was taken. No process uses them. */
  rollBack(image: FilesImage): void {
    assert(this.#user === undefined, "nobody uses the files");
    this.#pending = [];
    this.#names = new Map(
      [...image].map(([name, content]) => [
        name,
        { content: content.slice(), syncedBytes: content.length },
      ]),
    );
    this.#durableNames = new Map(this.#names);
  }

  list(folder: string): FileEntry[] {
    const prefix = folder === "" ? "" : `${folder}/`;
    const found = [...this.#names].flatMap(([path, { content }]) => {
      const name = path.slice(prefix.length);
      const isInside = path.startsWith(prefix) && !name.includes("/");
      return isInside ? [{ name, fileBytes: content.length }] : [];
    });
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): Inode | undefined {
    return this.#names.get(name);
  }

  create(name: string): Inode {
    const inode = { content: EMPTY_BYTES, syncedBytes: 0 };
    this.#change({ folder: folderOf(name), apply: (names) => void names.set(name, inode) });
    return inode;
  }

  remove(name: string): void {
    this.#change({ folder: folderOf(name), apply: (names) => void names.delete(name) });
  }

  rename(from: string, to: string): void {
    const inode = this.#names.get(from);
    assert(inode !== undefined, "what is renamed is there");
    const apply = (names: Names): void => {
      names.delete(from);
      names.set(to, inode);
    };
    this.#change({ folder: folderOf(to), apply });
  }

  append(inode: Inode, bytes: Bytes): void {
    const content = new Uint8Array(inode.content.length + bytes.length);
    content.set(inode.content);
    content.set(bytes, inode.content.length);
    inode.content = content;
  }

  /** Runs at the disk after a while, then `done` in the process; neither when that has ended. */
  later(clock: ProcessClock, isSync: boolean, run: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const delayMs = 0.02 + (isSync ? this.#prng.nextFraction() * this.#syncMsMax : 0);
      this.#world.after(delayMs, () => {
        if (this.#user !== clock) return;
        if (isSync && this.#failsNextSync) {
          this.#failsNextSync = false;
          const error = new StorageError("ioError", { dir: "virtual", what: "a sync failed" });
          return clock.enter(() => reject(error));
        }
        run();
        clock.enter(resolve);
      });
    });
  }

  /** Makes a folder's names durable, all changes so far included. */
  syncFolder(folder: string): void {
    for (const change of this.#pending) {
      if (change.folder === folder) change.apply(this.#durableNames);
    }
    this.#pending = this.#pending.filter((change) => change.folder !== folder);
  }

  /** Bytes are in place before they are durable: a power cut leaves any mixture. */
  overwrite(inode: Inode, offset: number, bytes: Bytes): void {
    const old = inode.content.slice();
    const content = old.slice();
    content.set(bytes, offset);
    inode.content = content;
    this.#mixtures.set(inode, { old, offset, length: bytes.length });
  }

  /** The file is durable up to a length. */
  synced(inode: Inode, length: number): void {
    this.#mixtures.delete(inode);
    inode.syncedBytes = Math.max(inode.syncedBytes, length);
  }

  #change(change: NameChange): void {
    change.apply(this.#names);
    this.#pending.push(change);
  }

  /** What the power cut leaves of a file. */
  #tear(inode: Inode): void {
    const mixture = this.#mixtures.get(inode);
    if (mixture !== undefined) {
      this.#mixtures.delete(inode);
      const content = inode.content.slice();
      for (let at = mixture.offset; at < mixture.offset + mixture.length; at++) {
        if (this.#prng.chance(0.5)) content[at] = mixture.old[at] ?? 0;
      }
      inode.content = content;
    }
    const { syncedBytes, content } = inode;
    const kept = this.#prng.nextInteger(syncedBytes, content.length);
    inode.content = content.slice(0, kept);
    // The length may be durable before the last bytes are.
    if (kept > syncedBytes && this.#prng.chance(0.3)) inode.content.fill(0, kept - 1);
    inode.syncedBytes = kept;
  }
}

class ProcessFiles implements FileStore {
  readonly #disk: VirtualFiles;
  readonly #clock: ProcessClock;

  constructor(disk: VirtualFiles, clock: ProcessClock) {
    this.#disk = disk;
    this.#clock = clock;
  }

  async list(folder: string): Promise<readonly FileEntry[]> {
    await this.#run(() => {});
    return this.#disk.list(folder);
  }

  async readWhole(name: string): Promise<Bytes | undefined> {
    await this.#run(() => {});
    return this.#disk.find(name)?.content.slice();
  }

  async openForAppend(name: string): Promise<AppendFile> {
    await this.#run(() => {});
    const inode = this.#disk.find(name) ?? this.#disk.create(name);
    return {
      get fileBytes() {
        return inode.content.length;
      },
      append: (bytes) => {
        const copy = bytes.slice();
        return this.#run(() => this.#disk.append(inode, copy));
      },
      sync: () => this.#syncFile(inode),
      close: () => Promise.resolve(),
    };
  }

  async openForRead(name: string): Promise<ReadFile | undefined> {
    await this.#run(() => {});
    const inode = this.#disk.find(name);
    if (inode === undefined) return undefined;
    return {
      fileBytes: inode.content.length,
      read: async (offset, length) => {
        await this.#run(() => {});
        return inode.content.slice(offset, offset + length);
      },
      close: () => Promise.resolve(),
    };
  }

  async writeSynced(name: string, offset: number, bytes: Bytes): Promise<void> {
    const inode = this.#disk.find(name);
    if (inode === undefined) throw noFile(name);
    const copy = bytes.slice();
    await this.#run(() => this.#disk.overwrite(inode, offset, copy));
    await this.#syncFile(inode);
  }

  async publish(from: string, to: string): Promise<void> {
    if (this.#disk.find(from) === undefined) throw noFile(from);
    await this.#run(() => this.#disk.rename(from, to));
    await this.#sync(() => this.#disk.syncFolder(folderOf(to)));
  }

  remove(name: string): Promise<void> {
    return this.#run(() => this.#disk.remove(name));
  }

  #run(act: () => void): Promise<void> {
    return this.#disk.later(this.#clock, false, act);
  }

  /** What is appended while it runs may stay behind. */
  #syncFile(inode: Inode): Promise<void> {
    const { length } = inode.content;
    return this.#sync(() => this.#disk.synced(inode, length));
  }

  #sync(act: () => void): Promise<void> {
    return this.#disk.later(this.#clock, true, act);
  }
}

function noFile(name: string): StorageError {
  return new StorageError("ioError", { dir: "virtual", what: `there is no file ${name}` });
}

function folderOf(name: string): string {
  return name.includes("/") ? name.slice(0, name.indexOf("/")) : "";
}
