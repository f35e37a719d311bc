/** The order of durability: what depends on a write never leaves before it. */

import { expect, test } from "vitest";
import type { GroupId, LogIndex, ReplicaId, Term } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import type { Outbound } from "../../src/raft/output.ts";
import { OutputQueue } from "../../src/replica/output-queue.ts";
import type { DurableStep } from "../../src/replica/ports.ts";
import { NOTHING, persistOf } from "../raft/outputs.ts";

/** A message that names what it depends on. */
function message(number: number): Outbound {
  const term = number as Term;
  return { to: 2 as ReplicaId, message: { kind: "requestVoteReply", term, granted: true } };
}

class World {
  readonly steps: DurableStep[] = [];
  readonly log: string[] = [];
  readonly queue = new OutputQueue({
    group: 1 as GroupId,
    store: {
      submit: (submitted) => void this.steps.push(submitted),
      close: () => Promise.resolve(),
    },
    send: (messages) => {
      for (const sent of messages) this.log.push(`send ${sent.message.term}`);
    },
    onPersisted: ({ lastIndex }) => void this.log.push(`durable ${lastIndex}`),
  });

  complete(): void {
    this.steps.shift()?.onDurable();
  }
}

test("what may leave at once leaves at once, beside the write", () => {
  const { queue, log } = new World();
  queue.push({ ...NOTHING, persist: persistOf(1), sendNow: [message(7)] });
  expect(log).toEqual(["send 7"]);
});

test("messages wait for their own write and for every one before it", () => {
  const world = new World();
  world.queue.push({ ...NOTHING, persist: persistOf(1), sendAfterPersist: [message(1)] });
  world.queue.push({ ...NOTHING, sendAfterPersist: [message(2)] });
  world.queue.push({ ...NOTHING, persist: persistOf(2) });
  world.queue.push({ ...NOTHING, sendAfterPersist: [message(3), message(4)] });
  expect(world.log).toEqual([]);
  world.complete();
  expect(world.log).toEqual(["durable 1", "send 1", "send 2"]);
  world.complete();
  expect(world.log.slice(3)).toEqual(["durable 2", "send 3", "send 4"]);
});

test("without a write under way nothing has to wait", () => {
  const world = new World();
  world.queue.push({ ...NOTHING, sendAfterPersist: [message(1)] });
  expect(world.log).toEqual(["send 1"]);
  world.queue.push({ ...NOTHING, persist: persistOf(1) });
  world.complete();
  world.queue.push({ ...NOTHING, sendAfterPersist: [message(2)] });
  expect(world.log).toEqual(["send 1", "durable 1", "send 2"]);
});

test("in any interleaving every message leaves once, in order, after the writes before it", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const prng = Prng.fromSeed(seed);
    const world = new World();
    let written = 0;
    let pushed = 0;
    /** For each message, the writes that were pushed before it left the core. */
    const dependsOn: number[] = [];
    for (let turn = 0; turn < 60; turn++) {
      if (prng.chance(0.4)) world.complete();
      const persist = prng.chance(0.4) ? persistOf(++written) : undefined;
      const sendAfterPersist = Array.from({ length: prng.nextInteger(0, 2) }, () => {
        dependsOn.push(written);
        return message(pushed++);
      });
      world.queue.push({ ...NOTHING, persist, sendAfterPersist });
    }
    while (world.steps.length > 0) world.complete();
    let durable = 0;
    const sent: number[] = [];
    for (const [what, number] of world.log.map((line) => line.split(" "))) {
      if (what === "durable") expect(Number(number)).toBe(++durable);
      else {
        sent.push(Number(number));
        expect(dependsOn[Number(number)]).toBeLessThanOrEqual(durable);
      }
    }
    expect(sent).toEqual(dependsOn.map((_, at) => at));
  }
});

test("a step is submitted with its group and its parts", () => {
  const world = new World();
  const persist = persistOf(4, { truncateFrom: 3 as LogIndex });
  world.queue.push({ ...NOTHING, persist });
  expect(world.steps[0]).toMatchObject({ group: 1, truncateFrom: 3, hardState: undefined });
});
