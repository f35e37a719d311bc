/**
 * The file of what was acknowledged, in memory: a FileStore that has one file, whose writes finish
 * at once or when the test says so.
 */

import { expect } from "vitest";
import type { Bytes } from "../../src/base/bytes.ts";
import type { AppendFile, FileEntry, FileStore, ReadFile } from "../../src/storage/files.ts";
import { FakeCall } from "./fake-db.ts";

export class FakeFiles implements FileStore {
  content: Bytes | undefined;
  /** Writes of a part of the file that wait for the test; undefined: none has to wait. */
  held: FakeCall[] | undefined;
  #draft: Bytes = new Uint8Array(0);

  async list(): Promise<readonly FileEntry[]> {
    return [];
  }

  async readWhole(): Promise<Bytes | undefined> {
    return this.content?.slice();
  }

  async openForAppend(): Promise<AppendFile> {
    this.#draft = new Uint8Array(0);
    return {
      fileBytes: 0,
      append: async (bytes) => {
        this.#draft = bytes.slice();
      },
      sync: async () => {},
      close: async () => {},
    };
  }

  async openForRead(): Promise<ReadFile | undefined> {
    return undefined;
  }

  async writeSynced(_name: string, offset: number, bytes: Bytes): Promise<void> {
    if (this.held !== undefined) {
      const call = new FakeCall();
      this.held.push(call);
      await call.done;
    }
    (this.content ?? expect.fail("the file is missing")).set(bytes, offset);
  }

  async publish(): Promise<void> {
    this.content = this.#draft;
  }

  async remove(): Promise<void> {}
}
