/**
 * What all services of a server stand on: its access to the root and to the metadata shards, who it
 * is, and the look-ups from names to groups and from groups to headers.
 */

import { type GroupId, ROOT_GROUP, type Revision, type ServerId } from "../../base/brands.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { EventHistory } from "../../fanout/history.ts";
import type { RootAnswer, RootEvent, RootRequest } from "../../machine/root/commands.ts";
import type { RootState } from "../../machine/root/state.ts";
import type { KeyspaceRecord } from "../../machine/root/types.ts";
import type { ShardAnswer } from "../../machine/shard/answers.ts";
import type { ShardRequest } from "../../machine/shard/commands.ts";
import type { ShardEvent } from "../../machine/shard/events.ts";
import type { Keyspace, ShardState } from "../../machine/shard/state.ts";
import type { Owner } from "../../machine/shard/types.ts";
import type { Clock, Timers } from "../../replica/ports.ts";
import type { GroupAccess } from "../../replica/group-access.ts";
import { generationOf } from "../../base/brands.ts";
import type { Header, Refusal } from "../../wire/api.ts";
import type { CallContext } from "../../wire/api-services.ts";
import { refusal } from "../../wire/refusal.ts";
import { refuseUnavailable } from "./refusals.ts";

export type RootAccess = GroupAccess<RootRequest, RootAnswer, RootEvent>;
export type ShardAccess = GroupAccess<ShardRequest, ShardAnswer, ShardEvent>;

/** One metadata shard on this server. */
export interface ShardGroup {
  readonly access: ShardAccess;
  /** The present one, another after a snapshot was installed: not to be kept over an await. */
  readonly state: ShardState;
  readonly history: EventHistory;
  /** Calls back after what changed a range, an installed snapshot included; the answer stops it. */
  readonly onApplied: (run: () => void) => () => void;
}

export interface ClusterGroups {
  readonly clusterId: string;
  readonly self: ServerId;
  readonly root: RootAccess;
  /** The present one, another after a snapshot was installed: not to be kept over an await. */
  readonly rootState: RootState;
  /** By group, ascending. */
  readonly shards: ReadonlyMap<GroupId, ShardGroup>;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** A keyspace that is ready, and the shard that holds its ranges. */
export interface KeyspacePlace {
  readonly keyspace: KeyspaceRecord;
  readonly shard: ShardGroup;
  /** Its ranges; absent while this replica has not applied their creation. */
  readonly local: Keyspace | undefined;
}

/**
 * The caller's time, counted down: each step of a call gets what the steps before it have left, so
 * that the whole answers before the caller's time has run out.
 */
export function countdown(groups: ClusterGroups, context: CallContext): CallContext {
  const endMs = groups.clock.nowMs() + context.timeoutMs;
  return {
    get timeoutMs(): number {
      return Math.max(0, endMs - groups.clock.nowMs());
    },
  };
}

export function headerOf(groups: ClusterGroups, group: GroupId, revision?: Revision): Header {
  const access = group === ROOT_GROUP ? groups.root : groups.shards.get(group)?.access;
  const at = revision ?? access?.replica.machine.revision ?? (0 as Revision);
  return {
    clusterId: groups.clusterId,
    group,
    generation: generationOf(at),
    revision: at,
    serverId: groups.self,
    leaderServerId: access?.leaderServerId,
    term: access?.replica.core.term ?? (0 as Header["term"]),
  };
}

export function shardOf(groups: ClusterGroups, group: GroupId): Result<ShardGroup, Refusal> {
  const shard = groups.shards.get(group);
  if (shard !== undefined) return ok(shard);
  const known = [...groups.shards.keys()].join(", ");
  return failed(
    refusal("WRONG_GROUP", `group ${group} is no metadata shard here; there are: ${known}`, {
      metadata: { group: String(group), known },
      field: "group",
    }),
  );
}

/**
 * Finds a keyspace by name. One that is not known here is looked for again after a linearizable
 * read of the root: it may have been created a moment ago, at another server.
 */
export async function findKeyspace(
  groups: ClusterGroups,
  name: string,
  timeoutMs: number,
): Promise<Result<KeyspacePlace, Refusal>> {
  const known = readyKeyspace(groups, name);
  if (known !== undefined) return ok(known);
  const permission = await groups.root.read({ kind: "linearizable" }, timeoutMs);
  if (permission.kind !== "ready") return failed(refuseUnavailable(groups.root, permission));
  const found = readyKeyspace(groups, name);
  if (found !== undefined) return ok(found);
  const metadata = { keyspace: name };
  if (groups.rootState.keyspaceIds.has(name)) {
    const message = `keyspace "${name}" is being created; try again`;
    return failed(refusal("TRANSIENT", message, { metadata, retryAfterMs: 100 }));
  }
  const message = `there is no keyspace "${name}"; create it, or see the list of keyspaces`;
  return failed(refusal("NOT_FOUND", message, { metadata }));
}

function readyKeyspace(groups: ClusterGroups, name: string): KeyspacePlace | undefined {
  const { keyspaceIds, keyspaces } = groups.rootState;
  const keyspaceId = keyspaceIds.get(name);
  const keyspace = keyspaceId === undefined ? undefined : keyspaces.get(keyspaceId);
  if (keyspace?.state !== "ready") return undefined;
  // One shard per keyspace until spans change groups.
  const group = keyspace.spans[0]?.group;
  const shard = group === undefined ? undefined : groups.shards.get(group);
  if (shard === undefined) return undefined;
  return { keyspace, shard, local: shard.state.keyspaces.get(keyspace.keyspaceId) };
}

/**
 * Where an owner is reached: by its own incarnation's addresses, which its session brought from the
 * registration. The node's present registration may be another process's.
 */
export function addressesOf({ sessions }: ShardState, owner: Owner | undefined): readonly string[] {
  const session = owner && sessions.get(owner.nodeId);
  return session?.incarnation === owner?.incarnation ? (session?.addresses ?? []) : [];
}
