/**
 * What every read begins and ends with: reaching the level that was asked for, and saying how fresh
 * the answer is (laws 19 and 20).
 */

import { defined } from "../../base/assert.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Keyspace } from "../../machine/shard/state.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext } from "../../wire/api-services.ts";
import { refusal } from "../../wire/refusal.ts";
import {
  type ClusterGroups,
  findKeyspace,
  type KeyspacePlace,
  type ShardGroup,
} from "./cluster-groups.ts";
import { shardHeader } from "./records.ts";
import { refuseUnavailable } from "./refusals.ts";

/** The keyspace, once its shard may be read here at the level that the request asks for. */
export async function readableKeyspace(
  groups: ClusterGroups,
  request: { readonly keyspace: string; readonly read: api.ReadOptions },
  context: CallContext,
): Promise<Result<Omit<KeyspacePlace, "local">, api.Refusal>> {
  const place = await findKeyspace(groups, request.keyspace, context.timeoutMs);
  if (!place.ok) return place;
  const { keyspace, shard } = place.value;
  const permission = await shard.access.read(request.read, context.timeoutMs);
  if (permission.kind !== "ready") return failed(refuseUnavailable(shard.access, permission));
  if (shard.state.keyspaces.has(keyspace.keyspaceId)) return ok({ keyspace, shard });
  const message = `this server has not caught up with keyspace "${request.keyspace}"; try another`;
  const metadata = { keyspace: request.keyspace };
  return failed(refusal("TRANSIENT", message, { metadata, retryAfterMs: 100 }));
}

/**
 * The ranges of a keyspace that was found readable, as they are now. Looked up anew after every
 * wait: an installed snapshot brings another state, and the old one would be read as the new.
 */
export function presentKeyspace(
  shard: ShardGroup,
  { keyspaceId }: Pick<KeyspacePlace["keyspace"], "keyspaceId">,
): Keyspace {
  return defined(shard.state.keyspaces.get(keyspaceId), "a keyspace stays in its shard");
}

export function readAnswer(
  groups: ClusterGroups,
  shard: ShardGroup,
  read: api.ReadOptions,
): api.ReadAnswer {
  const staleness = read.kind === "local" ? shard.access.staleness() : undefined;
  return { header: shardHeader(groups, shard), staleness };
}
