/** The history of a shard: what is kept, where it ends, and that whole revisions are dropped. */

import { expect, test } from "vitest";
import type { Revision } from "../../src/base/brands.ts";
import { EventHistory } from "../../src/fanout/history.ts";
import type { ShardEvent } from "../../src/machine/shard/events.ts";

function at(revision: number): Revision {
  return revision as Revision;
}

/** Only the number of changes matters here. */
function events(...changeCounts: number[]): ShardEvent[] {
  return changeCounts.map((count) => ({
    cause: "granted",
    keyspaceId: 1,
    changes: Array.from({ length: count }, () => ({ before: undefined, after: undefined })),
  }));
}

function revisionsOf(history: EventHistory, after: number): number[] {
  return [...history.after(at(after))].map(({ revision }) => revision);
}

test("entries with changes are kept in order, those without only move the revision", () => {
  const history = new EventHistory({ start: at(0), changesMax: 10, revisionsMax: 10 });
  history.add(at(1), events(1));
  history.add(at(2), []);
  history.add(at(3), events(1, 2));
  history.add(at(4), []);
  expect([history.floor, history.revision]).toEqual([0, 4]);
  expect(revisionsOf(history, 0)).toEqual([1, 3]);
  expect(revisionsOf(history, 1)).toEqual([3]);
  expect(revisionsOf(history, 2)).toEqual([3]);
  expect(revisionsOf(history, 3)).toEqual([]);
  expect(revisionsOf(history, 99)).toEqual([]);
});

test("beyond the bound of changes the oldest revisions go, whole, and the floor rises to them", () => {
  const history = new EventHistory({ start: at(0), changesMax: 5, revisionsMax: 100 });
  history.add(at(1), events(2));
  history.add(at(2), events(1));
  history.add(at(3), events(2));
  expect(history.floor).toBe(0);
  history.add(at(7), events(1));
  expect(history.floor).toBe(1);
  expect(revisionsOf(history, 1)).toEqual([2, 3, 7]);
  expect(() => revisionsOf(history, 0)).toThrow("only kept revisions are read");
});

test("a revision larger than the bound is kept, alone", () => {
  const history = new EventHistory({ start: at(0), changesMax: 3, revisionsMax: 100 });
  history.add(at(1), events(2));
  history.add(at(2), events(50));
  expect(history.floor).toBe(1);
  expect(revisionsOf(history, 1)).toEqual([2]);
  history.add(at(3), events(1));
  expect(history.floor).toBe(2);
  expect(revisionsOf(history, 2)).toEqual([3]);
});

test("revisions are bounded in number, too, over many compactions of the list", () => {
  const history = new EventHistory({ start: at(0), changesMax: 1_000_000, revisionsMax: 4 });
  for (let revision = 1; revision <= 5_000; revision++) {
    history.add(at(revision), events(1));
    if (revision % 97 !== 0) continue;
    expect(history.floor).toBe(revision - 4);
    expect(revisionsOf(history, revision - 4)).toEqual([
      revision - 3,
      revision - 2,
      revision - 1,
      revision,
    ]);
    expect(revisionsOf(history, revision - 1)).toEqual([revision]);
  }
});

test("revisions that do not ascend are a bug", () => {
  const history = new EventHistory({ start: at(5), changesMax: 1, revisionsMax: 1 });
  expect(() => history.add(at(5), [])).toThrow("revisions are added in order");
});

test("a state that was replaced leaves no changes to resume from before it (law 21)", () => {
  const history = new EventHistory({ start: at(0), changesMax: 5, revisionsMax: 100 });
  history.add(at(1), events(2));
  history.add(at(2), events(3));
  history.reset(at(9));
  expect([history.floor, history.revision]).toEqual([9, 9]);
  expect(revisionsOf(history, 9)).toEqual([]);
  expect(() => revisionsOf(history, 2)).toThrow("only kept revisions are read");
  // The dropped changes take no room.
  history.add(at(10), events(3));
  history.add(at(11), events(2));
  expect(revisionsOf(history, 9)).toEqual([10, 11]);
});

test("a state is never replaced by an earlier one or by itself", () => {
  const history = new EventHistory({ start: at(0), changesMax: 5, revisionsMax: 100 });
  history.add(at(4), events(1));
  for (const revision of [3, 4]) {
    expect(() => history.reset(at(revision))).toThrow("a state is replaced by a later one");
  }
});

test("what is kept is the history's own, not the list that an entry may go on to fill", () => {
  const history = new EventHistory({ start: at(0), changesMax: 10, revisionsMax: 10 });
  const emitted = events(1);
  history.add(at(1), emitted);
  emitted.push(...events(1));
  expect([...history.after(at(0))].map(({ events: kept }) => kept.length)).toEqual([1]);
});
