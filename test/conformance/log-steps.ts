/**
 * Steps for tests of log stores, and a model of what a store must hold after them: plain arrays,
 * and for each moment since the last check the state that a crash may leave.
 */

import type { GroupId, LogIndex, LogTimeMs, ReplicaId, Term } from "../../src/base/brands.ts";
import { bytesToHex, utf8ToBytes } from "../../src/base/bytes.ts";
import type { Prng } from "../../src/base/prng.ts";
import {
  type Configuration,
  type Entry,
  type HardState,
  INITIAL_HARD_STATE,
  LOG_START,
} from "../../src/raft/types.ts";
import type { DurableStep, LoadedReplica } from "../../src/replica/ports.ts";

export interface TestReplica {
  readonly group: GroupId;
  readonly replicaId: ReplicaId;
  readonly configuration: Configuration;
}

export const groupOf = (group: number): GroupId => group as GroupId;
export const indexOf = (index: number): LogIndex => index as LogIndex;

/** Of a log that was never compacted. */
export const START = { snapshot: LOG_START, base: LOG_START } as const;

export function replicaOf(group: number, replicaId = 1): TestReplica {
  const voters = [1, 2, 3] as ReplicaId[];
  return {
    group: groupOf(group),
    replicaId: replicaId as ReplicaId,
    configuration: { voters },
  };
}

export function entryOf(index: number, term: number, text = `entry ${index} of ${term}`): Entry {
  return {
    index: index as LogIndex,
    term: term as Term,
    kind: text === "" ? "noop" : "command",
    timeMs: (index * 10) as LogTimeMs,
    payload: utf8ToBytes(text),
  };
}

export function hardStateOf(term: number, votedFor?: number, commitIndex = 0): HardState {
  return {
    term: term as Term,
    votedFor: votedFor as ReplicaId | undefined,
    commitIndex: commitIndex as LogIndex,
  };
}

/** A step of group 0 unless it says otherwise. */
export function stepOf(parts: Partial<DurableStep>): DurableStep {
  return {
    group: groupOf(0),
    hardState: undefined,
    truncateFrom: undefined,
    base: undefined,
    snapshot: undefined,
    entries: [],
    onDurable: () => undefined,
    ...parts,
  };
}

/** Text of replicas, for comparing and for reading a failure. */
export function describeReplicas(replicas: readonly LoadedReplica[]): string[] {
  return replicas.map((replica) => {
    const { term, votedFor, commitIndex } = replica.hardState;
    const head = `group ${replica.group} replica ${replica.replicaId}`;
    const voters = `voters ${replica.configuration.voters.join(",")}`;
    const state = `term ${term} vote ${votedFor ?? "-"} commit ${commitIndex}`;
    return `${head} ${voters} ${state}${replica.entries.map(describeEntry).join("")}`;
  });
}

function describeEntry(entry: Entry): string {
  const { index, term, kind, timeMs, payload } = entry;
  return ` | ${index} term ${term} ${kind} at ${timeMs} ${bytesToHex(payload)}`;
}

/** What a store must hold. */
export class StoreModel {
  readonly #replicas: readonly TestReplica[];
  readonly #logs = new Map<GroupId, { hardState: HardState; entries: Entry[] }>();
  /** After each step since the last reset, oldest first; the first is the state before them. */
  #history: string[][];

  constructor(replicas: readonly TestReplica[]) {
    this.#replicas = replicas.toSorted((a, b) => a.group - b.group);
    for (const { group } of replicas) {
      this.#logs.set(group, { hardState: INITIAL_HARD_STATE, entries: [] });
    }
    this.#history = [this.describe()];
  }

  take(step: DurableStep): void {
    const log = this.#log(step.group);
    if (step.truncateFrom !== undefined) log.entries.splice(step.truncateFrom - 1);
    log.entries.push(...step.entries);
    log.hardState = step.hardState ?? log.hardState;
    this.#history.push(this.describe());
  }

  describe(): string[] {
    const loaded = this.#replicas.map((replica) => ({
      ...replica,
      ...START,
      ...this.#log(replica.group),
    }));
    return describeReplicas(loaded);
  }

  /** The states that a crash may leave when the first `acknowledged` steps of all were told. */
  statesSince(acknowledged: number): readonly string[][] {
    return this.#history.slice(acknowledged);
  }

  /** Continues from what a store was found to hold. */
  reset(found: readonly LoadedReplica[]): void {
    for (const { group, hardState, entries } of found) {
      this.#logs.set(group, { hardState, entries: [...entries] });
    }
    this.#history = [this.describe()];
  }

  /** A step that Raft might make next, in some group. */
  randomStep(prng: Prng, onDurable: () => void): DurableStep {
    const { group } = prng.pick(this.#replicas);
    const { hardState, entries } = this.#log(group);
    const base = { group, onDurable };
    if (prng.chance(0.2)) {
      const term = hardState.term + prng.nextInteger(1, 3);
      const vote = prng.chance(0.5) ? prng.nextInteger(1, 3) : undefined;
      return stepOf({ ...base, hardState: hardStateOf(term, vote, hardState.commitIndex) });
    }
    const isConflict = prng.chance(0.3) && entries.length > hardState.commitIndex;
    const kept = isConflict
      ? prng.nextInteger(hardState.commitIndex, entries.length - 1)
      : entries.length;
    const term = hardState.term + (isConflict || hardState.term === 0 ? 1 : 0);
    const added = Array.from({ length: prng.nextInteger(isConflict ? 0 : 1, 4) }, (_, at) =>
      entryOf(kept + 1 + at, term, randomText(prng)),
    );
    const commitIndex = prng.nextInteger(hardState.commitIndex, kept + added.length);
    const isSameTerm = term === hardState.term;
    const vote = isSameTerm ? hardState.votedFor : undefined;
    return stepOf({
      ...base,
      hardState: isSameTerm && prng.chance(0.5) ? undefined : hardStateOf(term, vote, commitIndex),
      truncateFrom: isConflict ? indexOf(kept + 1) : undefined,
      entries: added,
    });
  }

  #log(group: GroupId): { hardState: HardState; entries: Entry[] } {
    const log = this.#logs.get(group);
    if (log === undefined) throw new Error(`the model has no group ${group}`);
    return log;
  }
}

function randomText(prng: Prng): string {
  return prng.chance(0.1) ? "" : "x".repeat(prng.nextInteger(1, 40)) + prng.nextUint32();
}
