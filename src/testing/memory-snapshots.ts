/**
 * Snapshot files in memory, and a network that carries them between servers: SnapshotStore and
 * SnapshotSource for simulations and unit tests. A test may hold up or fail any operation, crash
 * the store, and damage a file.
 */

import { assert, defined } from "../base/assert.ts";
import { type Bytes, concatBytes } from "../base/bytes.ts";
import type { GroupId, ServerId } from "../base/brands.ts";
import { crc32c } from "../base/crc32c.ts";
import type { LogPosition } from "../raft/types.ts";
import type {
  SnapshotChunk,
  SnapshotFile,
  SnapshotName,
  SnapshotReceiver,
  SnapshotRequest,
  SnapshotSource,
  SnapshotStore,
  SnapshotWriter,
  Timers,
} from "../replica/ports.ts";
import { StorageError } from "../storage/errors.ts";

export type SnapshotOperation =
  | "create"
  | "append"
  | "publish"
  | "read"
  | "openFile"
  | "receive"
  | "receiveAppend"
  | "receivePublish"
  | "retain";

/** Runs before an operation takes effect: may delay it, or reject in its place. */
export type BeforeOperation = (
  operation: SnapshotOperation,
  group: GroupId,
) => Promise<void> | undefined;

/** A checksum at the end is all the framing there is. */
const FOOTER_BYTES = 4;

interface Draft {
  readonly fileBytes: number;
  parts: Bytes[];
}

export class MemorySnapshotStore implements SnapshotStore {
  /** Replaced by a test at any time. */
  before: BeforeOperation = () => undefined;
  readonly #files: Map<string, Bytes>;
  readonly #drafts: Map<string, Draft>;
  #isCrashed = false;

  constructor(former?: MemorySnapshotStore) {
    this.#files = new Map(former === undefined ? [] : former.#files);
    this.#drafts = new Map(former === undefined ? [] : former.#drafts);
  }

  /** The process dies: nothing that is under way ever ends. */
  crash(): void {
    this.#isCrashed = true;
  }

  /** What the next process finds. Received parts are kept, other unfinished files are not. */
  reopen(): MemorySnapshotStore {
    assert(this.#isCrashed, "a store is opened once at a time");
    return new MemorySnapshotStore(this);
  }

  /** Indexes of the published files of a group, ascending. */
  published(group: GroupId): number[] {
    return indexesOf(this.#files, group);
  }

  /** Indexes of files that were received in part. */
  received(group: GroupId): number[] {
    return indexesOf(this.#drafts, group);
  }

  /** Flips a bit of a published file. */
  damage(name: SnapshotName): void {
    const file = defined(this.#files.get(keyOf(name)), "the file is published").slice();
    file[0] = (file[0] ?? 0) ^ 1;
    this.#files.set(keyOf(name), file);
  }

  create(name: SnapshotName): SnapshotWriter {
    const { group } = name;
    const begun = this.#run("create", group, () => {});
    const parts: Bytes[] = [];
    return {
      append: async (piece) => {
        await begun;
        await this.#run("append", group, () => parts.push(piece.slice()));
      },
      publish: () =>
        this.#run("publish", group, () => {
          const body = concatBytes(...parts);
          const file = concatBytes(body, footerOf(body));
          this.#files.set(keyOf(name), file);
          return file.length;
        }),
      abort: () => Promise.resolve(),
    };
  }

  async *read(name: SnapshotName): AsyncGenerator<Bytes, undefined, undefined> {
    const body = await this.#run("read", name.group, () => {
      const file = this.#files.get(keyOf(name));
      if (file === undefined) throw damaged(name, "it is missing");
      const parts = split(file);
      if (parts === undefined) throw damaged(name, "its checksum does not match");
      return parts;
    });
    const half = Math.ceil(body.length / 2);
    yield body.subarray(0, half);
    yield body.subarray(half);
    return undefined;
  }

  openFile(name: SnapshotName): Promise<SnapshotFile | undefined> {
    return this.#run("openFile", name.group, () => {
      const file = this.#files.get(keyOf(name));
      if (file === undefined) return undefined;
      return {
        fileBytes: file.length,
        read: (offset, length) => Promise.resolve(file.slice(offset, offset + length)),
        close: () => Promise.resolve(),
      };
    });
  }

  receive(name: SnapshotName, fileBytes: number): Promise<SnapshotReceiver> {
    return this.#run("receive", name.group, () => {
      const key = keyOf(name);
      const kept = this.#drafts.get(key);
      const draft = kept?.fileBytes === fileBytes ? kept : { fileBytes, parts: [] };
      this.#drafts.set(key, draft);
      return this.#receiver(name, draft);
    });
  }

  retain(group: GroupId, positions: readonly LogPosition[]): Promise<void> {
    return this.#run("retain", group, () => {
      const kept = new Set(positions.map((position) => keyOf({ group, position })));
      for (const files of [this.#files, this.#drafts]) {
        for (const key of files.keys()) {
          if (key.startsWith(`${group}/`) && !kept.has(key)) files.delete(key);
        }
      }
    });
  }

  #receiver(name: SnapshotName, draft: Draft): SnapshotReceiver {
    const { group } = name;
    return {
      offset: draft.parts.reduce((sum, part) => sum + part.length, 0),
      append: (bytes) =>
        this.#run("receiveAppend", group, () => void draft.parts.push(bytes.slice())),
      publish: () =>
        this.#run("receivePublish", group, () => {
          const file = concatBytes(...draft.parts);
          this.#drafts.delete(keyOf(name));
          if (file.length !== draft.fileBytes || split(file) === undefined) {
            throw damaged(name, "it was not received whole");
          }
          this.#files.set(keyOf(name), file);
        }),
      suspend: () => Promise.resolve(),
    };
  }

  async #run<T>(operation: SnapshotOperation, group: GroupId, effect: () => T): Promise<T> {
    await this.before(operation, group);
    if (this.#isCrashed) return new Promise<T>(() => {});
    return effect();
  }
}

export interface MemorySnapshotNetworkOptions {
  readonly timers: Timers;
  /** Whether bytes pass between two servers at this moment. */
  readonly reaches: (from: ServerId, to: ServerId) => boolean;
  readonly chunkBytes?: number;
  /** How long a chunk is under way. */
  readonly chunkMs?: number;
}

export class MemorySnapshotNetwork {
  readonly #options: MemorySnapshotNetworkOptions;
  readonly #stores = new Map<ServerId, SnapshotStore>();

  constructor(options: MemorySnapshotNetworkOptions) {
    this.#options = options;
  }

  /** The files of a server that runs; a restarted one joins again. */
  join(self: ServerId, store: SnapshotStore): SnapshotSource {
    this.#stores.set(self, store);
    return { fetch: (from, request, signal) => this.#fetch(self, from, request, signal) };
  }

  leave(self: ServerId): void {
    this.#stores.delete(self);
  }

  async *#fetch(
    self: ServerId,
    from: ServerId,
    request: SnapshotRequest,
    signal: AbortSignal,
  ): AsyncGenerator<SnapshotChunk, undefined, undefined> {
    const { chunkBytes = 64 } = this.#options;
    const store = this.#stores.get(from);
    const file = await store?.openFile(request.name);
    if (file === undefined) throw new Error(`server ${from} does not have the snapshot`);
    const { fileBytes } = file;
    for (let { offset } = request; offset < fileBytes; offset += chunkBytes) {
      await this.#travel();
      if (signal.aborted) throw new Error("the fetch was given up");
      if (this.#stores.get(from) !== store || !this.#options.reaches(self, from)) {
        throw new Error(`server ${from} cannot be reached`);
      }
      yield { fileBytes, offset, bytes: await file.read(offset, chunkBytes) };
    }
    return undefined;
  }

  #travel(): Promise<void> {
    const { timers, chunkMs = 1 } = this.#options;
    return new Promise((resolve) => {
      timers.after(chunkMs, resolve);
    });
  }
}

function keyOf({ group, position }: SnapshotName): string {
  return `${group}/${position.index}/${position.term}`;
}

function indexesOf(files: ReadonlyMap<string, unknown>, group: GroupId): number[] {
  return [...files.keys()]
    .filter((key) => key.startsWith(`${group}/`))
    .map((key) => Number(key.split("/")[1]))
    .toSorted((a, b) => a - b);
}

function footerOf(body: Bytes): Bytes {
  const footer = new Uint8Array(FOOTER_BYTES);
  new DataView(footer.buffer).setUint32(0, crc32c(body));
  return footer;
}

/** The body of a file whose checksum matches. */
function split(file: Bytes): Bytes | undefined {
  const at = file.length - FOOTER_BYTES;
  if (at < 0) return undefined;
  const body = file.subarray(0, at);
  return footerOf(body).every((byte, i) => byte === file[at + i]) ? body : undefined;
}

function damaged({ group, position }: SnapshotName, what: string): StorageError {
  return new StorageError("damaged", {
    dir: "memory",
    what: `the snapshot at ${position.index} of group ${group}: ${what}`,
    place: { group, index: position.index },
  });
}
