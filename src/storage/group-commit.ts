/**
 * The durable log on LevelDB: steps become synced batches, one in flight per store.
 *
 *   1. an idle store starts a batch in a microtask: groups that flush in one turn share it;
 *   2. steps that come while a batch is in flight are encoded at once into the next one;
 *   3. a batch that changes a term or a vote is followed by the second record (acknowledged.ts);
 *   4. when all that is on disk the next starts, and only then are its steps' callbacks run.
 *
 * A rejected write ends it all: LevelDB does not remember a failed append, so a later write could
 * be dropped at the next open (research, fact 3). onFatal is called once, and nothing is taken on.
 */

import { assert, defined } from "../base/assert.ts";
import type { GroupId, LogIndex, ServerId } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";
import type { DurableStep, LogStore } from "../replica/ports.ts";
import { Acknowledgements, acknowledgedOf, type AcknowledgementsOptions } from "./acknowledged.ts";
import type { Acknowledged } from "./acknowledged-file.ts";
import { encodeEntry } from "./entry-record.ts";
import { fromLevelError, type StorageError } from "./errors.ts";
import type { GroupLog } from "./group-log.ts";
import {
  ADMISSION_KEY,
  ENTRY_KEY_BYTES,
  entryKey,
  hardStateKey,
  peerKey,
  snapshotPointerKey,
  STORE_HEAD_KEY,
} from "./keys.ts";
import type { KeyValueStore, SyncedBatch } from "./level-db.ts";
import {
  encodeAdmission,
  encodeHardState,
  encodePeer,
  encodeSnapshotPointer,
  encodeStoreHead,
  type StoreHead,
} from "./records.ts";
import type { RecoveredStore } from "./recovery.ts";
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
  /** Records with a write sequence that it adds to the store. */
  addedRecords: number;
}

/** What a store remembers beside the logs. */
export interface StoreMemory {
  /**
   * Every other server has remembered this store. Resolves when that is durable: not before does
   * it take part. Never after a failure or close.
   */
  admit(): Promise<void>;
  /** The store that a peer is known by. Perhaps not durable yet. */
  storeOf(peer: ServerId): string | undefined;
  /** Whether that is durable. */
  isRemembered(peer: ServerId): boolean;
  /**
   * Makes a store the one that the peer is known by, unless there is one. Resolves when the peer
   * is remembered. Never after a failure or close.
   */
  remember(peer: ServerId, storeUuid: string): Promise<void>;
}

interface RememberedPeer {
  readonly storeUuid: string;
  isDurable: boolean;
  /** Resolves when it is. */
  readonly durable: Promise<void>;
}

export interface LevelLogStoreOptions {
  readonly db: KeyValueStore;
  /** For messages. */
  readonly dir: string;
  readonly recovered: RecoveredStore;
  readonly acknowledged: Omit<AcknowledgementsOptions, "onRejected">;
  /** A write was rejected: the process must end. Called at most once. */
  readonly onFatal: (error: StorageError) => void;
  readonly compactedBytesMin?: number;
}

export class LevelLogStore implements LogStore, StoreMemory {
  readonly #db: KeyValueStore;
  readonly #dir: string;
  readonly #logs: ReadonlyMap<GroupId, GroupLog>;
  readonly #onFatal: (error: StorageError) => void;
  readonly #trimmer: Trimmer;
  readonly #acknowledgements: Acknowledgements;
  readonly #peers = new Map<ServerId, RememberedPeer>();
  #admission: Promise<void> | undefined;
  /** As of the last batch that was started. */
  #head: StoreHead;
  #waiting: OpenBatch | undefined;
  #isWriting = false;
  #failure: StorageError | undefined;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: LevelLogStoreOptions) {
    const { db, dir, recovered, compactedBytesMin } = options;
    this.#db = db;
    this.#dir = dir;
    this.#logs = new Map(recovered.groups.map(({ log }) => [log.group, log]));
    this.#head = recovered.head;
    for (const [peer, storeUuid] of recovered.peers) {
      this.#peers.set(peer, { storeUuid, isDurable: true, durable: Promise.resolve() });
    }
    this.#admission = recovered.isAdmitted ? Promise.resolve() : undefined;
    this.#onFatal = options.onFatal;
    const onRejected = (error: unknown): void => this.#fail(error);
    this.#trimmer = new Trimmer({
      db,
      isWriting: () => this.#isWriting,
      onRejected,
      ...(compactedBytesMin !== undefined && { compactedBytesMin }),
    });
    this.#acknowledgements = new Acknowledgements({ ...options.acknowledged, onRejected });
    for (const { remains } of recovered.groups) {
      if (remains !== undefined) this.#trimmer.add(remains);
    }
  }

  /** Resolves when the second record says what the log store does. */
  settle(): Promise<void> {
    return this.#acknowledgements.settle();
  }

  storeOf(peer: ServerId): string | undefined {
    return this.#peers.get(peer)?.storeUuid;
  }

  isRemembered(peer: ServerId): boolean {
    return this.#peers.get(peer)?.isDurable === true;
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

  admit(): Promise<void> {
    this.#admission ??= this.#addRecord(ADMISSION_KEY, (writeSequence) =>
      encodeAdmission({ writeSequence }),
    );
    return this.#admission;
  }

  remember(server: ServerId, storeUuid: string): Promise<void> {
    const known = this.#peers.get(server);
    if (known !== undefined) return known.durable;
    const durable = this.#addRecord(peerKey(server), (writeSequence) =>
      encodePeer({ server, storeUuid, writeSequence }),
    ).then(() => {
      peer.isDurable = true;
    });
    const peer: RememberedPeer = { storeUuid, isDurable: false, durable };
    this.#peers.set(server, peer);
    return durable;
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeWhenIdle();
    return this.#closed;
  }

  #addRecord(key: Bytes, encode: (writeSequence: number) => Bytes): Promise<void> {
    return new Promise((resolve) => {
      if (this.#failure !== undefined || this.#closed !== undefined) return;
      const batch = this.#waiting ?? this.#openBatch();
      batch.changes.put(key, encode(batch.writeSequence));
      batch.addedRecords++;
      batch.callbacks.push(resolve);
    });
  }

  #openBatch(): OpenBatch {
    const batch: OpenBatch = {
      changes: this.#db.openBatch(),
      writeSequence: this.#head.writeSequence + 1,
      touched: new Set(),
      callbacks: [],
      dead: [],
      addedRecords: 0,
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
    const acknowledged = this.#seal(batch);
    void this.#write(batch.changes, acknowledged).then(
      () => this.#onWritten(batch),
      (error: unknown) => {
        this.#isWriting = false;
        this.#fail(error);
      },
    );
  }

  async #write(changes: SyncedBatch, acknowledged: readonly Acknowledged[]): Promise<void> {
    await changes.write();
    if (this.#acknowledgements.note(acknowledged)) await this.#acknowledgements.write();
  }

  /**
   * Adds what the batch's steps left behind: one hard state per group, and the store head. Answers
   * what the groups may tell once it is durable.
   */
  #seal(batch: OpenBatch): Acknowledged[] {
    const { writeSequence } = batch;
    let sequenceSum = this.#head.sequenceSum + batch.addedRecords * writeSequence;
    for (const log of batch.touched) {
      sequenceSum += writeSequence - log.writeSequence;
      log.writeSequence = writeSequence;
      batch.changes.put(hardStateKey(log.group), encodeHardState(log.toRecord()));
    }
    this.#head = { ...this.#head, writeSequence, sequenceSum };
    batch.changes.put(STORE_HEAD_KEY, encodeStoreHead(this.#head));
    return [...batch.touched].map(acknowledgedOf);
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
    this.#acknowledgements.end();
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
      if (this.#failure === undefined) await this.#acknowledgements.settle();
    } finally {
      this.#acknowledgements.end();
      await this.#closeDb();
    }
  }

  async #closeDb(): Promise<void> {
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
