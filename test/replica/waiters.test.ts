/** Who waits for an entry or an index is answered exactly once, and only with what is certain. */

import { expect, test } from "vitest";
import type { LogIndex, MonotonicMs, Term } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import { ReadBatches } from "../../src/replica/reads.ts";
import { AppliedWaiters, ProposalWaiters } from "../../src/replica/waiters.ts";

function index(value: number): LogIndex {
  return value as LogIndex;
}

function at(value: number): MonotonicMs {
  return value as MonotonicMs;
}

class Proposals {
  readonly waiters = new ProposalWaiters<string>();
  readonly answers: string[] = [];

  add(name: string, position: number, term: number, deadlineMs = 1_000): void {
    this.waiters.add(index(position), {
      term: term as Term,
      deadlineMs: at(deadlineMs),
      settle: (outcome) => {
        const what = outcome.kind === "applied" ? outcome.answer : outcome.outcome;
        this.answers.push(`${name}: ${what}`);
      },
    });
  }
}

test("an applied entry answers the proposal of the same index and term, and no other", () => {
  const proposals = new Proposals();
  proposals.add("a", 5, 2);
  proposals.add("b", 6, 2);
  proposals.waiters.applied(index(4), 2 as Term, "four");
  proposals.waiters.applied(index(5), 2 as Term, "five");
  proposals.waiters.applied(index(6), 3 as Term, "another's");
  proposals.waiters.applied(index(6), 3 as Term, "another's");
  expect(proposals.answers).toEqual(["a: five", "b: notApplied"]);
  expect(proposals.waiters.size).toBe(0);
});

test("a new proposal at an index leaves the older one there unknown: it may still be committed", () => {
  const proposals = new Proposals();
  proposals.add("old", 5, 2);
  proposals.add("new", 5, 4);
  expect(proposals.answers).toEqual(["old: unknown"]);
  proposals.waiters.applied(index(5), 4 as Term, "five");
  expect(proposals.answers).toEqual(["old: unknown", "new: five"]);
});

test("deadlines and the end leave the outcome unknown, once", () => {
  const proposals = new Proposals();
  proposals.add("a", 1, 1, 10);
  proposals.add("b", 2, 1, 11);
  proposals.add("c", 3, 1, 12);
  proposals.waiters.expire(at(9));
  expect(proposals.answers).toEqual([]);
  proposals.waiters.expire(at(11));
  proposals.waiters.failAll("shuttingDown");
  proposals.waiters.failAll("shuttingDown");
  proposals.waiters.applied(index(1), 1 as Term, "late");
  expect(proposals.answers).toEqual(["a: unknown", "b: unknown", "c: unknown"]);
});

test("those who wait for an index go when it is applied, when it is too late, or at the end", () => {
  const waiters = new AppliedWaiters();
  const answers: string[] = [];
  const add = (name: string, position: number, deadlineMs: number): void =>
    waiters.add({
      index: index(position),
      deadlineMs: at(deadlineMs),
      settle: (isApplied) => void answers.push(`${name}: ${isApplied}`),
    });
  add("a", 3, 100);
  add("b", 5, 100);
  add("c", 5, 10);
  add("d", 9, 100);
  waiters.applied(index(2));
  waiters.expire(at(10));
  waiters.applied(index(5));
  waiters.failAll();
  waiters.failAll();
  expect(answers).toEqual(["c: false", "a: true", "b: true", "d: false"]);
});

test("in any order of waiting and applying, each goes at the first index that reaches its own", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const prng = Prng.fromSeed(seed);
    const waiters = new AppliedWaiters();
    const wanted: string[] = [];
    const answers: string[] = [];
    let open: { readonly position: number; readonly deadlineMs: number }[] = [];
    for (let applied = 1; applied <= 40; applied++) {
      for (let more = prng.nextInteger(0, 3); more > 0; more--) {
        const position = applied + prng.nextInteger(0, 8);
        const deadlineMs = applied + prng.nextInteger(1, 8);
        open.push({ position, deadlineMs });
        const settle = (isApplied: boolean): void => {
          answers.push(`${position}/${deadlineMs} ${isApplied}`);
        };
        waiters.add({ index: index(position), deadlineMs: at(deadlineMs), settle });
      }
      const reached = open.filter(({ position }) => position <= applied);
      for (const one of reached) wanted.push(`${one.position}/${one.deadlineMs} true`);
      waiters.applied(index(applied));
      const late = open.filter(
        ({ position, deadlineMs }) => position > applied && deadlineMs <= applied,
      );
      for (const one of late) wanted.push(`${one.position}/${one.deadlineMs} false`);
      waiters.expire(at(applied));
      open = open.filter((one) => !reached.includes(one) && !late.includes(one));
    }
    expect(answers).toEqual(wanted);
  }
});

test("a replica is current as of the youngest batch whose index it has applied", () => {
  const reads = new ReadBatches(Prng.fromSeed(1));
  const confirm = (sentAtMs: number, readIndex: number): void => {
    reads.join({ deadlineMs: at(1_000), settle: () => {} });
    reads.confirmed(reads.take(at(sentAtMs)), index(readIndex));
  };
  confirm(10, 5);
  confirm(20, 6);
  confirm(30, 7);
  confirm(40, 8);
  expect(reads.currentAtMs(index(4))).toBeUndefined();
  // It goes on applying, and never gets to the end.
  expect(reads.currentAtMs(index(5))).toBe(10);
  confirm(50, 9);
  expect(reads.currentAtMs(index(8))).toBe(40);
  expect(reads.currentAtMs(index(8))).toBe(40);
  expect(reads.currentAtMs(index(9))).toBe(50);
});

test("a batch is closed when it is taken, and each reader is answered once", () => {
  const reads = new ReadBatches(Prng.fromSeed(1));
  const answers: string[] = [];
  const join = (name: string, deadlineMs = 1_000): void =>
    reads.join({
      deadlineMs: at(deadlineMs),
      settle: (outcome) => void answers.push(`${name}: ${outcome}`),
    });
  join("a");
  join("b", 50);
  const first = reads.take(at(1));
  expect(reads.hasGathered).toBe(false);
  join("c");
  const second = reads.take(at(20));
  join("d");
  expect(second).toBeGreaterThan(first);
  reads.expire(at(50));
  reads.confirmed(second, index(8));
  reads.confirmed(second, index(9));
  expect(answers).toEqual(["b: deadlineExceeded", "c: 8"]);
  reads.confirmed(first, index(7));
  expect([reads.confirmedAtMs, reads.confirmedIndex]).toEqual([20, 8]);
  expect(reads.currentAtMs(index(6))).toBeUndefined();
  expect(reads.currentAtMs(index(8))).toBe(20);
  reads.refused(first, "leaderChanged");
  reads.failAll();
  expect(answers.slice(2)).toEqual(["a: 7", "d: deadlineExceeded"]);
  join("e");
  reads.refused(reads.take(at(60)), "overloaded");
  expect(answers.at(-1)).toBe("e: overloaded");
});
