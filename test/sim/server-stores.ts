/** The stores of simulated servers: made and opened as a real process does. */

import type { ReplicaId } from "../../src/base/brands.ts";
import { replicaOf } from "../../src/replica/host.ts";
import type { ServerConfig } from "../../src/server/config/schema.ts";
import type { OpenedDataStore } from "../../src/server/data-store.ts";
import { checkNotDisowned, readMarker, writeMarker } from "../../src/storage/data-dir.ts";
import { fromLevelError, StorageError } from "../../src/storage/errors.ts";
import type { FileStore } from "../../src/storage/files.ts";
import { attachLogStore, writeFirstRecords } from "../../src/storage/log-store.ts";
import { checkSnapshots, SnapshotFiles } from "../../src/storage/snapshot-files.ts";
import type { ProcessClock } from "../../src/testing/process-clock.ts";
import type { SimServer } from "./sim-server.ts";
import { ROOT, SHARD } from "./virtual-cluster.ts";

const DIR = "virtual";

export interface OpenStoreOptions {
  readonly config: ServerConfig;
  readonly voters: readonly ReplicaId[];
  /** Of the store, if it has to be made. */
  readonly storeUuid: string;
  readonly onFatal: (error: StorageError) => void;
}

export interface SimDataStore extends OpenedDataStore {
  readonly files: FileStore;
}

/** As a process opens its data directory: the store, or why it can't be had. */
export async function openStore(
  server: SimServer,
  clock: ProcessClock,
  options: OpenStoreOptions,
): Promise<SimDataStore | StorageError> {
  try {
    return await open(server, clock, options);
  } catch (error) {
    if (error instanceof StorageError) return error;
    if (error instanceof Error && error.message.startsWith("IO error")) {
      return fromLevelError(error, DIR);
    }
    throw error;
  }
}

async function open(
  server: SimServer,
  clock: ProcessClock,
  { config, voters, storeUuid, onFatal }: OpenStoreOptions,
): Promise<SimDataStore> {
  const { id } = server;
  const clusterId = config.cluster.id;
  const expect = { clusterId, serverId: id };
  const db = server.disk.open(clock);
  const files = server.files.open(clock);
  if (!server.isCreated) {
    const replicas = [ROOT, SHARD].map((group) => ({
      group,
      replicaId: replicaOf(id),
      configuration: { voters },
    }));
    await writeFirstRecords(db, files, { identity: { ...expect, storeUuid }, replicas });
    await writeMarker(files, storeUuid);
    server.isCreated = true;
  }
  await checkNotDisowned(files, DIR);
  const markedUuid = await readMarker(files, DIR);
  const opened = await attachLogStore(db, files, { dir: DIR, expect, timers: clock, onFatal });
  if (opened.identity.storeUuid !== markedUuid) {
    throw new StorageError("foreign", { dir: DIR, what: "the marker is another store's" });
  }
  const snapshots = new SnapshotFiles({ files, dir: DIR, clusterId });
  await checkSnapshots(snapshots, opened.replicas);
  return { ...opened, snapshots, files };
}
