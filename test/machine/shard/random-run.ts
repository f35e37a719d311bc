/**
 * A shard under random requests of two clients, changes of leaders and of durations, with what it
 * takes to give them to another.
 */

import type { LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { EntryMeta } from "../../../src/machine/group.ts";
import type { ShardAnswer } from "../../../src/machine/shard/answers.ts";
import type { ShardRequest } from "../../../src/machine/shard/commands.ts";
import type { ShardEvent } from "../../../src/machine/shard/events.ts";
import type { ShardMachine } from "../../../src/machine/shard/machine.ts";
import { setDuration, ShardHarness } from "./harness.ts";
import { randomCommand } from "./random-commands.ts";

export interface RandomEntry {
  /** What has happened to the machine beside the entry. */
  readonly prepare: (machine: ShardMachine) => void;
  readonly meta: EntryMeta;
  /** undefined: a leader's noop, which has no answer. */
  readonly request: ShardRequest | undefined;
  readonly answer: ShardAnswer | undefined;
  readonly events: readonly ShardEvent[];
}

export class RandomRun {
  readonly prng: Prng;
  readonly shard = new ShardHarness();
  readonly #sequences = new Map<string, number>();

  constructor(seed: number) {
    this.prng = Prng.fromSeed(seed);
  }

  steps(count: number): void {
    for (let at = 0; at < count; at++) this.step();
  }

  /** Applies one more random entry, which checks every invariant. */
  step(): RandomEntry {
    const { prng, shard } = this;
    shard.timeMs += prng.chance(0.5) ? 0 : prng.nextInteger(0, prng.chance(0.1) ? 5_000 : 700);
    // Long enough, now and then, that answers are forgotten.
    if (prng.chance(0.01)) shard.timeMs += prng.nextInteger(0, 700_000);
    const prepare = this.#changeDuration();
    const { request, answer, events } = prng.chance(0.07) ? this.#noop() : this.#command();
    const index = shard.revision as number as LogIndex;
    const meta = { index, term: 1 as Term, timeMs: shard.timeMs as LogTimeMs };
    return { prepare, meta, request, answer, events };
  }

  #noop(): Pick<RandomEntry, "request" | "answer" | "events"> {
    return { request: undefined, answer: undefined, events: this.shard.noop() };
  }

  #command(): Pick<RandomEntry, "request" | "answer" | "events"> {
    const command = randomCommand(this.prng, this.shard);
    const request = { requestId: this.#requestId(command.kind), command };
    const { answer, events } = this.shard.apply(command, request.requestId);
    return { request, answer, events };
  }

  #changeDuration(): RandomEntry["prepare"] {
    const { prng, shard } = this;
    const keyspaceId = prng.nextInteger(1, 2);
    const durationMs = prng.pick([500, 3_000, 10_000]);
    if (!shard.machine.state.keyspaces.has(keyspaceId) || !prng.chance(0.05)) return () => {};
    const prepare = (machine: ShardMachine): void => setDuration(machine, keyspaceId, durationMs);
    prepare(shard.machine);
    return prepare;
  }

  #requestId(kind: ShardRequest["command"]["kind"]): ShardRequest["requestId"] {
    const { prng } = this;
    if (kind !== "grant" && kind !== "defineRanges" && kind !== "withdrawSuccessor") {
      return undefined;
    }
    const clientId = prng.pick(["k", "m"]);
    const last = this.#sequences.get(clientId) ?? 0;
    const sequence = last === 0 || prng.chance(0.9) ? last + 1 : last;
    this.#sequences.set(clientId, sequence);
    const acknowledgedBelow = Math.max(0, sequence - prng.nextInteger(0, 3));
    const seenRevision = (prng.chance(0.9) ? this.shard.revision : 0) as Revision;
    return { clientId, sequence, seenRevision, acknowledgedBelow };
  }
}
