/**
 * Moving leadership to a chosen follower (Ongaro §3.10): the leader takes no more proposals, lets
 * the follower catch up, and tells it to stand at once. It goes on as before when it still leads
 * after the shortest election timeout. All of it is part of the leader's role, so nothing of it
 * outlives that role. What the follower does is in election.ts.
 */

import type { ReplicaId } from "../base/brands.ts";
import type { TransferInput } from "./input.ts";
import type { Progress } from "./progress.ts";
import { type LeaderRole, progressOf, type RaftState } from "./state.ts";

/**
 * Begins, or says in a transition why not. Without a target it is the follower whose log is the
 * longest; asked again for the same one, it goes on.
 */
export function transfer(state: RaftState, { target }: TransferInput): void {
  const { role, outbox, term } = state;
  if (role.kind !== "leader") {
    outbox.transition({ kind: "transferRefused", term, reason: "notLeader" });
    return;
  }
  if (role.transfer !== undefined && (target ?? role.transfer.target) === role.transfer.target) {
    return;
  }
  const progress = chooseTarget(state, role, target);
  if (progress === undefined || !role.isReady || role.transfer !== undefined) {
    const reason = progress === undefined ? "targetNotHeard" : "notReady";
    outbox.transition({ kind: "transferRefused", term, reason });
    return;
  }
  role.transfer = { target: progress.peer, elapsedTicks: 0 };
  outbox.transition({ kind: "transferStarted", term, target: progress.peer });
  tellWhenCaughtUp(state, role);
}

/** The target has acknowledged something: perhaps it holds everything now. */
export function onTransferProgress(state: RaftState, leader: LeaderRole, from: ReplicaId): void {
  if (leader.transfer?.target === from) tellWhenCaughtUp(state, leader);
}

/** Told again with every tick: the word may be lost. */
export function tickTransfer(state: RaftState, leader: LeaderRole): void {
  const { transfer: running } = leader;
  if (running === undefined) return;
  running.elapsedTicks++;
  if (running.elapsedTicks < state.config.electionTimeoutTicksMin) {
    tellWhenCaughtUp(state, leader);
    return;
  }
  leader.transfer = undefined;
  const { target } = running;
  state.outbox.transition({ kind: "transferAborted", term: state.term, target });
}

function tellWhenCaughtUp(state: RaftState, leader: LeaderRole): void {
  const { transfer: running } = leader;
  if (running === undefined) return;
  const progress = progressOf(leader, running.target);
  if (progress.matchIndex < state.log.lastIndex) return;
  state.outbox.sendNow(running.target, { kind: "timeoutNow", term: state.term });
}

function chooseTarget(
  state: RaftState,
  leader: LeaderRole,
  target: ReplicaId | undefined,
): Progress | undefined {
  const heard = leader.progress.filter(
    ({ contactElapsedTicks }) => contactElapsedTicks < state.config.electionTimeoutTicksMin,
  );
  if (target !== undefined) return heard.find(({ peer }) => peer === target);
  return heard.toSorted((a, b) => b.matchIndex - a.matchIndex)[0];
}
