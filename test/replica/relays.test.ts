/** Through whom a request goes when its leader is out of reach. */

import { expect, test } from "vitest";
import type { MonotonicMs, ServerId } from "../../src/base/brands.ts";
import { Relays } from "../../src/replica/relays.ts";

const [TWO, THREE] = [2 as ServerId, 3 as ServerId];

function ms(reading: number): MonotonicMs {
  return reading as MonotonicMs;
}

/** Missed since 5 s. */
function missed(leader?: ServerId): { relays: Relays; at: (ms: number) => ServerId | undefined } {
  const relays = new Relays([TWO, THREE]);
  relays.onLeaderMissed(leader, ms(5_000));
  return { relays, at: (ms) => relays.choose(leader, ms as MonotonicMs) };
}

test("nobody is asked in the leader's place before an election should be over", () => {
  const { relays, at } = missed();
  relays.onLeaderMissed(undefined, ms(5_900));
  expect(at(5_999)).toBeUndefined();
  expect(at(6_000)).toBe(TWO);
  expect(new Relays([TWO, THREE]).choose(undefined, ms(9_000))).toBeUndefined();
});

test("one request tries one server now and then, and each gets its turn", () => {
  const { relays, at } = missed();
  expect([at(6_000), at(6_001), at(6_249)]).toEqual([TWO, undefined, undefined]);
  relays.onRelayed(TWO, false, ms(6_000));
  expect([at(6_250), at(6_251), at(6_500)]).toEqual([THREE, undefined, TWO]);
});

test("who brings requests to the leader is kept until it no longer does", () => {
  const { relays, at } = missed();
  at(6_000);
  relays.onRelayed(TWO, true, ms(6_000));
  expect([at(6_001), at(6_002)]).toEqual([TWO, TWO]);
  relays.onRelayed(THREE, false, ms(6_000));
  expect(at(6_003)).toBe(TWO);
  relays.onRelayed(TWO, false, ms(6_000));
  expect([at(6_004), at(6_250)]).toEqual([undefined, THREE]);
});

test("a leader that is reached again is asked itself", () => {
  const { relays, at } = missed();
  at(6_000);
  relays.onRelayed(TWO, true, ms(6_000));
  relays.onLeaderReached();
  expect(at(6_001)).toBeUndefined();
  relays.onLeaderMissed(undefined, ms(7_000));
  expect([at(7_999), at(8_000)]).toEqual([undefined, THREE]);
});

test("a leader that has become known is asked itself, whoever was asked in its place", () => {
  const { relays, at } = missed();
  at(6_000);
  relays.onRelayed(TWO, true, ms(6_000));
  expect(relays.choose(THREE, ms(6_001))).toBeUndefined();
  expect(at(6_002)).toBeUndefined();
});

test("a known leader that is not reached is tried itself every five seconds", () => {
  const { relays, at } = missed(THREE);
  expect([at(6_000), at(6_001)]).toEqual([undefined, TWO]);
  relays.onRelayed(TWO, true, ms(6_002));
  expect([at(6_003), at(8_000)]).toEqual([TWO, TWO]);
  relays.onRelayed(TWO, true, ms(8_001));
  expect(at(10_999)).toBe(TWO);
  relays.onRelayed(TWO, true, ms(10_999));
  expect([at(11_000), at(11_001)]).toEqual([undefined, TWO]);
});

test("a leader that is known is not asked in its own place", () => {
  const { relays, at } = missed(TWO);
  expect([at(6_000), at(6_001)]).toEqual([undefined, THREE]);
  relays.onRelayed(THREE, false, ms(6_002));
  expect(at(6_300)).toBe(THREE);
});

test("a miss that no other has followed is past: the next one begins anew", () => {
  const { relays, at } = missed();
  expect(at(8_001)).toBeUndefined();
  relays.onLeaderMissed(undefined, ms(3_600_000));
  expect(at(3_600_000)).toBeUndefined();
  expect(at(3_601_000)).toBe(TWO);
});
