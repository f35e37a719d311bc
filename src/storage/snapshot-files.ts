/**
 * The SnapshotStore port on files in the folder `snapshots` of the data directory.
 *
 *   GROUP-INDEX-TERM-TIME.snapshot         whole, checked, durable
 *   GROUP-INDEX-TERM-TIME.draft            being written here
 *   GROUP-INDEX-TERM-TIME.BYTES.receiving  being received, of a file that has BYTES in the end
 *
 * A file gets its published name last: content synced, then renamed, then the folder synced. So a
 * failure before that, a full disk say, costs a draft and nothing else: the draft is dropped,
 * whatever failed is never tried again on the same file, and the store goes on.
 */

import { assert } from "../base/assert.ts";
import type { GroupId } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";
import type { LogPosition } from "../raft/types.ts";
import type {
  LoadedReplica,
  SnapshotFile,
  SnapshotName,
  SnapshotReceiver,
  SnapshotStore,
  SnapshotWriter,
} from "../replica/ports.ts";
import { StorageError } from "./errors.ts";
import type { FileStore, ReadFile } from "./files.ts";
import { positionText, SnapshotDecoder, SnapshotEncoder } from "./snapshot-format.ts";
import { FileDraft, FileReceiver } from "./snapshot-drafts.ts";

const FOLDER = "snapshots";
const PUBLISHED = ".snapshot";
const READ_BYTES = 256 * 1024;

export interface SnapshotFilesOptions {
  readonly files: FileStore;
  /** Where they lie, for messages. */
  readonly dir: string;
  readonly clusterId: string;
}

export class SnapshotFiles implements SnapshotStore {
  readonly #options: SnapshotFilesOptions;
  /** How often each published file is open. */
  readonly #open = new Map<string, number>();
  /** Published files to be removed once nobody has them open. */
  readonly #doomed = new Set<string>();
  readonly #drafts = new Map<GroupId, FileDraft>();
  /** Files that are being received, by name. */
  readonly #receiving = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: SnapshotFilesOptions) {
    this.#options = options;
  }

  create(name: SnapshotName): SnapshotWriter {
    const { files, clusterId } = this.#options;
    const draftName = `${pathOf(name)}.draft`;
    const earlier = this.#drafts.get(name.group);
    const draft = new FileDraft({
      files,
      encoder: new SnapshotEncoder({ ...name, clusterId }),
      draftName,
      publishedName: publishedName(name),
      open: () =>
        this.#inTurn(async () => {
          await earlier?.abort();
          await files.remove(draftName);
          return files.openForAppend(draftName);
        }),
      onEnd: () => {
        if (this.#drafts.get(name.group) === draft) this.#drafts.delete(name.group);
      },
    });
    this.#drafts.set(name.group, draft);
    return draft;
  }

  async *read(name: SnapshotName): AsyncGenerator<Bytes> {
    const file = await this.openFile(name);
    if (file === undefined) throw this.#damaged(name, "no such file");
    try {
      yield* this.#verified(name, file);
    } finally {
      await file.close();
    }
  }

  async openFile(name: SnapshotName): Promise<SnapshotFile | undefined> {
    const path = publishedName(name);
    this.#open.set(path, (this.#open.get(path) ?? 0) + 1);
    let file: ReadFile | undefined;
    try {
      file = await this.#options.files.openForRead(path);
    } finally {
      if (file === undefined) await this.#onClosed(path);
    }
    return file === undefined ? undefined : this.#counted(path, file);
  }

  async receive(name: SnapshotName, fileBytes: number): Promise<SnapshotReceiver> {
    const { files } = this.#options;
    const draftName = `${pathOf(name)}.${fileBytes}.receiving`;
    assert(!this.#receiving.has(draftName), "a file is received once at a time");
    this.#receiving.add(draftName);
    try {
      const options = {
        files,
        draftName,
        fileBytes,
        publishedName: publishedName(name),
        verify: (file: ReadFile) => this.#verify(name, file),
        refused: (found: string) => this.#refused(name, found),
        onEnd: () => void this.#receiving.delete(draftName),
      };
      return await this.#inTurn(() => FileReceiver.open(options));
    } catch (error) {
      this.#receiving.delete(draftName);
      throw error;
    }
  }

  retain(group: GroupId, positions: readonly LogPosition[]): Promise<void> {
    const kept = positions.map((position) => `${pathOf({ group, position })}.`);
    return this.#inTurn(async () => {
      const { files } = this.#options;
      for (const { name } of await files.list(FOLDER)) {
        const path = `${FOLDER}/${name}`;
        if (!name.startsWith(`${group}-`)) continue;
        this.#doomed.delete(path);
        const isKept = kept.some((start) => path.startsWith(start));
        if (isKept || this.#isBeingWritten(group, path)) continue;
        if (this.#open.has(path)) this.#doomed.add(path);
        else await files.remove(path);
      }
    });
  }

  /** One after the other: what removes files, and what opens new ones under the same names. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  #isBeingWritten(group: GroupId, path: string): boolean {
    return this.#receiving.has(path) || this.#drafts.get(group)?.draftName === path;
  }

  #counted(path: string, file: ReadFile): SnapshotFile {
    let isOpen = true;
    return {
      fileBytes: file.fileBytes,
      read: (offset, length) => file.read(offset, length),
      close: async () => {
        if (!isOpen) return;
        isOpen = false;
        await file.close();
        await this.#onClosed(path);
      },
    };
  }

  async #onClosed(path: string): Promise<void> {
    const others = (this.#open.get(path) ?? 1) - 1;
    if (others > 0) {
      this.#open.set(path, others);
      return;
    }
    this.#open.delete(path);
    if (this.#doomed.delete(path)) await this.#options.files.remove(path);
  }

  /** Reads a received file to its end. Rejects with the refusal. */
  async #verify(name: SnapshotName, file: ReadFile): Promise<void> {
    const decoder = this.#decoder(name);
    for (let offset = 0; offset < file.fileBytes; offset += READ_BYTES) {
      const taken = decoder.push(await file.read(offset, READ_BYTES));
      if (!taken.ok) throw this.#refused(name, taken.error.found);
    }
    const end = decoder.finish();
    if (!end.ok) throw this.#refused(name, end.error.found);
  }

  async *#verified(name: SnapshotName, file: SnapshotFile): AsyncGenerator<Bytes> {
    const decoder = this.#decoder(name);
    for (let offset = 0; offset < file.fileBytes; offset += READ_BYTES) {
      const taken = decoder.push(await file.read(offset, READ_BYTES));
      if (!taken.ok) throw this.#damaged(name, taken.error.found);
      yield* taken.value;
    }
    const end = decoder.finish();
    if (!end.ok) throw this.#damaged(name, end.error.found);
  }

  #decoder(name: SnapshotName): SnapshotDecoder {
    return new SnapshotDecoder({ ...name, clusterId: this.#options.clusterId });
  }

  #damaged({ group, position }: SnapshotName, found: string): StorageError {
    const { dir } = this.#options;
    const { index } = position;
    const what =
      `the snapshot ${publishedName({ group, position })} in ${dir} is damaged ` +
      `(group ${group}, index ${index}, found: ${found})`;
    return new StorageError("damaged", { dir, what, place: { group, index } });
  }

  #refused(name: SnapshotName, found: string): StorageError {
    const { dir } = this.#options;
    const { group, position } = name;
    const what = `a received snapshot of group ${group} at ${position.index} is bad (${found})`;
    return new StorageError("badSnapshot", { dir, what, place: { group, index: position.index } });
  }
}

/**
 * Reads every snapshot that a log begins with. Rejects with `damaged` when one is not there, or not
 * whole: what it stood for is no longer in the log.
 */
export async function checkSnapshots(
  snapshots: SnapshotStore,
  replicas: readonly LoadedReplica[],
): Promise<void> {
  for (const { group, snapshot: position } of replicas) {
    if (position.index === 0) continue;
    const pieces = snapshots.read({ group, position })[Symbol.asyncIterator]();
    while ((await pieces.next()).done !== true);
  }
}

function pathOf({ group, position }: SnapshotName): string {
  return `${FOLDER}/${group}-${positionText(position)}`;
}

function publishedName(name: SnapshotName): string {
  return pathOf(name) + PUBLISHED;
}
