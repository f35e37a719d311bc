/**
 * What a run did: a hash over every step, the last steps in words, and counts of what was covered.
 */

import type { ReplicaId } from "../../src/base/brands.ts";
import type { Input } from "../../src/raft/input.ts";
import type { Output } from "../../src/raft/output.ts";
import type { RaftStatus } from "../../src/raft/status.ts";
import { inputToText, outputToText } from "../raft/step-text.ts";

const LINES_KEPT = 80;

interface TracedStep {
  readonly atMs: number;
  readonly replica: ReplicaId;
  readonly input: Input;
  readonly output: Output;
}

export class TraceLog {
  #hash = 0x811c9dc5;
  readonly #last: TracedStep[] = [];
  #count = 0;

  get hash(): number {
    return this.#hash >>> 0;
  }

  record(step: TracedStep, after: RaftStatus): void {
    this.#mix(Math.floor(step.atMs * 1_000));
    this.#mix(step.replica);
    this.#mix(step.input.kind.length);
    this.#mix(after.term);
    this.#mix(after.lastIndex);
    this.#mix(after.commitIndex);
    this.#mix(after.persistedIndex);
    this.#mix(step.output.sendNow.length * 16 + step.output.sendAfterPersist.length);
    this.#last[this.#count++ % LINES_KEPT] = step;
  }

  /** The last steps, oldest first, one a line. */
  lastLines(): string {
    const lines: string[] = [];
    for (let at = Math.max(0, this.#count - LINES_KEPT); at < this.#count; at++) {
      const { atMs, replica, input, output } = this.#last[at % LINES_KEPT] as TracedStep;
      const did = outputToText(replica, output).join("; ");
      lines.push(`${atMs.toFixed(2)} ${replica} ${inputToText(input)} -> ${did}`);
    }
    return lines.join("\n");
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ (value | 0), 0x01000193);
    this.#hash ^= this.#hash >>> 15;
  }
}

/** How often each thing happened. A long run in which one of them never did proves little. */
export interface RaftCoverage {
  elections: number;
  preVotesRefused: number;
  votesRefused: number;
  stepDownsQuorumLost: number;
  stepDownsHigherTerm: number;
  stepDownsDiskStalled: number;
  truncations: number;
  rejections: number;
  readsByLeader: number;
  readsByFollower: number;
  readsRefused: number;
  proposalsRefused: number;
  crashesWithLoss: number;
  crashesWithTornWrite: number;
  lostMessages: number;
  duplicates: number;
  oldMessages: number;
  clockJumps: number;
  pauses: number;
  checkpoints: number;
  checkpointsTooLate: number;
  compactions: number;
  snapshotOffers: number;
  transfersFailed: number;
  snapshotsUseless: number;
  snapshotsInstalled: number;
  startsFromSnapshot: number;
}

export function newCoverage(): RaftCoverage {
  return {
    elections: 0,
    preVotesRefused: 0,
    votesRefused: 0,
    stepDownsQuorumLost: 0,
    stepDownsHigherTerm: 0,
    stepDownsDiskStalled: 0,
    truncations: 0,
    rejections: 0,
    readsByLeader: 0,
    readsByFollower: 0,
    readsRefused: 0,
    proposalsRefused: 0,
    crashesWithLoss: 0,
    crashesWithTornWrite: 0,
    lostMessages: 0,
    duplicates: 0,
    oldMessages: 0,
    clockJumps: 0,
    pauses: 0,
    checkpoints: 0,
    checkpointsTooLate: 0,
    compactions: 0,
    snapshotOffers: 0,
    transfersFailed: 0,
    snapshotsUseless: 0,
    snapshotsInstalled: 0,
    startsFromSnapshot: 0,
  };
}

export function addCoverage(total: RaftCoverage, more: RaftCoverage): void {
  for (const key of Object.keys(total) as (keyof RaftCoverage)[]) total[key] += more[key];
}

/** Counts what a step's output shows. */
export function countStep(coverage: RaftCoverage, output: Output, isLeader: boolean): void {
  for (const transition of output.transitions) {
    if (transition.kind === "becameLeader") coverage.elections++;
    if (transition.kind === "truncated") coverage.truncations++;
    if (transition.kind !== "steppedDown") continue;
    if (transition.reason === "quorumLost") coverage.stepDownsQuorumLost++;
    if (transition.reason === "higherTerm") coverage.stepDownsHigherTerm++;
    if (transition.reason === "diskStalled") coverage.stepDownsDiskStalled++;
  }
  if (output.install !== undefined) coverage.snapshotsInstalled++;
  if (output.persist?.base !== undefined) coverage.compactions++;
  for (const { message } of output.sendNow) {
    if (message.kind === "snapshotOffer") coverage.snapshotOffers++;
    if (message.kind === "preVoteReply" && !message.granted) coverage.preVotesRefused++;
    if (message.kind === "requestVoteReply" && !message.granted) coverage.votesRefused++;
    if (message.kind !== "appendEntriesReply") continue;
    if (message.result.kind === "rejected") coverage.rejections++;
  }
  if (isLeader) coverage.readsByLeader += output.readsReady.length;
  else coverage.readsByFollower += output.readsReady.length;
  for (const { kind } of output.refused) {
    if (kind === "read") coverage.readsRefused++;
    else coverage.proposalsRefused++;
  }
}
