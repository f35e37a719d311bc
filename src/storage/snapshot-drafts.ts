/**
 * Snapshot files on their way to their published names: one that is written here, and one that is
 * received from another server, which may take several attempts.
 */

import { assert } from "../base/assert.ts";
import { type Bytes, concatBytes } from "../base/bytes.ts";
import type { SnapshotReceiver, SnapshotWriter } from "../replica/ports.ts";
import type { StorageError } from "./errors.ts";
import type { AppendFile, FileStore, ReadFile } from "./files.ts";
import type { SnapshotEncoder } from "./snapshot-format.ts";

/** Pieces gather up to this before they go to the file: each write is a trip to another thread. */
const GATHERED_BYTES_MIN = 128 * 1024;
/**
 * Synced whenever so much was written. One sync of a whole large file would keep the disk busy for
 * as long as it takes, and the log's synced writes wait behind it.
 */
const UNSYNCED_BYTES_MAX = 4 * 1024 * 1024;

export interface FileDraftOptions {
  readonly files: FileStore;
  readonly encoder: SnapshotEncoder;
  readonly draftName: string;
  readonly publishedName: string;
  /** Opens the draft, empty. */
  readonly open: () => Promise<AppendFile>;
  /** Published or aborted. */
  readonly onEnd: () => void;
}

export class FileDraft implements SnapshotWriter {
  readonly draftName: string;
  readonly #options: FileDraftOptions;
  readonly #opened: Promise<AppendFile>;
  #gathered: Bytes[] = [];
  #gatheredBytes = 0;
  #unsyncedBytes = 0;
  #isTaking = true;
  #hasEnded = false;
  /** The call that is under way, if any. An abort waits for it. */
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: FileDraftOptions) {
    this.draftName = options.draftName;
    this.#options = options;
    this.#opened = options.open();
    // Its failure is told by the first call that needs the file.
    this.#opened.catch(() => {});
    this.#gather(options.encoder.start);
  }

  append(piece: Bytes): Promise<void> {
    assert(this.#isTaking, "a draft that failed or ended takes nothing more");
    // Encoding copies, so the caller may use its bytes again.
    for (const block of this.#options.encoder.blocks(piece)) this.#gather(block);
    if (this.#gatheredBytes < GATHERED_BYTES_MIN) return Promise.resolve();
    return this.#run((file) => this.#flush(file));
  }

  publish(): Promise<number> {
    assert(this.#isTaking, "a draft is published once");
    this.#isTaking = false;
    const { files, publishedName } = this.#options;
    return this.#run(async (file) => {
      this.#gather(this.#options.encoder.end());
      await this.#flush(file);
      await file.sync();
      await file.close();
      await files.publish(this.draftName, publishedName);
      this.#end();
      return file.fileBytes;
    });
  }

  async abort(): Promise<void> {
    this.#isTaking = false;
    await this.#underWay.catch(() => {});
    if (this.#hasEnded) return;
    this.#end();
    const file = await this.#opened.catch(() => undefined);
    // The file is given up, whatever is wrong with it; remains are removed by the next retain.
    await file?.close().catch(() => {});
    await this.#options.files.remove(this.draftName).catch(() => {});
  }

  #gather(bytes: Bytes): void {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
  }

  async #flush(file: AppendFile): Promise<void> {
    const bytes = concatBytes(...this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    await file.append(bytes);
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < UNSYNCED_BYTES_MAX) return;
    this.#unsyncedBytes = 0;
    await file.sync();
  }

  #run<T>(run: (file: AppendFile) => Promise<T>): Promise<T> {
    const call = this.#opened.then(run).catch((error: unknown) => {
      this.#isTaking = false;
      throw error;
    });
    this.#underWay = call;
    return call;
  }

  #end(): void {
    this.#hasEnded = true;
    this.#options.onEnd();
  }
}

export interface FileReceiverOptions {
  readonly files: FileStore;
  readonly draftName: string;
  readonly publishedName: string;
  /** Of the whole file. */
  readonly fileBytes: number;
  /** Rejects when the file is not what it should be. */
  readonly verify: (file: ReadFile) => Promise<void>;
  readonly refused: (found: string) => StorageError;
  /** Published, dropped or suspended. */
  readonly onEnd: () => void;
}

export class FileReceiver implements SnapshotReceiver {
  readonly #options: FileReceiverOptions;
  readonly #file: AppendFile;
  #unsyncedBytes = 0;
  #isEnded = false;

  private constructor(options: FileReceiverOptions, file: AppendFile) {
    this.#options = options;
    this.#file = file;
  }

  static async open(options: FileReceiverOptions): Promise<FileReceiver> {
    const { files, draftName, fileBytes } = options;
    const file = await files.openForAppend(draftName);
    if (file.fileBytes <= fileBytes) return new FileReceiver(options, file);
    await file.close();
    await files.remove(draftName);
    return new FileReceiver(options, await files.openForAppend(draftName));
  }

  get offset(): number {
    return this.#file.fileBytes;
  }

  async append(bytes: Bytes): Promise<void> {
    assert(!this.#isEnded, "a receiver that ended takes nothing more");
    const { fileBytes, refused } = this.#options;
    if (this.offset + bytes.length > fileBytes) {
      await this.#drop();
      throw refused(`more than its ${fileBytes} bytes`);
    }
    await this.#file.append(bytes);
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < UNSYNCED_BYTES_MAX) return;
    this.#unsyncedBytes = 0;
    try {
      await this.#file.sync();
    } catch (error) {
      // What is in the file now is not known, so no later attempt may go on from there.
      await this.#drop();
      throw error;
    }
  }

  async publish(): Promise<void> {
    assert(!this.#isEnded, "a receiver ends once");
    const { files, draftName, publishedName, onEnd } = this.#options;
    try {
      await this.#file.sync();
      await this.#verify();
    } catch (error) {
      await this.#drop();
      throw error;
    }
    this.#isEnded = true;
    try {
      await this.#file.close();
      await files.publish(draftName, publishedName);
    } finally {
      onEnd();
    }
  }

  async suspend(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    try {
      await this.#file.close();
    } finally {
      this.#options.onEnd();
    }
  }

  async #verify(): Promise<void> {
    const { files, draftName, fileBytes, verify, refused } = this.#options;
    if (this.offset < fileBytes) throw refused(`${this.offset} of its ${fileBytes} bytes`);
    const file = await files.openForRead(draftName);
    if (file === undefined) throw refused("its file is gone");
    try {
      await verify(file);
    } finally {
      await file.close();
    }
  }

  /** The failure that led here is the one to tell; remains are removed by the next retain. */
  async #drop(): Promise<void> {
    const { files, draftName } = this.#options;
    await this.suspend().catch(() => {});
    await files.remove(draftName).catch(() => {});
  }
}
