/**
 * A group as services see it, on whichever server they run: requests reach its leader (directly,
 * forwarded, or through another server that reaches it), reads are confirmed with it, and both wait
 * out elections up to their deadline.
 *
 * A request is repeated only while it is certain that it had no effect. "unknown" goes to the
 * caller, who may repeat the same request id.
 */

import {
  generationOf,
  type GroupId,
  type LogIndex,
  type MonotonicMs,
  REVISION_INDEX_LIMIT,
  type Revision,
  type ServerId,
} from "../base/brands.ts";
import type {
  Clock,
  ForwardAnswer,
  ForwardCall,
  ForwardFailure,
  Forwarder,
  Timers,
} from "./ports.ts";
import { Relays } from "./relays.ts";
import type { Replica } from "./replica.ts";

/** Between attempts that certainly had no effect; elections take some hundred ms. */
const RETRY_DELAY_MS = 25;

export type SubmitOutcome<Answer> =
  | { readonly kind: "applied"; readonly answer: Answer }
  | {
      readonly kind: "failed";
      readonly outcome: "notApplied" | "unknown";
      readonly reason: SubmitFailure;
    };

/** "noLeader": none was known until the deadline. "badAnswer": the leader is of another version. */
export type SubmitFailure = ForwardFailure | "noLeader" | "badAnswer";

export type ReadLevel =
  | { readonly kind: "linearizable" }
  | { readonly kind: "atLeast"; readonly revision: Revision }
  | { readonly kind: "local" };

export type ReadPermission =
  | { readonly kind: "ready" }
  /** Not confirmed before the deadline; the caller asks again or elsewhere. */
  | { readonly kind: "unavailable"; readonly reason: "noLeader" | "overloaded" | "behind" }
  /** atLeast named a revision of another generation. */
  | { readonly kind: "otherGeneration" };

export interface AccessCounts {
  readonly proposals: { applied: number; notApplied: number; unknown: number };
  readonly reads: { linearizable: number; atLeast: number; local: number };
}

export interface GroupAccessOptions<Request, Answer, Event> {
  readonly replica: Replica<Request, Answer, Event>;
  readonly self: ServerId;
  /** The server that holds a replica of this group. */
  readonly serverOf: (replicaId: number) => ServerId;
  /** All servers of the group but this one. */
  readonly others: readonly ServerId[];
  readonly forwarder: Forwarder;
  readonly clock: Clock;
  readonly timers: Timers;
}

export class GroupAccess<Request, Answer, Event> {
  readonly group: GroupId;
  readonly replica: Replica<Request, Answer, Event>;
  /** Since the start of the process. */
  readonly counts: AccessCounts = {
    proposals: { applied: 0, notApplied: 0, unknown: 0 },
    reads: { linearizable: 0, atLeast: 0, local: 0 },
  };
  readonly #options: GroupAccessOptions<Request, Answer, Event>;
  readonly #relays: Relays;

  constructor(options: GroupAccessOptions<Request, Answer, Event>) {
    this.#options = options;
    this.#relays = new Relays(options.others);
    this.replica = options.replica;
    this.group = options.replica.group;
  }

  get leaderServerId(): ServerId | undefined {
    const { leaderId } = this.replica.core;
    return leaderId === undefined ? undefined : this.#options.serverOf(leaderId);
  }

  get isLeader(): boolean {
    return this.leaderServerId === this.#options.self;
  }

  /** Whether a request could be brought to the leader now, in whatever way. */
  mayReachLeader(): boolean {
    if (this.leaderServerId !== undefined) return true;
    const nowMs = this.#options.clock.nowMs();
    this.#relays.onLeaderMissed(undefined, nowMs);
    return this.#relays.isDue(nowMs);
  }

  /** Has the group's leader append a request; resolves when it was applied there. */
  async submit(request: Request, timeoutMs: number): Promise<SubmitOutcome<Answer>> {
    const outcome = await this.#submit(request, timeoutMs);
    this.counts.proposals[outcome.kind === "applied" ? "applied" : outcome.outcome]++;
    return outcome;
  }

  /**
   * As submit, but a single attempt, for a caller that gathers requests and waits out elections
   * itself. Who leads is judged before the call returns its promise.
   */
  async submitOnce(request: Request, timeoutMs: number): Promise<SubmitOutcome<Answer>> {
    const command = this.replica.machine.encodeRequest(request);
    const outcome = await this.#attempt(command, this.#deadline(timeoutMs));
    this.counts.proposals[outcome.kind === "applied" ? "applied" : outcome.outcome]++;
    return outcome;
  }

  /** Hands on what the server that it comes from could not bring to the leader, once. */
  relay(call: ForwardCall): Promise<ForwardAnswer> {
    const leader = this.leaderServerId;
    if (leader === undefined || leader === this.#options.self) {
      return Promise.resolve({ kind: "failed", outcome: "notApplied", reason: "notLeader" });
    }
    return this.#options.forwarder.forward(leader, { ...call, mayRelay: false });
  }

  async #submit(request: Request, timeoutMs: number): Promise<SubmitOutcome<Answer>> {
    const command = this.replica.machine.encodeRequest(request);
    const deadlineMs = this.#deadline(timeoutMs);
    for (;;) {
      const outcome = await this.#attempt(command, deadlineMs);
      if (outcome.kind === "applied" || outcome.outcome === "unknown") return outcome;
      if (!isPassing(outcome.reason) || !(await this.#pause(deadlineMs))) return outcome;
    }
  }

  /** Resolves when this replica may answer at the level that is asked for. */
  async read(level: ReadLevel, timeoutMs: number): Promise<ReadPermission> {
    this.counts.reads[level.kind]++;
    // Nothing is known yet of the state that this replica starts from.
    if (!this.replica.isRestored && level.kind !== "linearizable") {
      return { kind: "unavailable", reason: "behind" };
    }
    switch (level.kind) {
      case "local":
        return { kind: "ready" };
      case "atLeast":
        return this.#readAtLeast(level.revision, timeoutMs);
      case "linearizable":
        return this.#readLinearizable(this.#deadline(timeoutMs));
    }
  }

  /** How far this replica may be behind (law 20). */
  staleness(): { readonly revisions: number; readonly confirmedMsAgo: number | undefined } {
    const { knownCommitIndex, appliedIndex, confirmedAtMs } = this.replica;
    const confirmedMsAgo =
      confirmedAtMs === undefined
        ? undefined
        : Math.ceil(this.#options.clock.nowMs() - confirmedAtMs);
    return { revisions: Math.max(0, knownCommitIndex - appliedIndex), confirmedMsAgo };
  }

  async #attempt(command: Uint8Array, deadlineMs: MonotonicMs): Promise<SubmitOutcome<Answer>> {
    const { self, clock } = this.#options;
    const leader = this.leaderServerId;
    if (leader === self) {
      this.#relays.onLeaderReached();
      const outcome = await this.replica.proposeEncoded(command, deadlineMs);
      return outcome.kind === "applied" ? { kind: "applied", answer: outcome.answer } : outcome;
    }
    const nowMs = clock.nowMs();
    if (leader === undefined) this.#relays.onLeaderMissed(undefined, nowMs);
    const to = this.#relays.choose(leader, nowMs) ?? leader;
    if (to === undefined) return { kind: "failed", outcome: "notApplied", reason: "noLeader" };
    const timeoutMs = deadlineMs - nowMs;
    if (timeoutMs <= 0) {
      return { kind: "failed", outcome: "notApplied", reason: "deadlineExceeded" };
    }
    return this.#decode(await this.#forward(to, { group: this.group, command, timeoutMs }, leader));
  }

  async #forward(
    to: ServerId,
    call: ForwardCall,
    leader: ServerId | undefined,
  ): Promise<ForwardAnswer> {
    const { forwarder, clock } = this.#options;
    if (to !== leader) {
      const answer = await forwarder.forward(to, { ...call, mayRelay: true });
      const wasAnswered = answer.kind === "applied" || answer.reason === "overloaded";
      this.#relays.onRelayed(to, wasAnswered, clock.nowMs());
      return answer;
    }
    const answer = await forwarder.forward(to, call);
    // Of one that is the leader no more it says nothing.
    if (this.leaderServerId !== leader) return answer;
    const contact = contactBy(answer);
    if (contact === "missed") this.#relays.onLeaderMissed(leader, clock.nowMs());
    else if (contact === "reached") this.#relays.onLeaderReached();
    return answer;
  }

  #decode(answer: ForwardAnswer): SubmitOutcome<Answer> {
    if (answer.kind === "failed") return answer;
    const decoded = this.replica.machine.decodeAnswer(answer.result);
    if (!decoded.ok) return { kind: "failed", outcome: "unknown", reason: "badAnswer" };
    return { kind: "applied", answer: decoded.value };
  }

  async #readAtLeast(revision: Revision, timeoutMs: number): Promise<ReadPermission> {
    const { machine } = this.replica;
    if (revision === 0) return { kind: "ready" };
    if (generationOf(revision) !== generationOf(machine.revision)) {
      return { kind: "otherGeneration" };
    }
    const index = (revision % REVISION_INDEX_LIMIT) as LogIndex;
    const outcome = await this.replica.waitApplied(index, this.#deadline(timeoutMs));
    return outcome === "ready" ? { kind: "ready" } : { kind: "unavailable", reason: "behind" };
  }

  async #readLinearizable(deadlineMs: MonotonicMs): Promise<ReadPermission> {
    for (;;) {
      const outcome = await this.replica.readIndex(deadlineMs);
      if (outcome === "ready") return { kind: "ready" };
      if (outcome === "overloaded") return { kind: "unavailable", reason: "overloaded" };
      if (!(await this.#pause(deadlineMs))) return { kind: "unavailable", reason: "noLeader" };
    }
  }

  /** Waits a little; false when the deadline does not allow another attempt. */
  #pause(deadlineMs: MonotonicMs): Promise<boolean> {
    const { clock, timers } = this.#options;
    if (clock.nowMs() + RETRY_DELAY_MS >= deadlineMs) return Promise.resolve(false);
    return new Promise((resolve) => {
      timers.after(RETRY_DELAY_MS, () => resolve(true));
    });
  }

  #deadline(timeoutMs: number): MonotonicMs {
    return (this.#options.clock.nowMs() + timeoutMs) as MonotonicMs;
  }
}

/** What an answer says of the way to the server that was asked; undefined: nothing. */
function contactBy(answer: ForwardAnswer): "reached" | "missed" | undefined {
  if (answer.kind === "applied") return "reached";
  switch (answer.reason) {
    case "notLeader":
    case "leaderChanged":
    case "overloaded":
      return "reached";
    case "unreachable":
      return "missed";
    case "deadlineExceeded":
      // Without an effect for certain: nothing was sent.
      return answer.outcome === "unknown" ? "missed" : undefined;
    case "shuttingDown":
      return undefined;
  }
}

/** Failures that another attempt may not meet. */
export function isPassing(reason: SubmitFailure): boolean {
  switch (reason) {
    case "noLeader":
    case "notLeader":
    case "leaderChanged":
    case "unreachable":
    case "shuttingDown":
      return true;
    case "overloaded":
    case "deadlineExceeded":
    case "badAnswer":
      return false;
  }
}
