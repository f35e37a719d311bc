/** The floor of request ids, against law 5 as it reads: raised by log time, entry by entry. */

import { expect, test } from "vitest";
import type { LogTimeMs, Revision } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import { RequestFloor } from "../../../src/machine/common/request-floor.ts";

const MEMORY_MS = 600_000;
const STEP_MS = 10_000;

interface Entry {
  readonly timeMs: LogTimeMs;
  readonly revision: Revision;
}

function entry(timeMs: number, revision: number): Entry {
  return { timeMs: timeMs as LogTimeMs, revision: revision as Revision };
}

function floorAfter(entries: readonly Entry[]): number {
  const floor = new RequestFloor(0 as Revision);
  for (const { timeMs, revision } of entries) floor.pass(timeMs, revision);
  return floor.revision;
}

test("the floor passes a revision ten minutes after the next one came, and not before", () => {
  const early = [entry(0, 1), entry(5_000, 2), entry(12_000, 3), entry(19_000, 4)];
  expect(floorAfter([...early, entry(MEMORY_MS - 1, 5)])).toBe(0);
  expect(floorAfter([...early, entry(MEMORY_MS, 5)])).toBe(1);
  // A step after the first, the third: the second is none.
  expect(floorAfter([...early, entry(MEMORY_MS + 11_999, 5)])).toBe(1);
  expect(floorAfter([...early, entry(MEMORY_MS + 12_000, 5)])).toBe(3);
  // The last before the long silence.
  expect(floorAfter([...early, entry(MEMORY_MS + 18_999, 5)])).toBe(3);
  expect(floorAfter([...early, entry(MEMORY_MS + 19_000, 5)])).toBe(4);
});

test("after an idle day, what was the newest all the time is not below the floor", () => {
  const day = 86_400_000;
  const before = [entry(1_000, 1), entry(30_000, 2)];
  expect(floorAfter([...before, entry(day, 3)])).toBe(2);
  // Revision 2 was the newest until just now, and stays usable as long as any other.
  expect(floorAfter([...before, entry(day, 3), entry(day + MEMORY_MS - 1, 4)])).toBe(2);
  expect(floorAfter([...before, entry(day, 3), entry(day + MEMORY_MS, 4)])).toBe(3);
});

test("whoever saw the newest revision is above the floor for the whole memory, for any entries", () => {
  let below = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const prng = Prng.fromSeed(seed);
    const entries: Entry[] = [];
    const floor = new RequestFloor(0 as Revision);
    let timeMs = 0;
    for (let revision = 1; revision <= 400; revision++) {
      timeMs += prng.chance(0.3) ? 0 : prng.nextInteger(1, prng.chance(0.02) ? 2_000_000 : 9_000);
      entries.push(entry(timeMs, revision));
      floor.pass(timeMs as LogTimeMs, revision as Revision);
      // A revision was the newest until the next entry came.
      const wrong = entries.filter(({ revision: seen }, at) => {
        const next = entries[at + 1];
        const agoMs = next === undefined ? 0 : timeMs - next.timeMs;
        const isBelow = seen < floor.revision;
        if (isBelow) below++;
        return isBelow ? agoMs < MEMORY_MS : agoMs >= MEMORY_MS + 2 * STEP_MS;
      });
      expect(wrong, `seed ${seed} at ${revision}, ${timeMs} ms`).toEqual([]);
    }
  }
  expect(below).toBeGreaterThan(1_000);
});

test("the milestones are few, however many entries there are", () => {
  const floor = new RequestFloor(0 as Revision);
  const most = { count: 0 };
  const prng = Prng.fromSeed(1);
  let timeMs = 0;
  for (let revision = 1; revision <= 100_000; revision++) {
    timeMs += prng.chance(0.5) ? 1 : 2 * STEP_MS * prng.nextFraction();
    floor.pass(Math.floor(timeMs) as LogTimeMs, revision as Revision);
    most.count = Math.max(most.count, floor.store().milestones.length);
  }
  expect(most.count).toBeLessThanOrEqual((2 * MEMORY_MS) / STEP_MS);
});

test("what is restored goes on as if it had never been stored; nonsense is refused", () => {
  const prng = Prng.fromSeed(4);
  let floor = new RequestFloor(0 as Revision);
  const twin = new RequestFloor(0 as Revision);
  let timeMs = 0;
  for (let revision = 1; revision <= 500; revision++) {
    timeMs += prng.nextInteger(0, 30_000);
    const at = entry(timeMs, revision);
    floor.pass(at.timeMs, at.revision);
    twin.pass(at.timeMs, at.revision);
    const stored = floor.store();
    expect(stored).toEqual(twin.store());
    floor = new RequestFloor(0 as Revision);
    expect(floor.restore(stored, at)).toBeUndefined();
    const [first] = stored.milestones;
    if (first === undefined) continue;
    const again = new RequestFloor(0 as Revision);
    const twice = [first, first];
    for (const wrong of [
      { ...stored, milestones: twice },
      { ...stored, milestones: [entry(timeMs + 1, revision)] },
      { ...stored, milestones: [entry(timeMs, revision + 1)] },
      { ...stored, milestones: [entry(timeMs - MEMORY_MS, first.revision)] },
      { ...stored, floor: first.revision },
      { ...stored, floor: (revision + 1) as Revision },
    ]) {
      expect(again.restore(wrong, at)).toEqual(expect.any(String));
    }
  }
});

test("a generation begins with its first revision as the floor, and no floor is below it", () => {
  const floor = new RequestFloor(1_000 as Revision);
  expect(floor.revision).toBe(1_000);
  const stored = { floor: 999 as Revision, milestones: [] };
  expect(floor.restore(stored, entry(0, 1_001))).toEqual(expect.any(String));
});
