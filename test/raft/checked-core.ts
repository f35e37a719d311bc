/**
 * A core for unit tests: every step is checked against the invariants, and the test completes the
 * persist steps when it wants to. Also: cores in each role, and short forms of messages.
 */

import { assert, defined } from "../../src/base/assert.ts";
import type { LogIndex, LogTimeMs, MonotonicMs, ReplicaId, Term } from "../../src/base/brands.ts";
import { EMPTY_BYTES, utf8ToBytes } from "../../src/base/bytes.ts";
import { RaftCore } from "../../src/raft/core.ts";
import type { Input } from "../../src/raft/input.ts";
import { checkBasic, checkStep } from "../../src/raft/invariants.ts";
import type { Message } from "../../src/raft/messages.ts";
import type { Output, Persist } from "../../src/raft/output.ts";
import type { RaftStatus } from "../../src/raft/status.ts";
import { type Entry, LOG_START, type RaftConfig } from "../../src/raft/types.ts";
import { type ConfigChanges, raftConfig } from "./raft-config.ts";

export interface Start {
  readonly term?: number;
  readonly votedFor?: number;
  readonly commitIndex?: number;
  /** Terms of the entries in its log, from index 1. */
  readonly entryTerms?: readonly number[];
}

/** What a step is given; the clock reading is added when it is processed. */
export type Given = Input extends infer I ? (I extends Input ? Omit<I, "nowMs"> : never) : never;

export class CheckedCore {
  readonly config: RaftConfig;
  core: RaftCore;
  nowMs = 0;
  readonly #pending: Persist[] = [];
  #nextId = 1;

  constructor(start: Start, changes: ConfigChanges = {}) {
    this.config = raftConfig(changes);
    const terms = start.entryTerms ?? [];
    this.core = new RaftCore(this.config, {
      hardState: {
        term: (start.term ?? terms.at(-1) ?? 0) as Term,
        votedFor: start.votedFor === undefined ? undefined : replica(start.votedFor),
        commitIndex: (start.commitIndex ?? 0) as LogIndex,
      },
      snapshot: LOG_START,
      base: LOG_START,
      entries: terms.map((term, at) => entry(term, at + 1)),
    });
    checkBasic(this.config, this.core.status());
  }

  get status(): RaftStatus {
    return this.core.status();
  }

  /** Terms of its log. */
  get entryTerms(): readonly number[] {
    const terms: number[] = [];
    for (let index = 1; index <= this.core.lastIndex; index++) {
      terms.push(defined(this.core.entryAt(index as LogIndex), "the log has no gaps").term);
    }
    return terms;
  }

  get pendingWrites(): number {
    return this.#pending.length;
  }

  step(given: Given): Output {
    const before = this.core.status();
    const input: Input = { ...given, nowMs: this.nowMs as MonotonicMs };
    const output = this.core.step(input);
    if (output.persist !== undefined) this.#pending.push(output.persist);
    checkStep({ config: this.config, core: this.core, before, input, output });
    return output;
  }

  receive(from: number, message: Message): Output {
    return this.step({ kind: "message", from: replica(from), message });
  }

  /** Ticks; gives the output of the last. */
  tick(count = 1): Output {
    let output: Output | undefined;
    for (let i = 0; i < count; i++) output = this.step({ kind: "tick" });
    return defined(output, "at least one tick");
  }

  propose(text: string): Output {
    const proposalId = this.#nextId++;
    return this.step({ kind: "propose", proposalId, payload: utf8ToBytes(text) });
  }

  read(readId: number): Output {
    return this.step({ kind: "readIndex", readId });
  }

  /** The oldest write completes. */
  persistOne(): Output {
    const { lastTerm, lastIndex } = defined(this.#pending.shift(), "a write is under way");
    return this.step({ kind: "persisted", lastTerm, lastIndex });
  }

  /** All writes complete; gives what they led to. */
  persistAll(): readonly Output[] {
    const outputs: Output[] = [];
    while (this.#pending.length > 0) outputs.push(this.persistOne());
    return outputs;
  }

  /** Ticks until it asks for votes; gives that tick's output. */
  campaign(): Output {
    for (let i = 0; i <= this.config.electionTimeoutTicksMax; i++) {
      const output = this.tick();
      if (output.transitions.some(({ kind }) => kind === "becamePreCandidate")) return output;
    }
    assert(false, "a replica campaigns within an election timeout");
  }
}

/** A candidate of the term after its start's: replica 2 said yes to its pre-vote. */
export function candidateWith(start: Start, changes: ConfigChanges = {}): CheckedCore {
  const core = new CheckedCore(start, changes);
  core.campaign();
  for (const peer of core.config.configuration.voters) {
    if (core.status.role === "preCandidate" && peer !== core.config.self) {
      core.receive(peer, preVoteReply({ term: core.status.term, granted: true }));
    }
  }
  assert(core.status.role === "candidate", "a quorum's pre-votes make a candidate");
  return core;
}

/** A leader of the term after its start's, its writes so far durable; nobody acknowledged yet. */
export function leaderWith(start: Start, changes: ConfigChanges = {}): CheckedCore {
  const core = candidateWith(start, changes);
  core.persistAll();
  for (const peer of core.config.configuration.voters) {
    if (core.status.role === "candidate" && peer !== core.config.self) {
      core.receive(peer, voteReply({ term: core.status.term, granted: true }));
    }
  }
  core.persistAll();
  assert(core.status.role === "leader", "a quorum's votes make a leader");
  return core;
}

/** A leader whose no-op is committed: both followers hold all of its log. */
export function readyLeader(start: Start = {}, changes: ConfigChanges = {}): CheckedCore {
  const core = leaderWith(start, changes);
  const { term, lastIndex } = core.status;
  for (const peer of core.config.configuration.voters) {
    if (peer === core.config.self) continue;
    core.receive(peer, accepted({ term, matchIndex: lastIndex }));
  }
  assert(core.status.isLeaderReady, "a quorum's copies of the no-op make a leader ready");
  return core;
}

export function replica(id: number): ReplicaId {
  return id as ReplicaId;
}

export function entry(term: number, index: number, timeMs = 0): Entry {
  return {
    index: index as LogIndex,
    term: term as Term,
    kind: "command",
    timeMs: timeMs as LogTimeMs,
    payload: EMPTY_BYTES,
  };
}

export function preVote(fields: {
  term: number;
  nextTerm: number;
  lastIndex: number;
  lastTerm: number;
}): Message {
  return { kind: "preVote", ...fields } as Message;
}

export function preVoteReply(fields: {
  term: number;
  nextTerm?: number;
  granted: boolean;
}): Message {
  return { kind: "preVoteReply", nextTerm: fields.term + 1, ...fields } as Message;
}

export function requestVote(fields: {
  term: number;
  lastIndex: number;
  lastTerm: number;
}): Message {
  return { kind: "requestVote", isTransfer: false, ...fields } as Message;
}

export function voteReply(fields: { term: number; granted: boolean }): Message {
  return { kind: "requestVoteReply", ...fields } as Message;
}

export function appendEntries(fields: {
  term: number;
  prevIndex: number;
  prevTerm: number;
  commitIndex?: number;
  entries?: readonly Entry[];
}): Message {
  return { kind: "appendEntries", commitIndex: 0, entries: [], ...fields } as Message;
}

export function accepted(fields: { term: number; matchIndex: number }): Message {
  const { term, matchIndex } = fields;
  return { kind: "appendEntriesReply", term, result: { kind: "accepted", matchIndex } } as Message;
}

export function rejected(fields: {
  term: number;
  prevIndex: number;
  hintIndex: number;
  hintTerm: number;
}): Message {
  const { term, ...result } = fields;
  return { kind: "appendEntriesReply", term, result: { kind: "rejected", ...result } } as Message;
}

export function heartbeat(fields: { term: number; commitIndex?: number; round?: number }): Message {
  return { kind: "heartbeat", commitIndex: 0, round: 1, ...fields } as Message;
}

export function heartbeatReply(fields: { term: number; round: number }): Message {
  return { kind: "heartbeatReply", ...fields } as Message;
}
