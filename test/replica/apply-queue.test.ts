/** Committed entries come out as they went in, and the host applies them in slices. */

import { expect, test } from "vitest";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import type { Entry } from "../../src/raft/types.ts";
import { ApplyQueue } from "../../src/replica/apply-queue.ts";
import { addBytes, entry, LoneReplica, PEER, watchOutcome } from "./lone-replica.ts";

test("entries come out once each, in order, however they were put in", () => {
  const queue = new ApplyQueue();
  const entries = [1, 2, 3, 4, 5, 6].map((index) => entry(index, 1));
  const taken: (Entry | undefined)[] = [];
  queue.push(entries.slice(0, 3));
  queue.push([]);
  taken.push(queue.take());
  queue.push(entries.slice(3, 4));
  while (!queue.isEmpty) taken.push(queue.take());
  expect(queue.take()).toBeUndefined();
  queue.push(entries.slice(4));
  while (!queue.isEmpty) taken.push(queue.take());
  expect(taken).toEqual(entries);
});

const LENGTH = 1_000;

/** A replica that has a long committed log on its disk. */
async function withLongLog(): Promise<LoneReplica> {
  const lone = new LoneReplica();
  const entries = Array.from({ length: LENGTH }, (_, at) => entry(at + 1, 1, addBytes(1)));
  await lone.follow(entries, { term: 1, prev: [0, 0], commit: LENGTH });
  // A step that is written anyway takes the commit index along.
  await lone.follow([entry(LENGTH + 1, 2)], { term: 2, prev: [LENGTH, 1], commit: LENGTH });
  return lone;
}

test("a long log is applied in slices after a restart, and peers are answered in between", async () => {
  const former = await withLongLog();
  const end = (LENGTH + 1) as LogIndex;
  let answeredAt: number | undefined;
  const again = new LoneReplica({
    after: former,
    onApplied: () => {
      const { appliedIndex } = again.replica;
      again.clock.freeze(1);
      if (answeredAt === undefined && again.take("heartbeatReply").length > 0) {
        answeredAt = appliedIndex;
      }
      if (appliedIndex > 1) return;
      // It lies in a socket while the first slice is applied, and commits one entry more.
      again.clock.soon(() => {
        const message = { kind: "heartbeat", term: 2 as Term, round: 1, commitIndex: end } as const;
        again.replica.receive(PEER, message);
      });
    },
  });
  expect(again.replica.replayedIndex).toBe(LENGTH);
  again.replica.tick();
  const halfway = watchOutcome(again.replica.waitApplied(500 as LogIndex, again.deadline(9_000)));
  await again.clock.settle();
  expect(answeredAt).toBeLessThan(50);
  expect(halfway.value).toBe("ready");
  expect(again.machine.applied).toEqual([...Array<string>(LENGTH).fill("add 1"), "noop"]);
  expect(again.replica.appliedIndex).toBe(end);
  expect(again.replica.core.status().appliedIndex).toBe(end);
});

test("whoever waits for an index is answered when it is applied, not when it is committed", async () => {
  const former = await withLongLog();
  const seen: [number, string | undefined][] = [];
  let outcome: { readonly value: string | undefined } = { value: undefined };
  const again = new LoneReplica({
    after: former,
    onApplied: () => {
      again.clock.freeze(1);
      if (again.replica.appliedIndex % 100 === 0) {
        seen.push([again.replica.appliedIndex, outcome.value]);
      }
    },
  });
  again.replica.tick();
  outcome = watchOutcome(again.replica.waitApplied(550 as LogIndex, again.deadline(9_000)));
  await again.clock.settle();
  const early = seen.filter(([index]) => index <= 500).map(([, value]) => value);
  const late = seen.filter(([index]) => index > 600).map(([, value]) => value);
  expect(early).toEqual(Array(5).fill(undefined));
  expect(late).toEqual(Array(4).fill("ready"));
});

test("a replica that is stopped between two slices applies nothing more", async () => {
  const former = await withLongLog();
  const again = new LoneReplica({
    after: former,
    onApplied: () => {
      again.clock.freeze(1);
      if (again.replica.appliedIndex === 1) again.clock.soon(() => again.replica.stop());
    },
  });
  again.replica.tick();
  await again.clock.settle();
  expect(again.replica.appliedIndex).toBeLessThan(50);
  expect(again.machine.applied).toHaveLength(again.replica.appliedIndex);
});
