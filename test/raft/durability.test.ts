import { expect, test } from "vitest";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import { Durability } from "../../src/raft/durability.ts";
import type { Persist } from "../../src/raft/output.ts";
import { INITIAL_HARD_STATE, LOG_START } from "../../src/raft/types.ts";
import { replica } from "./checked-core.ts";
import { persistOf } from "./outputs.ts";

function step(lastTerm: number, lastIndex: number): Persist {
  return persistOf(lastIndex, { lastTerm: lastTerm as Term });
}

function durable(lastIndex: number): Durability {
  return new Durability(INITIAL_HARD_STATE, LOG_START, lastIndex as LogIndex);
}

test("what was restored is durable, what is under way is not", () => {
  const durability = durable(4);
  durability.started(step(1, 6));
  expect(durability.durableIndex).toBe(4);
  durability.completed(1 as Term, 6 as LogIndex);
  expect(durability.durableIndex).toBe(6);
});

test("a completed write vouches for nothing that was cut since (R7)", () => {
  const durability = durable(5);
  durability.started(step(3, 8));
  durability.truncated(7 as LogIndex);
  durability.started(step(4, 7));
  expect(durability.durableIndex).toBe(5);
  durability.completed(3 as Term, 8 as LogIndex);
  expect(durability.durableIndex).toBe(6);
  durability.completed(4 as Term, 7 as LogIndex);
  expect(durability.durableIndex).toBe(7);
});

test("cutting what is durable lowers the durable index at once (R7)", () => {
  const durability = durable(5);
  durability.truncated(3 as LogIndex);
  expect(durability.durableIndex).toBe(2);
});

test("cut and appended again to the same length, each write vouches for its own (R7)", () => {
  const durability = durable(1);
  durability.started(step(2, 3));
  durability.truncated(2 as LogIndex);
  durability.started(step(3, 3));
  durability.truncated(3 as LogIndex);
  durability.started(step(4, 3));
  durability.completed(2 as Term, 3 as LogIndex);
  expect(durability.durableIndex).toBe(1);
  durability.completed(3 as Term, 3 as LogIndex);
  expect(durability.durableIndex).toBe(2);
  durability.completed(4 as Term, 3 as LogIndex);
  expect(durability.durableIndex).toBe(3);
});

test("reports out of order, or of nothing, are bugs", () => {
  const durability = durable(1);
  expect(() => durability.completed(1 as Term, 1 as LogIndex)).toThrow("only emitted steps");
  durability.started(step(2, 2));
  durability.started(step(2, 3));
  expect(() => durability.completed(2 as Term, 3 as LogIndex)).toThrow("in order");
  expect(() => durable(1).completed(1 as Term, 1 as LogIndex)).toThrow("only emitted steps");
});

test("term and vote are durable with their own step", () => {
  const durability = durable(0);
  const hardState = { term: 5 as Term, votedFor: replica(2), commitIndex: 0 as LogIndex };
  durability.started(step(1, 1));
  durability.started({ ...step(1, 1), hardState });
  durability.completed(1 as Term, 1 as LogIndex);
  expect([durability.term, durability.votedFor]).toEqual([0, undefined]);
  durability.completed(1 as Term, 1 as LogIndex);
  expect([durability.term, durability.votedFor]).toEqual([5, 2]);
});

test("a write is stalled from the ticks that it takes, one at a time", () => {
  const durability = durable(0);
  durability.tick();
  expect(durability.stalledTicks).toBe(0);
  durability.started(step(1, 1));
  durability.started(step(1, 2));
  durability.tick();
  durability.tick();
  expect(durability.stalledTicks).toBe(2);
  durability.completed(1 as Term, 1 as LogIndex);
  expect(durability.stalledTicks).toBe(0);
});
