/** A shard under random requests of two clients, with what it takes to give them to another. */

import type { LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { EntryMeta } from "../../../src/machine/group.ts";
import type { ShardAnswer } from "../../../src/machine/shard/answers.ts";
import type { ShardRequest } from "../../../src/machine/shard/commands.ts";
import type { ShardEvent } from "../../../src/machine/shard/events.ts";
import { ShardHarness } from "./harness.ts";
import { randomCommand } from "./random-commands.ts";

export interface RandomEntry {
  readonly meta: EntryMeta;
  readonly request: ShardRequest;
  readonly answer: ShardAnswer;
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
    const command = randomCommand(prng, shard);
    const request = { requestId: this.#requestId(command.kind), command };
    const { answer, events } = shard.apply(command, request.requestId);
    const index = shard.revision as number as LogIndex;
    const meta = { index, term: 1 as Term, timeMs: shard.timeMs as LogTimeMs };
    return { meta, request, answer, events };
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
    return { clientId, sequence, seenRevision: 0 as Revision, acknowledgedBelow };
  }
}
