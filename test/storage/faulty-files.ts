/**
 * A FileStore that fails when the test says so: before a call reaches the files beneath, the test
 * may throw. A call that fails has done nothing, except that half of an append is there.
 */

import type { Bytes } from "../../src/base/bytes.ts";
import { StorageError, type StorageErrorCode } from "../../src/storage/errors.ts";
import type { AppendFile, FileEntry, FileStore, ReadFile } from "../../src/storage/files.ts";

export type FileCall = Exclude<keyof FileStore, "openForAppend"> | "open" | keyof AppendFile;

export class FaultyFiles implements FileStore {
  readonly calls: string[] = [];
  readonly #inner: FileStore;
  #failing: { readonly call: FileCall; readonly code: StorageErrorCode } | undefined;

  constructor(inner: FileStore) {
    this.#inner = inner;
  }

  /** Every call of this kind fails from now on. */
  fail(call: FileCall, code: StorageErrorCode): void {
    this.#failing = { call, code };
  }

  heal(): void {
    this.#failing = undefined;
  }

  async list(folder: string): Promise<readonly FileEntry[]> {
    this.#enter("list", folder);
    return this.#inner.list(folder);
  }

  async readWhole(name: string): Promise<Bytes | undefined> {
    this.#enter("readWhole", name);
    return this.#inner.readWhole(name);
  }

  async openForAppend(name: string): Promise<AppendFile> {
    this.#enter("open", name);
    const inner = await this.#inner.openForAppend(name);
    return {
      get fileBytes() {
        return inner.fileBytes;
      },
      append: async (bytes) => {
        if (this.#failing?.call === "append")
          await inner.append(bytes.subarray(0, bytes.length / 2));
        this.#enter("append", name);
        return inner.append(bytes);
      },
      sync: async () => {
        this.#enter("sync", name);
        return inner.sync();
      },
      close: async () => {
        this.#enter("close", name);
        return inner.close();
      },
    };
  }

  async openForRead(name: string): Promise<ReadFile | undefined> {
    this.#enter("openForRead", name);
    return this.#inner.openForRead(name);
  }

  async writeSynced(name: string, offset: number, bytes: Bytes): Promise<void> {
    this.#enter("writeSynced", name);
    return this.#inner.writeSynced(name, offset, bytes);
  }

  async publish(from: string, to: string): Promise<void> {
    this.#enter("publish", to);
    return this.#inner.publish(from, to);
  }

  async remove(name: string): Promise<void> {
    this.#enter("remove", name);
    return this.#inner.remove(name);
  }

  #enter(call: FileCall, name: string): void {
    this.calls.push(`${call} ${name}`);
    if (this.#failing?.call !== call) return;
    throw new StorageError(this.#failing.code, { dir: name, what: `injected at ${call}` });
  }
}
