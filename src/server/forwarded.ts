/**
 * Commands that other servers forwarded here because this one leads their group: proposed here or
 * refused, never forwarded again. Renewals join those that this server has gathered itself.
 */

import type { GroupId, MonotonicMs } from "../base/brands.ts";
import type { ForwardAnswer, ForwardCall } from "../replica/ports.ts";
import type { GroupAccess, SubmitFailure } from "../replica/group-access.ts";
import type { ClusterGroups } from "./services/cluster-groups.ts";
import type { RenewalBatcher } from "./services/renewal-batcher.ts";

export function forwardedHandler(
  groups: ClusterGroups,
  renewals: ReadonlyMap<GroupId, RenewalBatcher>,
): (call: ForwardCall) => Promise<ForwardAnswer> {
  return async (call) => {
    const shard = groups.shards.get(call.group);
    if (shard === undefined) {
      if (call.group !== groups.root.group) return notLeader();
      return propose(groups, groups.root, call);
    }
    if (!shard.access.isLeader) return notLeader();
    const { machine } = shard.access.replica;
    const request = machine.decodeRequest(call.command);
    const batcher = renewals.get(call.group);
    const command = request.ok ? request.value.command : undefined;
    if (command?.kind !== "renew" || batcher === undefined) {
      return propose(groups, shard.access, call);
    }
    const { timeoutMs } = call;
    const outcome = await batcher.renew(command.renewals, { timeoutMs, isForwarded: true });
    if (outcome.kind === "failed") return toFailed(outcome);
    const { revision, answers } = outcome;
    const result = machine.encodeAnswer({
      replayed: false,
      revision,
      result: { kind: "renewed", answers },
    });
    return { kind: "applied", index: shard.access.replica.appliedIndex, result };
  };
}

async function propose<Request, Answer, Event>(
  groups: ClusterGroups,
  access: GroupAccess<Request, Answer, Event>,
  call: ForwardCall,
): Promise<ForwardAnswer> {
  if (!access.isLeader) return notLeader();
  const { machine } = access.replica;
  const decoded = machine.decodeRequest(call.command);
  // A command that this version cannot read must not get into the log.
  if (!decoded.ok) return notLeader();
  const deadlineMs = (groups.clock.nowMs() + call.timeoutMs) as MonotonicMs;
  const outcome = await access.replica.proposeEncoded(call.command, deadlineMs);
  if (outcome.kind === "failed") return outcome;
  return {
    kind: "applied",
    index: outcome.index,
    result: machine.encodeAnswer(outcome.answer),
  };
}

function notLeader(): ForwardAnswer {
  return { kind: "failed", outcome: "notApplied", reason: "notLeader" };
}

/** What a forwarding server can make sense of. */
function toFailed(failure: {
  readonly outcome: "notApplied" | "unknown";
  readonly reason: SubmitFailure;
}): ForwardAnswer {
  const { outcome, reason } = failure;
  const isOurs = reason === "noLeader" || reason === "badAnswer";
  return { kind: "failed", outcome, reason: isOurs ? "leaderChanged" : reason };
}
