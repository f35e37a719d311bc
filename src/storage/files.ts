/**
 * The little that storage needs of a file system beside LevelDB, as an interface: the seam at which
 * tests and simulations put a disk that fails, or that loses what was not synced.
 *
 * Names are relative to the server's data directory: "file", or "folder/file", never deeper.
 * Everything that rejects rejects with a StorageError.
 */

import type { Bytes } from "../base/bytes.ts";

export interface FileStore {
  /** The files in a folder, by name; none when the folder does not exist. */
  list(folder: string): Promise<readonly FileEntry[]>;
  /** The whole content of a small file; undefined when it does not exist. */
  readWhole(name: string): Promise<Bytes | undefined>;
  /**
   * Opens for appending at the end; makes the file, and its folder durably, if need be. The name of
   * a new file is durable only after `publish`.
   */
  openForAppend(name: string): Promise<AppendFile>;
  /** undefined when there is no such file. An open file stays readable after `remove`. */
  openForRead(name: string): Promise<ReadFile | undefined>;
  /**
   * Overwrites a part of an existing file in place, then makes its content durable (fdatasync). A
   * crash may leave any mixture of old and new bytes there. After a rejection the file must not be
   * written any more.
   */
  writeSynced(name: string, offset: number, bytes: Bytes): Promise<void>;
  /** Renames within a folder and makes the name durable (fsync of it). Replaces what was there. */
  publish(from: string, to: string): Promise<void>;
  /** A missing file is no error. Not durable: a crash may bring the file back. */
  remove(name: string): Promise<void>;
}

export interface FileEntry {
  /** Without the folder. */
  readonly name: string;
  readonly fileBytes: number;
}

export interface AppendFile {
  /** What the file holds now, what was there when it was opened included. */
  readonly fileBytes: number;
  /** Not durable. After a rejection an unknown part of the bytes was added. */
  append(bytes: Bytes): Promise<void>;
  /** fdatasync. After a rejection the file's content is unknown and must not be trusted. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface ReadFile {
  readonly fileBytes: number;
  /** Fewer bytes than asked for only at the end of the file. */
  read(offset: number, length: number): Promise<Bytes>;
  close(): Promise<void>;
}

/**
 * Writes a small file as a whole: after a crash the old content is there, or the new one. Under
 * another name first, which is not given to anything else.
 */
export async function publishWhole(files: FileStore, name: string, content: Bytes): Promise<void> {
  const draft = `${name}.draft`;
  await files.remove(draft);
  const file = await files.openForAppend(draft);
  try {
    await file.append(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.publish(draft, name);
}
