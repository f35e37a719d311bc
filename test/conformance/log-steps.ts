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
  type LogPosition,
} from "../../src/raft/types.ts";
import type { DurableStep, LoadedReplica } from "../../src/replica/ports.ts";

export interface TestReplica {
  readonly group: GroupId;
  readonly replicaId: ReplicaId;
  readonly configuration: Configuration;
}

export const groupOf = (group: number): GroupId => group as GroupId;
export const indexOf = (index: number): LogIndex => index as LogIndex;

/** Where the entry of entryOf(index, term) ends a log. */
export function positionOf(index: number, term: number): LogPosition {
  const { timeMs } = entryOf(index, term);
  return { index: indexOf(index), term: term as Term, timeMs };
}

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
    const { base, snapshot } = replica;
    const start = `base ${describePosition(base)} snapshot ${describePosition(snapshot)}`;
    return `${head} ${voters} ${state} ${start}${replica.entries.map(describeEntry).join("")}`;
  });
}

function describePosition({ index, term, timeMs }: LogPosition): string {
  return `${index}/${term}/${timeMs}`;
}

function describeEntry(entry: Entry): string {
  const { index, term, kind, timeMs, payload } = entry;
  return ` | ${index} term ${term} ${kind} at ${timeMs} ${bytesToHex(payload)}`;
}

interface ModelLog {
  readonly hardState: HardState;
  readonly base: LogPosition;
  readonly snapshot: LogPosition;
  readonly entries: readonly Entry[];
}

const NEW_LOG: ModelLog = { hardState: INITIAL_HARD_STATE, ...START, entries: [] };

/** What a store must hold. */
export class StoreModel {
  readonly #replicas: readonly TestReplica[];
  readonly #logs = new Map<GroupId, ModelLog>();
  /** After each step since the last reset, oldest first; the first is the state before them. */
  #history: string[][];

  constructor(replicas: readonly TestReplica[]) {
    this.#replicas = replicas.toSorted((a, b) => a.group - b.group);
    for (const { group } of replicas) this.#logs.set(group, NEW_LOG);
    this.#history = [this.describe()];
  }

  take(step: DurableStep): void {
    const log = this.#log(step.group);
    const { truncateFrom = Number.MAX_SAFE_INTEGER, base = log.base } = step;
    const isLive = ({ index }: Entry): boolean => index < truncateFrom && index > base.index;
    this.#logs.set(step.group, {
      hardState: step.hardState ?? log.hardState,
      base,
      snapshot: step.snapshot ?? log.snapshot,
      entries: [...log.entries.filter(isLive), ...step.entries],
    });
    this.#history.push(this.describe());
  }

  describe(): string[] {
    const loaded = this.#replicas.map((replica) => ({ ...replica, ...this.#log(replica.group) }));
    return describeReplicas(loaded);
  }

  /** The states that a crash may leave when the first `acknowledged` steps of all were told. */
  statesSince(acknowledged: number): readonly string[][] {
    return this.#history.slice(acknowledged);
  }

  /** Continues from what a store was found to hold. */
  reset(found: readonly LoadedReplica[]): void {
    for (const { group, hardState, base, snapshot, entries } of found) {
      this.#logs.set(group, { hardState, base, snapshot, entries });
    }
    this.#history = [this.describe()];
  }

  /** A step that Raft might make next, in some group. */
  randomStep(prng: Prng, onDurable: () => void): DurableStep {
    const { group } = prng.pick(this.#replicas);
    const log = this.#log(group);
    const common = { group, onDurable };
    if (prng.chance(0.2)) {
      const { term, commitIndex } = log.hardState;
      const vote = prng.chance(0.5) ? prng.nextInteger(1, 3) : undefined;
      const hardState = hardStateOf(term + prng.nextInteger(1, 3), vote, commitIndex);
      return stepOf({ ...common, hardState });
    }
    if (prng.chance(0.05)) return stepOf({ ...common, ...randomInstall(log, prng) });
    const isCheckpoint = log.hardState.commitIndex > log.snapshot.index && prng.chance(0.2);
    const moved = isCheckpoint ? randomCheckpoint(log, prng) : {};
    return stepOf({ ...common, ...randomAppend(log, prng), ...moved });
  }

  #log(group: GroupId): ModelLog {
    const log = this.#logs.get(group);
    if (log === undefined) throw new Error(`the model has no group ${group}`);
    return log;
  }
}

/** Entries at the end, or in place of a conflicting suffix. */
function randomAppend(log: ModelLog, prng: Prng): Partial<DurableStep> {
  const { hardState } = log;
  const { lastIndex } = endOf(log);
  const isConflict = prng.chance(0.3) && lastIndex > hardState.commitIndex;
  const kept = isConflict ? prng.nextInteger(hardState.commitIndex, lastIndex - 1) : lastIndex;
  const term = hardState.term + (isConflict || hardState.term === 0 ? 1 : 0);
  const count = prng.nextInteger(isConflict ? 0 : 1, 4);
  const entries = randomEntries(kept, term, count, prng);
  const commitIndex = prng.nextInteger(hardState.commitIndex, kept + count);
  const isSameTerm = term === hardState.term;
  const vote = isSameTerm ? hardState.votedFor : undefined;
  return {
    hardState: isSameTerm && prng.chance(0.5) ? undefined : hardStateOf(term, vote, commitIndex),
    truncateFrom: isConflict ? indexOf(kept + 1) : undefined,
    entries,
  };
}

/** A snapshot of what was committed before this step, and perhaps a log that begins later. */
function randomCheckpoint(log: ModelLog, prng: Prng): Partial<DurableStep> {
  const { snapshot, base, hardState } = log;
  const taken = prng.nextInteger(snapshot.index + 1, hardState.commitIndex);
  const moved = prng.nextInteger(base.index, taken);
  return {
    snapshot: positionIn(log, taken),
    base: prng.chance(0.7) && moved > base.index ? positionIn(log, moved) : undefined,
  };
}

/**
 * A snapshot from elsewhere: what is behind the commit index is given up, as a follower does. One
 * of the present term lies behind all entries of that term: they are its leader's.
 */
function randomInstall(log: ModelLog, prng: Prng): Partial<DurableStep> {
  const { commitIndex, term, votedFor } = log.hardState;
  const { lastIndex, lastTerm } = endOf(log);
  const isNewTerm = term === 0 || prng.chance(0.5);
  const newTerm = isNewTerm ? term + 1 : term;
  const isLedOn = !isNewTerm && lastTerm === term;
  const index = (isLedOn ? lastIndex : commitIndex) + prng.nextInteger(1, 8);
  const position = positionOf(index, newTerm);
  return {
    hardState: hardStateOf(newTerm, isNewTerm ? undefined : votedFor, index),
    truncateFrom: lastIndex > commitIndex ? indexOf(commitIndex + 1) : undefined,
    snapshot: position,
    base: position,
    entries: randomEntries(index, newTerm, prng.nextInteger(0, 2), prng),
  };
}

function randomEntries(lastIndex: number, term: number, count: number, prng: Prng): Entry[] {
  return Array.from({ length: count }, (_, at) =>
    entryOf(lastIndex + 1 + at, term, randomText(prng)),
  );
}

function endOf({ base, entries }: ModelLog): { lastIndex: number; lastTerm: number } {
  const { index, term } = entries.at(-1) ?? base;
  return { lastIndex: index, lastTerm: term };
}

function positionIn({ base, entries }: ModelLog, index: number): LogPosition {
  const entry = entries[index - base.index - 1];
  if (entry === undefined) return base;
  return { index: entry.index, term: entry.term, timeMs: entry.timeMs };
}

function randomText(prng: Prng): string {
  return prng.chance(0.1) ? "" : "x".repeat(prng.nextInteger(1, 40)) + prng.nextUint32();
}
