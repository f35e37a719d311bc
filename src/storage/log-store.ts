/**
 * Opening and creating a server's durable log (the LogStore port on LevelDB).
 *
 * Creation, in this order, so that a crash at any point leaves "never initialised" or a whole
 * store: data directory, its names and its parent's synced; LevelDB; one synced write of identity,
 * configurations and empty hard states; the second record; the store's folder synced; the marker,
 * synced and renamed into place; the data directory synced.
 *
 * Opening checks LevelDB's files, takes LevelDB's lock, checks its text log, then reads and
 * verifies every record, and judges the logs by the second one. Any doubt is a StorageError.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, ReplicaId } from "../base/brands.ts";
import type { LoadedReplica, LogStore, Timers } from "../replica/ports.ts";
import type { Configuration } from "../raft/types.ts";
import { acknowledgedOf, judgeLogs } from "./acknowledged.ts";
import { type Acknowledged, createAcknowledged, readAcknowledged } from "./acknowledged-file.ts";
import {
  checkNotDisowned,
  CREATION_SEQUENCE,
  inspectDataDir,
  raftDirOf,
  readMarker,
  setAside,
  writeMarker,
} from "./data-dir.ts";
import { fromLevelError, missing, StorageError } from "./errors.ts";
import type { FileStore } from "./files.ts";
import { LevelLogStore, type StoreMemory } from "./group-commit.ts";
import { emptyHardStateRecord, GroupLog } from "./group-log.ts";
import { configurationKey, hardStateKey, IDENTITY_KEY, STORE_HEAD_KEY } from "./keys.ts";
import { type KeyValueStore, openLevelDb } from "./level-db.ts";
import { checkFilesBeforeOpen, checkTextLogs } from "./level-files.ts";
import { NodeFileStore } from "./node-files.ts";
import { createDirectory, isUsableDirectory, syncPath } from "./paths.ts";
import {
  encodeConfiguration,
  encodeHardState,
  encodeIdentity,
  encodeStoreHead,
  type StoreIdentity,
} from "./records.ts";
import { type ExpectedIdentity, recoverStore } from "./recovery.ts";

/** A group to be born on this server. */
export interface NewReplica {
  readonly group: GroupId;
  readonly replicaId: ReplicaId;
  readonly configuration: Configuration;
}

export interface OpenedLogStore {
  /** The data directory. */
  readonly dir: string;
  readonly store: LogStore;
  readonly memory: StoreMemory;
  readonly identity: StoreIdentity;
  /** Whether every other server has remembered this store: only then does it take part. */
  readonly isAdmitted: boolean;
  /** Ascending by group. Their snapshots are not looked at yet (checkSnapshots). */
  readonly replicas: LoadedReplica[];
}

export interface OpenOptions {
  /** For messages: the data directory. */
  readonly dir: string;
  readonly expect: ExpectedIdentity;
  readonly timers: Pick<Timers, "after">;
  /** Called at most once, when a write was rejected: the process must end then. */
  readonly onFatal: (error: StorageError) => void;
  /** Bytes of deleted entries from which on LevelDB is asked for their space. */
  readonly compactedBytesMin?: number;
}

/** What a data directory is written through: the seam at which tests end a process. */
export interface StoreDisk {
  readonly files: FileStore;
  readonly openDb: typeof openLevelDb;
}

function nodeDisk(dir: string): StoreDisk {
  return { files: new NodeFileStore(dir), openDb: openLevelDb };
}

/**
 * Opens the store of an existing server. Rejects with a StorageError whose code and message say
 * why the server cannot start, or take part (isDistrust).
 */
export async function openLogStore(
  options: OpenOptions,
  disk: StoreDisk = nodeDisk(options.dir),
): Promise<OpenedLogStore> {
  const { dir } = options;
  const { files } = disk;
  const raftDir = raftDirOf(dir);
  try {
    if ((await inspectDataDir(dir)) !== "initialised") {
      throw new StorageError("notInitialised", { dir, what: `there is no server in ${dir}` });
    }
    await checkNotDisowned(files, dir);
    const storeUuid = await readMarker(files, dir);
    if (!(await isUsableDirectory(raftDir))) throw missing(dir, "its log store");
    await checkFilesBeforeOpen(raftDir);
    const db = await disk.openDb(raftDir, "openExisting");
    return await closeOnFailure(db, async () => {
      await syncPath(raftDir);
      await checkTextLogs(raftDir);
      const opened = await attachLogStore(db, files, options);
      if (opened.identity.storeUuid === storeUuid) return opened;
      const what = `${dir} holds the log store ${opened.identity.storeUuid}, not its ${storeUuid}`;
      throw new StorageError("foreign", { dir, what });
    });
  } catch (error) {
    throw fromLevelError(error, raftDir);
  }
}

/**
 * Creates the store of a new server; open it afterwards. Rejects with a StorageError, with
 * `alreadyInitialised` when a server lives there. Safe to repeat after any failure or crash.
 */
export async function createLogStore(
  options: {
    readonly dir: string;
    readonly identity: StoreIdentity;
    readonly replicas: readonly NewReplica[];
  },
  disk: StoreDisk = nodeDisk(options.dir),
): Promise<void> {
  const { dir, identity, replicas } = options;
  const { files } = disk;
  const raftDir = raftDirOf(dir);
  try {
    const found = await inspectDataDir(dir);
    if (found === "initialised") {
      throw new StorageError("alreadyInitialised", { dir, what: `a server lives in ${dir}` });
    }
    await createDirectory(dir);
    if (found === "neverInitialised") await setAside(dir, identity.storeUuid);
    const db = await disk.openDb(raftDir, "createNew");
    await closeOnFailure(db, () => writeFirstRecords(db, files, { identity, replicas }));
    await db.close();
    await syncPath(raftDir);
    await writeMarker(files, identity.storeUuid);
  } catch (error) {
    throw fromLevelError(error, dir);
  }
}

/**
 * Verifies an open LevelDB, judges it by the second record, and puts the log store on it. The seam
 * for simulated and failing disks; whoever calls it has found the marker to name this store.
 */
export async function attachLogStore(
  db: KeyValueStore,
  files: FileStore,
  options: OpenOptions,
): Promise<OpenedLogStore> {
  const { dir, expect, timers, onFatal, compactedBytesMin } = options;
  const recovered = await recoverStore(db, raftDirOf(dir), expect);
  const { identity, isAdmitted, groups } = recovered;
  const content = await readAcknowledged(files, dir);
  if (content === undefined) throw missing(dir, "its record of what was acknowledged");
  const logs = new Map(groups.map(({ log }) => [log.group, log]));
  judgeLogs(content.slot, { dir, storeUuid: identity.storeUuid, logs });
  const acknowledged = {
    files,
    timers,
    content,
    groups: groups.map(({ log }) => acknowledgedOf(log)),
  };
  const store = new LevelLogStore({
    db,
    dir: raftDirOf(dir),
    recovered,
    acknowledged,
    onFatal,
    ...(compactedBytesMin !== undefined && { compactedBytesMin }),
  });
  await store.settle();
  const replicas = groups.map(({ configuration, bounds, log, entries }) => {
    const { hardState, base } = bounds;
    return { ...configuration, hardState, snapshot: log.snapshot, base, entries };
  });
  return { dir, store, memory: store, identity, isAdmitted, replicas };
}

/** What a new store holds: the seam for simulated disks, as above; its marker follows. */
export async function writeFirstRecords(
  db: KeyValueStore,
  files: FileStore,
  first: { readonly identity: StoreIdentity; readonly replicas: readonly NewReplica[] },
): Promise<void> {
  const { identity, replicas } = first;
  assert(replicas.length > 0, "a server has at least one replica");
  const batch = db.openBatch();
  batch.put(IDENTITY_KEY, encodeIdentity(identity));
  const groups: Acknowledged[] = [];
  for (const replica of replicas.toSorted((a, b) => a.group - b.group)) {
    const { group } = replica;
    const hardState = emptyHardStateRecord(group, CREATION_SEQUENCE);
    batch.put(configurationKey(group), encodeConfiguration(replica));
    batch.put(hardStateKey(group), encodeHardState(hardState));
    groups.push(acknowledgedOf(new GroupLog(hardState)));
  }
  const groupCount = replicas.length;
  const sequenceSum = groupCount * CREATION_SEQUENCE;
  const head = { writeSequence: CREATION_SEQUENCE, sequenceSum, groupCount };
  batch.put(STORE_HEAD_KEY, encodeStoreHead(head));
  await batch.write();
  await createAcknowledged(files, { storeUuid: identity.storeUuid, groups });
}

/** Runs with an open LevelDB; closes it, so that its lock is free again, if that fails. */
async function closeOnFailure<T>(db: KeyValueStore, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await db.close();
    throw error;
  }
}
