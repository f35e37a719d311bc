/**
 * What a stopped server's disk holds: its machines, restored from their snapshots and brought on by
 * the entries of the log, as the server itself would be once it has applied them.
 */

import type { GroupId, LogIndex } from "../../../src/base/brands.ts";
import { ROOT_GROUP } from "../../../src/base/brands.ts";
import type { GroupMachine } from "../../../src/machine/group.ts";
import { RootMachine } from "../../../src/machine/root/machine.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import type { LoadedReplica } from "../../../src/replica/ports.ts";
import { systemTimers } from "../../../src/server/system.ts";
import { openLogStore } from "../../../src/storage/log-store.ts";
import { NodeFileStore } from "../../../src/storage/node-files.ts";
import { SnapshotFiles } from "../../../src/storage/snapshot-files.ts";

export interface StoredGroup {
  readonly group: GroupId;
  readonly snapshotIndex: LogIndex;
  readonly entryCount: number;
  readonly lastIndex: number;
  /** Of the state at an index, from the snapshot's to the last. Once. */
  readonly digestAt: (index: number) => string;
}

/** The groups of a stopped server. */
export async function storedGroups(
  dir: string,
  expect: Parameters<typeof openLogStore>[0]["expect"],
): Promise<StoredGroup[]> {
  const onFatal = (error: Error): never => {
    throw error;
  };
  const options = { dir, expect, onFatal, timers: systemTimers };
  const { store, replicas } = await openLogStore(options);
  const { clusterId } = expect;
  const snapshots = new SnapshotFiles({ files: new NodeFileStore(dir), dir, clusterId });
  try {
    const groups: StoredGroup[] = [];
    for (const replica of replicas) groups.push(await storedGroup(snapshots, replica));
    return groups;
  } finally {
    await store.close();
  }
}

async function storedGroup(snapshots: SnapshotFiles, replica: LoadedReplica): Promise<StoredGroup> {
  const { group, snapshot, entries } = replica;
  const machine: GroupMachine<unknown, unknown, unknown> =
    group === ROOT_GROUP
      ? (new RootMachine() as GroupMachine<unknown, unknown, unknown>)
      : (new ShardMachine(group) as GroupMachine<unknown, unknown, unknown>);
  if (snapshot.index > 0) {
    const restore = machine.beginRestore();
    for await (const piece of snapshots.read({ group, position: snapshot })) restore.accept(piece);
    const finished = restore.finish();
    if (!finished.ok) throw new Error(`group ${group}: ${finished.error}`);
  }
  const digestAt = (endIndex: number): string => {
    for (const { index, term, timeMs, kind, payload } of entries) {
      if (index <= snapshot.index || index > endIndex) continue;
      const request = kind === "command" ? machine.decodeRequest(payload) : undefined;
      if (request?.ok === false) throw new Error(`entry ${index}: ${request.error}`);
      machine.apply({ index, term, timeMs }, request?.value);
    }
    return machine.digest();
  };
  const lastIndex = replica.base.index + entries.length;
  return {
    group,
    snapshotIndex: snapshot.index,
    entryCount: entries.length,
    lastIndex,
    digestAt,
  };
}
