/**
 * From a command to a shard's answer, on whichever server: submitted, compared with what was
 * expected, and told only when this server knows every keyspace that it names.
 */

import type { GroupId, Revision } from "../../base/brands.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { ShardResult } from "../../machine/shard/answers.ts";
import type { ShardCommand, ShardRequest } from "../../machine/shard/commands.ts";
import type { RangeRecord } from "../../machine/shard/types.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext } from "../../wire/api-services.ts";
import { refusal } from "../../wire/refusal.ts";
import { type ClusterGroups, type ShardGroup, shardOf } from "./cluster-groups.ts";
import { shardHeader, toDescriptor } from "./records.ts";
import { refuseByShard, refuseSubmit } from "./refusals.ts";

/** A shard's answer of the kind that was expected. */
export type Answered<K extends ShardResult["kind"]> = {
  readonly shard: ShardGroup;
  readonly header: api.Header;
  readonly replayed: boolean;
  readonly result: Extract<ShardResult, { readonly kind: K }>;
};

/** Submits a command to a shard and expects one kind of result, or a refusal. */
export async function ask<K extends ShardResult["kind"]>(
  groups: ClusterGroups,
  group: GroupId,
  kind: K,
  call: { readonly requestId?: api.RequestId; readonly command: ShardCommand },
  context: CallContext,
): Promise<Result<Answered<K>, api.Refusal>> {
  const found = shardOf(groups, group);
  if (!found.ok) return found;
  const shard = found.value;
  const request: ShardRequest = { requestId: call.requestId, command: call.command };
  const outcome = await shard.access.submit(request, context.timeoutMs);
  if (outcome.kind === "failed") return failed(refuseSubmit(shard.access, outcome));
  const { replayed, revision, result } = outcome.answer;
  const behind = await catchUp(shard, rangesOf(result), revision, context);
  if (behind !== undefined) return failed(behind);
  if (result.kind === "refused") {
    const describe = (range: RangeRecord): api.Descriptor => toDescriptor(shard.state, range);
    return failed(refuseByShard(result, revision, describe));
  }
  if (!isKind(result, kind)) return failed(unexpected(result.kind));
  return ok({ shard, header: shardHeader(groups, shard, revision), replayed, result });
}

/**
 * An answer may name ranges of a keyspace that this server, unlike the leader, has not applied yet.
 * Answers the refusal if it does not get there in time.
 */
export async function catchUp(
  shard: ShardGroup,
  ranges: readonly RangeRecord[],
  revision: Revision,
  context: CallContext,
): Promise<api.Refusal | undefined> {
  const { access, state } = shard;
  if (ranges.every(({ keyspaceId }) => state.keyspaces.has(keyspaceId))) return undefined;
  const permission = await access.read({ kind: "atLeast", revision }, context.timeoutMs);
  if (permission.kind === "ready") return undefined;
  const message = `this server has yet to apply revision ${revision}; repeat the very same request`;
  const metadata = { group: String(access.group), revision: String(revision) };
  return refusal("UNCERTAIN", message, { metadata, retryAfterMs: 100 });
}

function rangesOf(result: ShardResult): readonly RangeRecord[] {
  if (result.kind === "grantsDone") return result.outcomes.map(({ range }) => range);
  if (result.kind !== "refused" && result.kind !== "successorWithdrawn") return [];
  return result.range === undefined ? [] : [result.range];
}

function isKind<K extends ShardResult["kind"]>(
  result: ShardResult,
  kind: K,
): result is Extract<ShardResult, { readonly kind: K }> {
  return result.kind === kind;
}

export function unexpected(kind: string): api.Refusal {
  const message = `the group answered with "${kind}", which does not fit the request`;
  return refusal("INTERNAL", message, { metadata: { kind } });
}
