/**
 * The durable log on LevelDB: steps become synced batches, one in flight per store.
 *
 *   1. an idle store starts a batch in a microtask: groups that flush in one turn share it;
 *   2. steps that come while a batch is in flight are encoded at once into the next one;
 *   3. when a batch is on disk the next starts, and only then are its steps' callbacks run.
 *
 * A rejected write ends it all: LevelDB does not remember a failed append, so a later "successful"
 * write could be dropped at the next open (research, fact 3). Nothing is acknowledged any more,
 * onFatal is called once, and what is submitted afterwards is let go, as it is after close().
 */

import { assert, defined } from "../base/assert.ts";
import type { GroupId, LogIndex } from "../base/brands.ts";
import type { DurableStep, LogStore } from "../replica/ports.ts";
import { encodeEntry } from "./entry-record.ts";
import { fromLevelError, type StorageError } from "./errors.ts";
import type { GroupLog } from "./group-log.ts";
import {
  ENTRY_KEY_BYTES,
  entryKey,
  hardStateKey,
  snapshotPointerKey,
  STORE_HEAD_KEY,
} from "./keys.ts";
import type { KeyValueStore, SyncedBatch } from "./level-db.ts";
import {
  encodeHardState,
  encodeSnapshotPointer,
  encodeStoreHead,
  type StoreHead,
} from "./records.ts";
import { assertStepFits, lastKeptIndex } from "./step-contract.ts";
import { type DeadEntries, Trimmer } from "./trimmer.ts";

interface OpenBatch {
  readonly changes: SyncedBatch;
  readonly writeSequence: number;
  /** Groups with a step in it; their hard states are added when the batch starts. */
  readonly touched: Set<GroupLog>;
  readonly callbacks: (() => void)[];
  /** What is dead once this batch is durable. */
  readonly dead: DeadEntries[];
}

export class LevelLogStore implements LogStore {
  readonly #db: KeyValueStore;
  readonly #dir: string;
  readonly #logs: ReadonlyMap<GroupId, GroupLog>;
  readonly #onFatal: (error: StorageError) => void;
  readonly #trimmer: Trimmer;
  /** As of the last batch that was started. */
  #head: StoreHead;
  #waiting: OpenBatch | undefined;
  #isWriting = false;
  #failure: StorageError | undefined;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: {
    readonly db: KeyValueStore;
    readonly dir: string;
    readonly logs: ReadonlyMap<GroupId, GroupLog>;
    readonly head: StoreHead;
    readonly onFatal: (error: StorageError) => void;
    /** Entries of an earlier process that were not deleted. */
    readonly remains?: readonly DeadEntries[];
  }) {
    this.#db = options.db;
    this.#dir = options.dir;
    this.#logs = options.logs;
    this.#head = options.head;
    this.#onFatal = options.onFatal;
    this.#trimmer = new Trimmer({
      db: options.db,
      isWriting: () => this.#isWriting,
      onRejected: (error) => this.#fail(error),
    });
    for (const dead of options.remains ?? []) this.#trimmer.add(dead);
  }

  submit(step: DurableStep): void {
    if (this.#failure !== undefined || this.#closed !== undefined) return;
    const log = defined(this.#logs.get(step.group), "a step belongs to a group of this store");
    assertStepFits(log, step);
    const batch = this.#waiting ?? this.#openBatch();
    stage(step, log, batch);
    batch.touched.add(log);
    batch.callbacks.push(step.onDurable);
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeWhenIdle();
    return this.#closed;
  }

  #openBatch(): OpenBatch {
    const batch: OpenBatch = {
      changes: this.#db.openBatch(),
      writeSequence: this.#head.writeSequence + 1,
      touched: new Set(),
      callbacks: [],
      dead: [],
    };
    this.#waiting = batch;
    if (!this.#isWriting) queueMicrotask(() => this.#startNext());
    return batch;
  }

  #startNext(): void {
    const batch = this.#waiting;
    if (batch === undefined) return;
    assert(!this.#isWriting, "one write is in flight");
    this.#waiting = undefined;
    this.#isWriting = true;
    this.#seal(batch);
    void batch.changes.write().then(
      () => this.#onWritten(batch),
      (error: unknown) => {
        this.#isWriting = false;
        this.#fail(error);
      },
    );
  }

  /** Adds what the batch's steps left behind: one hard state per group, and the store head. */
  #seal(batch: OpenBatch): void {
    const { writeSequence } = batch;
    let { sequenceSum } = this.#head;
    for (const log of batch.touched) {
      sequenceSum += writeSequence - log.writeSequence;
      log.writeSequence = writeSequence;
      batch.changes.put(hardStateKey(log.group), encodeHardState(log.toRecord()));
    }
    this.#head = { ...this.#head, writeSequence, sequenceSum };
    batch.changes.put(STORE_HEAD_KEY, encodeStoreHead(this.#head));
  }

  #onWritten(batch: OpenBatch): void {
    this.#isWriting = false;
    // A rejected deletion came first: nothing is acknowledged after it.
    if (this.#failure !== undefined) return this.#tellIfIdle();
    this.#startNext();
    for (const onDurable of batch.callbacks) onDurable();
    for (const dead of batch.dead) this.#trimmer.add(dead);
    this.#tellIfIdle();
  }

  #fail(error: unknown): void {
    this.#waiting = undefined;
    if (this.#failure === undefined) {
      this.#failure = fromLevelError(error, this.#dir);
      this.#onFatal(this.#failure);
    }
    this.#tellIfIdle();
  }

  #tellIfIdle(): void {
    if (this.#isWriting || this.#waiting !== undefined) return;
    this.#onIdle?.();
    this.#trimmer.onIdle();
  }

  async #closeWhenIdle(): Promise<void> {
    if (this.#isWriting || this.#waiting !== undefined) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#trimmer.stop();
    try {
      await this.#db.close();
    } catch (error) {
      throw fromLevelError(error, this.#dir);
    }
  }
}

/**
 * Puts a step into a batch, and the group's log ahead to its end. Changes keep their order, so a
 * truncation here also deletes entries that an earlier step put into the same batch.
 */
function stage(step: DurableStep, log: GroupLog, batch: OpenBatch): void {
  const { lastIndex } = log;
  const kept = lastKeptIndex(log, step);
  const startIndex = Math.max(kept, step.base?.index ?? 0);
  for (let index = startIndex + step.entries.length + 1; index <= lastIndex; index++) {
    batch.changes.delete(entryKey(log.group, index as LogIndex));
  }
  log.cutAfter(kept);
  if (step.base !== undefined) {
    const firstIndex = (log.base.index + 1) as LogIndex;
    const lastDeadIndex = Math.min(step.base.index, lastIndex) as LogIndex;
    const storedBytes = log.moveBase(step.base);
    if (lastDeadIndex >= firstIndex) {
      batch.dead.push({ group: log.group, firstIndex, lastIndex: lastDeadIndex, storedBytes });
    }
  }
  for (const entry of step.entries) {
    const { value, chain } = encodeEntry({
      group: log.group,
      entry,
      writeSequence: batch.writeSequence,
      prevChain: log.chainAt(log.lastIndex),
    });
    batch.changes.put(entryKey(log.group, entry.index), value);
    log.append(entry, chain, ENTRY_KEY_BYTES + value.length);
  }
  if (step.snapshot !== undefined && step.snapshot.index > 0) {
    log.snapshot = step.snapshot;
    const pointer = { group: log.group, position: step.snapshot };
    batch.changes.put(snapshotPointerKey(log.group), encodeSnapshotPointer(pointer));
  }
  if (step.hardState !== undefined) log.hardState = step.hardState;
}
