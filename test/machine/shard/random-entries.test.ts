/** Random entries against the invariants of SPEC.md, replay equality and golden determinism. */

import { expect, test } from "vitest";
import type { LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { ShardRequest } from "../../../src/machine/shard/commands.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import { GROUP, ShardHarness } from "./harness.ts";
import { randomCommand } from "./random-commands.ts";

const SEEDS = 60;
const ENTRIES = 250;

test("random entries keep every invariant, and replaying them gives the same answers", () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      runSeed(seed, seen);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  const wanted = ["granted", "expired", "released", "successorSet", "successorLifted", "imported"];
  for (const cause of [
    ...wanted,
    "restarted",
    "accepted",
    "rangesDefined",
    "replayed",
    "viewTooOld",
  ]) {
    expect(seen, `the runs must reach ${cause}`).toContain(cause);
  }
}, 120_000);

function runSeed(seed: number, seen: Set<string>): void {
  const prng = Prng.fromSeed(seed);
  const shard = new ShardHarness();
  const log: { request: ShardRequest; timeMs: number; answer: string }[] = [];
  let sequence = 0;
  for (let entry = 0; entry < ENTRIES; entry++) {
    shard.timeMs += prng.chance(0.5) ? 0 : prng.nextInteger(0, prng.chance(0.1) ? 5_000 : 700);
    const command = randomCommand(prng, shard);
    const isNew = sequence === 0 || prng.chance(0.9);
    const hasId = command.kind === "grant" || command.kind === "defineRanges";
    const requestId = hasId
      ? {
          clientId: "k",
          sequence: isNew ? ++sequence : sequence,
          seenRevision: 0 as Revision,
          acknowledgedBelow: Math.max(0, sequence - prng.nextInteger(0, 3)),
        }
      : undefined;
    const { answer, events, result } = shard.apply(command, requestId);
    for (const { cause } of events) seen.add(cause);
    if (answer.replayed) seen.add("replayed");
    if (result.kind === "renewed") for (const { kind } of result.answers) seen.add(kind);
    const { machine, timeMs } = shard;
    const text = Buffer.from(machine.encodeAnswer(answer)).toString("hex");
    log.push({ request: { requestId, command }, timeMs, answer: text });
  }
  replay(log);
}

/** A fresh machine that decodes the entries from bytes gives the same answers (invariant 21). */
function replay(log: readonly { request: ShardRequest; timeMs: number; answer: string }[]): void {
  const machine = new ShardMachine(GROUP);
  for (const [at, { request, timeMs, answer }] of log.entries()) {
    const decoded = machine.decodeRequest(machine.encodeRequest(request));
    if (!decoded.ok) throw new Error(decoded.error);
    const meta = { index: (at + 1) as LogIndex, term: 1 as Term, timeMs: timeMs as LogTimeMs };
    const applied = machine.apply(meta, decoded.value);
    if (applied.answer === undefined) throw new Error("a command has an answer");
    expect(Buffer.from(machine.encodeAnswer(applied.answer)).toString("hex")).toBe(answer);
  }
}
