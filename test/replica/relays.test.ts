/** Through whom a request goes when its leader is out of reach. */

import { expect, test } from "vitest";
import type { MonotonicMs, ServerId } from "../../src/base/brands.ts";
import { Relays } from "../../src/replica/relays.ts";

const [TWO, THREE] = [2 as ServerId, 3 as ServerId];

/** Missed since 5 s. */
function missed(leader?: ServerId): { relays: Relays; at: (ms: number) => ServerId | undefined } {
  const relays = new Relays([TWO, THREE]);
  relays.onLeaderMissed(leader, 5_000 as MonotonicMs);
  return { relays, at: (ms) => relays.choose(leader, ms as MonotonicMs) };
}

test("nobody is asked in the leader's place before an election should be over", () => {
  const { relays, at } = missed();
  relays.onLeaderMissed(undefined, 5_900 as MonotonicMs);
  expect(at(5_999)).toBeUndefined();
  expect(at(6_000)).toBe(TWO);
  expect(new Relays([TWO, THREE]).choose(undefined, 9_000 as MonotonicMs)).toBeUndefined();
});

test("one request tries one server now and then, and each gets its turn", () => {
  const { relays, at } = missed();
  expect([at(6_000), at(6_001), at(6_249)]).toEqual([TWO, undefined, undefined]);
  relays.onRelayed(TWO, false);
  expect([at(6_250), at(6_251), at(6_500)]).toEqual([THREE, undefined, TWO]);
});

test("who brings requests to the leader is kept until it no longer does", () => {
  const { relays, at } = missed();
  at(6_000);
  relays.onRelayed(TWO, true);
  expect([at(6_001), at(6_002)]).toEqual([TWO, TWO]);
  relays.onRelayed(THREE, false);
  expect(at(6_003)).toBe(TWO);
  relays.onRelayed(TWO, false);
  expect([at(6_004), at(6_250)]).toEqual([undefined, THREE]);
});

test("a leader that is reached again is asked itself", () => {
  const { relays, at } = missed();
  at(6_000);
  relays.onRelayed(TWO, true);
  relays.onLeaderReached();
  expect(at(6_001)).toBeUndefined();
  relays.onLeaderMissed(undefined, 7_000 as MonotonicMs);
  expect([at(7_999), at(8_000)]).toEqual([undefined, THREE]);
});

test("a leader that has become known is asked itself, whoever was asked in its place", () => {
  const { relays, at } = missed();
  at(6_000);
  relays.onRelayed(TWO, true);
  expect(relays.choose(THREE, 6_001 as MonotonicMs)).toBeUndefined();
  expect(at(6_002)).toBeUndefined();
});

test("a known leader that is not reached is tried itself every second", () => {
  const { relays, at } = missed(THREE);
  expect([at(6_000), at(6_001)]).toEqual([undefined, TWO]);
  relays.onRelayed(TWO, true);
  relays.onLeaderMissed(THREE, 6_002 as MonotonicMs);
  expect([at(6_003), at(6_999), at(7_000), at(7_001)]).toEqual([TWO, TWO, undefined, TWO]);
});
