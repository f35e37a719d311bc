/**
 * The FileStore port on Node's file system, in a server's data directory.
 *
 * `write` of the system may stop short; every loop here goes on until all bytes are there or the
 * system says why not.
 */

import { constants } from "node:fs";
import { type FileHandle, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assert } from "../base/assert.ts";
import type { Bytes } from "../base/bytes.ts";
import { codeOf, fromLevelError } from "./errors.ts";
import type { AppendFile, FileEntry, FileStore, ReadFile } from "./files.ts";
import { createDirectory, isUsableDirectory, readBytesIfPresent, syncPath } from "./paths.ts";

const NAME = /^(?:[\w-]+\/)?[\w-][\w.-]*$/;

export class NodeFileStore implements FileStore {
  readonly #dir: string;

  constructor(dataDir: string) {
    this.#dir = dataDir;
  }

  async list(folder: string): Promise<readonly FileEntry[]> {
    const path = this.#path(folder);
    if (!(await isUsableDirectory(path))) return [];
    return translated(path, async () => {
      const entries: FileEntry[] = [];
      for (const name of (await readdir(path)).toSorted(byCodeUnits)) {
        const fileBytes = await sizeIfFile(join(path, name));
        if (fileBytes !== undefined) entries.push({ name, fileBytes });
      }
      return entries;
    });
  }

  async readWhole(name: string): Promise<Bytes | undefined> {
    const buffer = await readBytesIfPresent(this.#path(name));
    return buffer === undefined ? undefined : plain(buffer);
  }

  async openForAppend(name: string): Promise<AppendFile> {
    const path = this.#path(name);
    return translated(path, async () => {
      await createDirectory(dirname(path));
      const handle = await open(path, "a");
      try {
        return new NodeAppendFile(path, handle, (await handle.stat()).size);
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  async openForRead(name: string): Promise<ReadFile | undefined> {
    const path = this.#path(name);
    return translated(path, async () => {
      const handle = await openIfPresent(path);
      if (handle === undefined) return undefined;
      try {
        return new NodeReadFile(path, handle, (await handle.stat()).size);
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  writeSynced(name: string, offset: number, bytes: Bytes): Promise<void> {
    const path = this.#path(name);
    return translated(path, async () => {
      const handle = await open(path, constants.O_WRONLY);
      try {
        for (let at = 0; at < bytes.length;) {
          at += (await handle.write(bytes, at, bytes.length - at, offset + at)).bytesWritten;
        }
        await handle.datasync();
      } finally {
        await handle.close();
      }
    });
  }

  publish(from: string, to: string): Promise<void> {
    const path = this.#path(to);
    assert(dirname(path) === dirname(this.#path(from)), "a file is published in its folder");
    return translated(path, async () => {
      await rename(this.#path(from), path);
      await syncPath(dirname(path));
    });
  }

  remove(name: string): Promise<void> {
    const path = this.#path(name);
    return translated(path, async () => {
      try {
        await unlink(path);
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
      }
    });
  }

  #path(name: string): string {
    assert(NAME.test(name), "a file name stays within the data directory");
    return join(this.#dir, name);
  }
}

class NodeAppendFile implements AppendFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  #fileBytes: number;

  constructor(path: string, handle: FileHandle, fileBytes: number) {
    this.#path = path;
    this.#handle = handle;
    this.#fileBytes = fileBytes;
  }

  get fileBytes(): number {
    return this.#fileBytes;
  }

  append(bytes: Bytes): Promise<void> {
    return translated(this.#path, async () => {
      await this.#handle.appendFile(bytes);
      this.#fileBytes += bytes.length;
    });
  }

  sync(): Promise<void> {
    return translated(this.#path, () => this.#handle.datasync());
  }

  close(): Promise<void> {
    return translated(this.#path, () => this.#handle.close());
  }
}

class NodeReadFile implements ReadFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly fileBytes: number;

  constructor(path: string, handle: FileHandle, fileBytes: number) {
    this.#path = path;
    this.#handle = handle;
    this.fileBytes = fileBytes;
  }

  read(offset: number, length: number): Promise<Bytes> {
    return translated(this.#path, async () => {
      const bytes = new Uint8Array(Math.max(0, Math.min(length, this.fileBytes - offset)));
      let at = 0;
      while (at < bytes.length) {
        const { bytesRead } = await this.#handle.read(bytes, at, bytes.length - at, offset + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return bytes.subarray(0, at);
    });
  }

  close(): Promise<void> {
    return translated(this.#path, () => this.#handle.close());
  }
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** undefined when there is none any more, or when it is a folder. */
async function sizeIfFile(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function translated<T>(path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw fromLevelError(error, path);
  }
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A Buffer's slice() shares memory unlike that of the type it claims to be. */
function plain(buffer: Buffer): Bytes {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
