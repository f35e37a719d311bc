/**
 * Opening and creating a server's durable log (the LogStore port on LevelDB).
 *
 * Creation, in this order, so that a crash at any point leaves "never initialised" or a whole
 * store: data directory, its names and its parent's synced; LevelDB; one synced write of identity,
 * configurations and empty hard states; the store's folder synced; the marker, synced and renamed
 * into place; the data directory synced.
 *
 * Opening checks LevelDB's files, takes LevelDB's lock, checks its text log, then reads and
 * verifies every record. Any doubt is a StorageError, and nothing is repaired.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, ReplicaId } from "../base/brands.ts";
import type { LoadedReplica, LogStore } from "../replica/ports.ts";
import type { Configuration } from "../raft/types.ts";
import {
  CREATION_SEQUENCE,
  inspectDataDir,
  raftDirOf,
  readMarker,
  setAside,
  writeMarker,
} from "./data-dir.ts";
import { damaged, fromLevelError, StorageError } from "./errors.ts";
import { LevelLogStore } from "./group-commit.ts";
import { emptyHardStateRecord } from "./group-log.ts";
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
import { type ExpectedIdentity, recoverStore, recoveredLogs } from "./recovery.ts";

/** A group to be born on this server. */
export interface NewReplica {
  readonly group: GroupId;
  readonly replicaId: ReplicaId;
  readonly configuration: Configuration;
}

export interface OpenedLogStore {
  readonly store: LogStore;
  readonly identity: StoreIdentity;
  /** Ascending by group. Their snapshots are not looked at yet (checkSnapshots). */
  readonly replicas: LoadedReplica[];
}

/**
 * Opens the store of an existing server. Rejects with a StorageError whose code and message say
 * why the server cannot start. `onFatal` is called at most once, when a write was rejected: the
 * process must end then.
 */
export async function openLogStore(options: {
  readonly dir: string;
  readonly expect: ExpectedIdentity;
  readonly onFatal: (error: StorageError) => void;
}): Promise<OpenedLogStore> {
  const { dir, expect, onFatal } = options;
  const raftDir = raftDirOf(dir);
  try {
    if ((await inspectDataDir(dir)) !== "initialised") {
      throw new StorageError("notInitialised", { dir, what: `there is no server in ${dir}` });
    }
    const storeUuid = await readMarker(new NodeFileStore(dir), dir);
    if (!(await isUsableDirectory(raftDir))) throw damaged(raftDir, "no folder raft");
    await checkFilesBeforeOpen(raftDir);
    const db = await openLevelDb(raftDir, "openExisting");
    return await closeOnFailure(db, async () => {
      await syncPath(raftDir);
      await checkTextLogs(raftDir);
      const opened = await attachLogStore(db, { dir: raftDir, expect, onFatal });
      if (opened.identity.storeUuid !== storeUuid) {
        throw damaged(raftDir, "the store of another data directory");
      }
      return opened;
    });
  } catch (error) {
    throw fromLevelError(error, raftDir);
  }
}

/**
 * Creates the store of a new server; open it afterwards. Rejects with a StorageError, with
 * `alreadyInitialised` when a server lives there. Safe to repeat after any failure or crash.
 */
export async function createLogStore(options: {
  readonly dir: string;
  readonly identity: StoreIdentity;
  readonly replicas: readonly NewReplica[];
}): Promise<void> {
  const { dir, identity, replicas } = options;
  const raftDir = raftDirOf(dir);
  assert(replicas.length > 0, "a server has at least one replica");
  try {
    const found = await inspectDataDir(dir);
    if (found === "initialised") {
      throw new StorageError("alreadyInitialised", { dir, what: `a server lives in ${dir}` });
    }
    await createDirectory(dir);
    if (found === "neverInitialised") await setAside(dir, identity.storeUuid);
    const db = await openLevelDb(raftDir, "createNew");
    await closeOnFailure(db, () => writeFirstRecords(db, identity, replicas));
    await db.close();
    await syncPath(raftDir);
    await writeMarker(new NodeFileStore(dir), identity.storeUuid);
  } catch (error) {
    throw fromLevelError(error, dir);
  }
}

/** Verifies an open LevelDB and puts the log store on it. The seam for tests of failing disks. */
export async function attachLogStore(
  db: KeyValueStore,
  options: {
    readonly dir: string;
    readonly expect: ExpectedIdentity;
    readonly onFatal: (error: StorageError) => void;
  },
): Promise<OpenedLogStore> {
  const { dir, onFatal } = options;
  const recovered = await recoverStore(db, dir, options.expect);
  const replicas = recovered.groups.map(({ configuration, bounds, log, entries }) => {
    const { hardState, base } = bounds;
    return { ...configuration, hardState, snapshot: log.snapshot, base, entries };
  });
  const logs = recoveredLogs(recovered);
  const { head } = recovered;
  const remains = recovered.groups.flatMap((group) => group.remains ?? []);
  const store = new LevelLogStore({ db, dir, logs, head, onFatal, remains });
  return { store, identity: recovered.identity, replicas };
}

async function writeFirstRecords(
  db: KeyValueStore,
  identity: StoreIdentity,
  replicas: readonly NewReplica[],
): Promise<void> {
  const batch = db.openBatch();
  batch.put(IDENTITY_KEY, encodeIdentity(identity));
  for (const replica of replicas) {
    const { group } = replica;
    batch.put(configurationKey(group), encodeConfiguration(replica));
    batch.put(hardStateKey(group), encodeHardState(emptyHardStateRecord(group, CREATION_SEQUENCE)));
  }
  const groupCount = replicas.length;
  const sequenceSum = groupCount * CREATION_SEQUENCE;
  const head = { writeSequence: CREATION_SEQUENCE, sequenceSum, groupCount };
  batch.put(STORE_HEAD_KEY, encodeStoreHead(head));
  await batch.write();
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
