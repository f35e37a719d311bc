/**
 * Commands that other servers forwarded here because this one leads their group: proposed here or
 * refused. Those that could not be brought to their leader go on to it, once. Renewals join those
 * that this server has gathered itself.
 */

import type { GroupId, MonotonicMs } from "../base/brands.ts";
import type { ForwardAnswer, ForwardCall } from "../replica/ports.ts";
import type { GroupAccess, SubmitFailure } from "../replica/group-access.ts";
import type { Renewal } from "../machine/shard/commands.ts";
import type { ClusterGroups, ShardAccess } from "./services/cluster-groups.ts";
import type { RenewalBatcher } from "./services/renewal-batcher.ts";

export function forwardedHandler(
  groups: ClusterGroups,
  renewals: ReadonlyMap<GroupId, RenewalBatcher>,
): (call: ForwardCall) => Promise<ForwardAnswer> {
  return async (call) => {
    const shard = groups.shards.get(call.group);
    const isOfRoot = call.group === groups.root.group;
    const access = isOfRoot ? groups.root : shard?.access;
    if (call.mayRelay === true && access?.isLeader === false) return access.relay(call);
    if (shard === undefined) {
      if (!isOfRoot) return notLeader();
      const isReadable = groups.root.replica.machine.decodeRequest(call.command).ok;
      return isReadable ? propose(groups, groups.root, call) : notLeader();
    }
    const request = shard.access.replica.machine.decodeRequest(call.command);
    // A command that this version cannot read must not get into the log.
    if (!request.ok) return notLeader();
    const { command } = request.value;
    const batcher = renewals.get(call.group);
    if (command.kind !== "renew" || batcher === undefined) {
      return propose(groups, shard.access, call);
    }
    return renew(shard.access, batcher, command.renewals, call.timeoutMs);
  };
}

async function renew(
  access: ShardAccess,
  batcher: RenewalBatcher,
  renewals: readonly Renewal[],
  timeoutMs: number,
): Promise<ForwardAnswer> {
  if (!access.isLeader) return notLeader();
  const outcome = await batcher.renew(renewals, { timeoutMs, isForwarded: true });
  if (outcome.kind === "failed") return toFailed(outcome);
  const { revision, answers } = outcome;
  const { appliedIndex, machine } = access.replica;
  const answer = { replayed: false, revision, result: { kind: "renewed", answers } } as const;
  return { kind: "applied", index: appliedIndex, result: machine.encodeAnswer(answer) };
}

async function propose<Request, Answer, Event>(
  groups: ClusterGroups,
  access: GroupAccess<Request, Answer, Event>,
  call: ForwardCall,
): Promise<ForwardAnswer> {
  if (!access.isLeader) return notLeader();
  const { machine } = access.replica;
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
