import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogTimeMs, MonotonicMs } from "../../src/base/brands.ts";
import { LogTimeClock } from "../../src/raft/log-time.ts";
import { preVoteReply, readyLeader, voteReply } from "./checked-core.ts";

const TICK_MS = 50;

function clockAt(lastTimeMs: number, nowMs: number): LogTimeClock {
  return new LogTimeClock({
    lastTimeMs: lastTimeMs as LogTimeMs,
    nowMs: nowMs as MonotonicMs,
    tickMs: TICK_MS,
  });
}

function readAt(clock: LogTimeClock, nowMs: number): number {
  clock.read(nowMs as MonotonicMs);
  return clock.timeMs;
}

test("log time starts at the last entry's, whatever the host's clock shows (law 7)", () => {
  expect(clockAt(7_000, 123_456).timeMs).toBe(7_000);
});

test("log time advances with the host's clock, in whole ms (law 7)", () => {
  const clock = clockAt(7_000, 100);
  expect(readAt(clock, 100.6)).toBe(7_000);
  expect(readAt(clock, 101.2)).toBe(7_001);
  expect(readAt(clock, 130)).toBe(7_030);
});

test("within one tick it advances by two tick intervals at most (law 7)", () => {
  const clock = clockAt(0, 0);
  expect(readAt(clock, 60)).toBe(60);
  expect(readAt(clock, 5_000)).toBe(2 * TICK_MS);
  expect(readAt(clock, 9_000)).toBe(2 * TICK_MS);
  clock.startTick();
  expect(readAt(clock, 9_010)).toBe(2 * TICK_MS + 10);
});

test("a clock that goes back adds nothing, and counts on from there (law 7)", () => {
  const clock = clockAt(500, 1_000);
  expect(readAt(clock, 200)).toBe(500);
  expect(readAt(clock, 230)).toBe(530);
});

test("log time never decreases, and never outruns its ticks (law 7)", () => {
  const step = fc.record({
    nowMs: fc.double({ min: 0, max: 1e7, noNaN: true }),
    tick: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const clock = clockAt(40, 1_000);
      let lastMs = 40;
      let ticks = 1;
      for (const { nowMs, tick } of steps) {
        const timeMs = readAt(clock, nowMs);
        expect(timeMs).toBeGreaterThanOrEqual(lastMs);
        expect(timeMs).toBeLessThanOrEqual(40 + ticks * 2 * TICK_MS);
        lastMs = timeMs;
        if (!tick) continue;
        clock.startTick();
        ticks++;
      }
    }),
  );
});

test("the leader stamps what it appends, at append (law 7)", () => {
  const leader = readyLeader();
  leader.nowMs = 33;
  const [first] = leader.propose("a").persist?.entries ?? [];
  leader.nowMs = 70;
  const [second] = leader.propose("b").persist?.entries ?? [];
  expect([first?.timeMs, second?.timeMs]).toEqual([33, 70]);
});

test("time that passed without a leader is not counted (law 7)", () => {
  const leader = readyLeader();
  leader.nowMs = 90;
  leader.propose("a");
  leader.persistAll();
  leader.tick(10);
  expect(leader.status.role).toBe("follower");
  leader.nowMs = 5_000_000;
  leader.campaign();
  leader.receive(2, preVoteReply({ term: 1, granted: true }));
  leader.persistAll();
  const elected = leader.receive(2, voteReply({ term: 2, granted: true }));
  expect(elected.persist?.entries.map(({ kind, timeMs }) => [kind, timeMs])).toEqual([
    ["noop", 90],
  ]);
});
