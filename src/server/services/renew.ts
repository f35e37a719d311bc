/**
 * Renew: one session's renewal, gathered with others (renewal-batcher.ts), and its answer (law 8).
 * Its size is judged here, before it becomes part of an entry.
 */

import type { GroupId, Revision } from "../../base/brands.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { LeaseTerm, RenewalAnswer } from "../../machine/shard/answers.ts";
import type { ExceptedSpan } from "../../machine/shard/commands.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext } from "../../wire/api-services.ts";
import { BULK_BYTES_MAX } from "../../wire/limits.ts";
import { refusal } from "../../wire/refusal.ts";
import { type ClusterGroups, findKeyspace, shardOf } from "./cluster-groups.ts";
import { shardHeader, toRangeRecord } from "./records.ts";
import { closedText, refuseSubmit } from "./refusals.ts";
import { exceptBytes, type RenewalBatcher } from "./renewal-batcher.ts";
import { catchUp, unexpected } from "./shard-calls.ts";

export async function renew(
  groups: ClusterGroups,
  renewals: ReadonlyMap<GroupId, RenewalBatcher>,
  request: api.RenewRequest,
  context: CallContext,
): Promise<Result<api.RenewAnswer, api.Refusal>> {
  const found = shardOf(groups, request.group);
  if (!found.ok) return found;
  const shard = found.value;
  const except = await findExcepted(groups, request, context);
  if (!except.ok) return except;
  const { nodeId, incarnation } = request.owner;
  const batcher = renewals.get(request.group);
  if (batcher === undefined) return failed(unexpected("no batcher"));
  const { asOf, pair, known } = request;
  const renewal = { nodeId, incarnation, asOf, except: except.value, pair, known };
  const call = { timeoutMs: context.timeoutMs, isForwarded: false };
  const outcome = await batcher.renew([renewal], call);
  if (outcome.kind === "failed") return failed(refuseSubmit(shard.access, outcome));
  const { revision, answers } = outcome;
  const [answer] = answers;
  if (answer?.kind !== "extended") return failed(refuseRenewal(request, revision, answer));
  const ranges = answer.changes.map(({ range }) => range);
  const behind = await catchUp(shard, ranges, revision, context);
  if (behind !== undefined) return failed(behind);
  return ok({
    header: shardHeader(groups, shard, revision),
    durations: answer.durations.map(toLeaseDuration),
    changes: answer.changes.map(({ revision: at, kind, range }) => ({
      revision: at,
      kind,
      range: toRangeRecord(shard.state, range),
    })),
  });
}

/** Its keys become part of an entry, whose size is bounded. */
async function findExcepted(
  groups: ClusterGroups,
  request: api.RenewRequest,
  context: CallContext,
): Promise<Result<readonly ExceptedSpan[], api.Refusal>> {
  const bytes = exceptBytes(request.except.map(({ span }) => span));
  if (bytes > BULK_BYTES_MAX) {
    const message = `except has ${bytes} bytes of keys, at most ${BULK_BYTES_MAX} are allowed`;
    const metadata = { bytes: String(bytes), bytes_max: String(BULK_BYTES_MAX) };
    return failed(refusal("INVALID", message, { metadata, field: "except" }));
  }
  const except: ExceptedSpan[] = [];
  for (const [at, { keyspace, span }] of request.except.entries()) {
    const place = await findKeyspace(groups, keyspace, context.timeoutMs);
    if (!place.ok) return failed({ ...place.error, field: `except[${at}].keyspace` });
    except.push({ keyspaceId: place.value.keyspace.keyspaceId, ...span });
  }
  return ok(except);
}

function refuseRenewal(
  { owner, asOf, pair }: api.RenewRequest,
  revision: Revision,
  answer: Exclude<RenewalAnswer, { readonly kind: "extended" }> | undefined,
): api.Refusal {
  const { nodeId } = owner;
  const metadata = { node_id: nodeId, as_of: String(asOf), revision: String(revision) };
  switch (answer?.kind) {
    case "noSession": {
      const message = `storage node ${nodeId} has no open session of this incarnation; open one`;
      return refusal("NO_SESSION", message, { metadata });
    }
    case "asOfAhead": {
      const message = `as_of ${asOf} is above the renewal's revision ${revision}; refresh the view`;
      return refusal("INVALID", message, { metadata, field: "as_of" });
    }
    case "viewTooOld": {
      const floor = String(answer.floor);
      const message = `the view is older than the changes kept; refresh it to at least ${floor}`;
      return refusal("VIEW_TOO_OLD", message, { metadata: { ...metadata, floor }, field: "as_of" });
    }
    case "lateCopy": {
      const last = String(answer.lastSequence);
      const message =
        `renewal ${pair.sequence} is an older copy, renewal ${last} was applied; a process that ` +
        `never sent that one is a copy of ${nodeId}'s, and must stop`;
      return refusal("LATE_COPY", message, { metadata: { ...metadata, last_sequence: last } });
    }
    case "sessionClosed":
      return refusal("SESSION_CLOSED", closedText(nodeId), { metadata });
    case undefined:
      return unexpected("renewed");
  }
}

export function toLeaseDuration({
  keyspace,
  durationMs,
  renewIntervalMs,
}: LeaseTerm): api.LeaseDuration {
  return { keyspace, durationMs, renewIntervalMs };
}
