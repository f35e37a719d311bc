/**
 * Changes of role and term that every part of the core makes in the same way (§5.1).
 */

import { assert } from "../base/assert.ts";
import type { ReplicaId, Term } from "../base/brands.ts";
import type { Transition } from "./output.ts";
import { refuseReadsOf } from "./read-index.ts";
import { type FollowerRole, newFollower, type RaftState } from "./state.ts";

type StepDownReason = Extract<Transition, { kind: "steppedDown" }>["reason"];

/**
 * A message with a higher term: take it over, with no vote cast in it and no leader but the one
 * that it may come from. The election timer of a follower runs on: a candidate that cannot win must
 * not be able to hold everyone else back.
 */
export function adoptTerm(state: RaftState, term: Term, leaderId: ReplicaId | undefined): void {
  assert(term > state.term, "terms never decrease (R4)");
  const { role } = state;
  if (role.kind === "leader") {
    state.outbox.transition({ kind: "steppedDown", term: state.term, reason: "higherTerm" });
  }
  state.term = term;
  state.votedFor = undefined;
  becomeFollower(state, leaderId);
}

/** A leader gives up its term. */
export function stepDown(state: RaftState, reason: StepDownReason): void {
  assert(state.role.kind === "leader", "only leaders step down");
  state.outbox.transition({ kind: "steppedDown", term: state.term, reason });
  becomeFollower(state, undefined);
}

/** The leader of this term was heard as such: the only contact that counts (§5.2). */
export function followLeader(state: RaftState, leaderId: ReplicaId): FollowerRole {
  const { role } = state;
  assert(role.kind !== "leader", "a term has one leader, and it is us (R1)");
  if (role.kind === "follower" && role.leaderId === leaderId) {
    role.electionElapsedTicks = 0;
    role.electionTimeoutTicks = undefined;
    return role;
  }
  const known = role.kind === "follower" ? role.leaderId : undefined;
  assert(known === undefined, "a term has one leader (R1)");
  const follower = becomeFollower(state, leaderId);
  follower.electionElapsedTicks = 0;
  return follower;
}

export function becomeFollower(state: RaftState, leaderId: ReplicaId | undefined): FollowerRole {
  const former = state.role;
  const follower = newFollower(leaderId);
  if (former.kind !== "leader") follower.electionElapsedTicks = former.electionElapsedTicks;
  state.role = follower;
  refuseReadsOf(state, former);
  state.outbox.transition({ kind: "becameFollower", term: state.term, leaderId });
  return follower;
}
