/**
 * Cleans up behind logs that have moved their beginning: deletes the entries that no longer count,
 * then has LevelDB give their space back. None of it is urgent and none of it is synced: what a
 * crash undoes is found as remains at the next open and deleted then.
 *
 * One small deletion is under way at a time, so that a synced write never waits for more than one
 * of them. LevelDB does not give space back by itself when a log only ever grows at one end and is
 * deleted at the other (its tables never overlap, so it moves them and never merges them); it is
 * asked to once enough was deleted, one range at a time: in a moment without writes, or, when none
 * comes, at twice that amount.
 */

import type { GroupId, LogIndex } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";
import { entryKey } from "./keys.ts";
import type { KeyValueStore } from "./level-db.ts";

/** Entries at or below a log's base, durably so, and perhaps still on disk. */
export interface DeadEntries {
  readonly group: GroupId;
  readonly firstIndex: LogIndex;
  readonly lastIndex: LogIndex;
  /** Of keys and records, about. */
  readonly storedBytes: number;
}

/** Keys of one deletion: far less work than a synced write of LevelDB is. */
const DELETED_ENTRIES_MAX = 256;
/** A compaction also rewrites what lies around its range, so it must be worth it. */
const COMPACTED_BYTES_MIN = 32 * 2 ** 20;

export interface TrimmerOptions {
  readonly db: KeyValueStore;
  /** Whether a synced write is under way. */
  readonly isWriting: () => boolean;
  /** A deletion was rejected, which is as serious as any rejected write. */
  readonly onRejected: (error: unknown) => void;
  readonly compactedBytesMin?: number;
}

interface Deleted {
  firstIndex: LogIndex;
  lastIndex: LogIndex;
  storedBytes: number;
}

export class Trimmer {
  readonly #options: TrimmerOptions;
  readonly #compactedBytesMin: number;
  readonly #dead: DeadEntries[] = [];
  /** Deleted since the last compaction of the group. */
  readonly #deleted = new Map<GroupId, Deleted>();
  #isDeleting = false;
  #isCompacting = false;
  #isStopped = false;
  #onQuiet: (() => void) | undefined;

  constructor(options: TrimmerOptions) {
    this.#options = options;
    this.#compactedBytesMin = options.compactedBytesMin ?? COMPACTED_BYTES_MIN;
  }

  add(dead: DeadEntries): void {
    this.#dead.push(dead);
    this.#deleteNext();
  }

  /** No write is under way, for now. */
  onIdle(): void {
    this.#compactIfDue();
  }

  /** Begins nothing any more; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (!this.#isDeleting && !this.#isCompacting) return;
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
  }

  #deleteNext(): void {
    const dead = this.#dead[0];
    if (dead === undefined || this.#isDeleting || this.#isStopped) return;
    const { group, firstIndex, lastIndex } = dead;
    const endIndex = Math.min(lastIndex + 1, firstIndex + DELETED_ENTRIES_MAX);
    const keys: Bytes[] = [];
    for (let index = firstIndex as number; index < endIndex; index++) {
      keys.push(entryKey(group, index as LogIndex));
    }
    const storedBytes = (dead.storedBytes * keys.length) / (lastIndex + 1 - firstIndex);
    const rest = { ...dead, firstIndex: endIndex as LogIndex };
    if (endIndex > lastIndex) this.#dead.shift();
    else this.#dead[0] = { ...rest, storedBytes: dead.storedBytes - storedBytes };
    this.#isDeleting = true;
    void this.#options.db.deleteUnsynced(keys).then(
      () => {
        this.#noteDeleted({ ...dead, lastIndex: (endIndex - 1) as LogIndex, storedBytes });
        this.#deleteNext();
      },
      (error: unknown) => {
        this.#isStopped = true;
        this.#isDeleting = false;
        this.#options.onRejected(error);
        this.#tellIfQuiet();
      },
    );
  }

  #noteDeleted({ group, firstIndex, lastIndex, storedBytes }: DeadEntries): void {
    this.#isDeleting = false;
    const before = this.#deleted.get(group);
    this.#deleted.set(group, {
      firstIndex: Math.min(before?.firstIndex ?? firstIndex, firstIndex) as LogIndex,
      lastIndex: Math.max(before?.lastIndex ?? lastIndex, lastIndex) as LogIndex,
      storedBytes: (before?.storedBytes ?? 0) + storedBytes,
    });
    this.#compactIfDue();
    this.#tellIfQuiet();
  }

  #compactIfDue(): void {
    if (this.#isCompacting || this.#isStopped) return;
    const isIdle = !this.#options.isWriting();
    const bytesMin = this.#compactedBytesMin * (isIdle ? 1 : 2);
    for (const [group, deleted] of this.#deleted) {
      if (deleted.storedBytes < bytesMin) continue;
      this.#deleted.delete(group);
      this.#compact(group, deleted);
      return;
    }
  }

  #compact(group: GroupId, { firstIndex, lastIndex }: Deleted): void {
    this.#isCompacting = true;
    const done = (): void => {
      this.#isCompacting = false;
      this.#compactIfDue();
      this.#tellIfQuiet();
    };
    // If it fails, LevelDB keeps the failure and rejects the next write with it.
    void this.#options.db
      .compact(entryKey(group, firstIndex), entryKey(group, lastIndex))
      .then(done, done);
  }

  #tellIfQuiet(): void {
    if (this.#isStopped && !this.#isDeleting && !this.#isCompacting) this.#onQuiet?.();
  }
}
