/**
 * The server's log store: opened, or created at the very first start. What a group is born with
 * (its voters) is written here and nowhere else.
 */

import { randomUUID } from "node:crypto";
import type { GroupId, ServerId } from "../base/brands.ts";
import { ROOT_GROUP } from "../base/brands.ts";
import { replicaOf } from "../replica/host.ts";
import type { Logger, SnapshotStore } from "../replica/ports.ts";
import { inspectDataDir } from "../storage/data-dir.ts";
import type { StorageError } from "../storage/errors.ts";
import { createLogStore, type OpenedLogStore, openLogStore } from "../storage/log-store.ts";
import { NodeFileStore } from "../storage/node-files.ts";
import { checkSnapshots, SnapshotFiles } from "../storage/snapshot-files.ts";
import type { ServerConfig } from "./config/schema.ts";
import { systemTimers } from "./system.ts";

export interface OpenedDataStore extends OpenedLogStore {
  readonly snapshots: SnapshotStore;
}

/**
 * A server that has lost its data directory comes back here as a new one, with another store: the
 * others know its id with the old one, keep it out and tell it so (decision 0012).
 *
 * Rejects with a StorageError. One that says that the store cannot be trusted (isDistrust) does not
 * keep the server from starting, but from taking part.
 */
export async function openDataStore(
  config: ServerConfig,
  logger: Logger,
  onFatal: (error: StorageError) => void,
): Promise<OpenedDataStore> {
  const { dataDir } = config.server;
  const serverId = config.server.id as ServerId;
  const expect = { clusterId: config.cluster.id, serverId };
  const found = await inspectDataDir(dataDir);
  if (found !== "initialised") {
    const voters = config.cluster.servers.map(({ id }) => replicaOf(id as ServerId));
    const groups = [ROOT_GROUP, ...shardGroups(config)];
    const identity = { ...expect, storeUuid: randomUUID() };
    const replicaId = replicaOf(serverId);
    const replicas = groups.map((group) => ({ group, replicaId, configuration: { voters } }));
    await createLogStore({ dir: dataDir, identity, replicas });
    logger.info("storeCreated", { dir: dataDir, clusterId: config.cluster.id });
  }
  const opened = await openLogStore({ dir: dataDir, expect, timers: systemTimers, onFatal });
  const files = new NodeFileStore(dataDir);
  const snapshots = new SnapshotFiles({ files, dir: dataDir, clusterId: config.cluster.id });
  try {
    await checkSnapshots(snapshots, opened.replicas);
  } catch (error) {
    await opened.store.close();
    throw error;
  }
  return { ...opened, snapshots };
}

/** Shards are groups 1, 2, ... */
export function shardGroups(config: ServerConfig): GroupId[] {
  return Array.from({ length: config.shards }, (_, at) => (at + 1) as GroupId);
}
