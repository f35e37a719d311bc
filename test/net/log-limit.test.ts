import { expect, test } from "vitest";
import type { MonotonicMs } from "../../src/base/brands.ts";
import { LogLimit } from "../../src/net/log-limit.ts";
import { recordingLogger } from "../integration/net/support.ts";

function limited(): { limit: LogLimit; clock: { nowMs: number }; lines: () => unknown[] } {
  const logger = recordingLogger();
  const clock = { nowMs: 0 };
  const limit = new LogLimit(logger, { nowMs: () => clock.nowMs as MonotonicMs });
  return { limit, clock, lines: () => logger.lines.map(({ fields }) => fields) };
}

test("a subject is logged once in ten seconds, with the number of lines left out", () => {
  const { limit, clock, lines } = limited();
  for (let i = 0; i < 5; i++) limit.warn("refused", "a", { i });
  clock.nowMs = 10_000;
  limit.warn("refused", "a", { i: 5 });
  expect(lines()).toEqual([
    { i: 0, leftOut: 0 },
    { i: 5, leftOut: 4 },
  ]);
});

test("subjects and events do not silence each other", () => {
  const { limit, lines } = limited();
  limit.warn("refused", "a", {});
  limit.warn("refused", "b", {});
  limit.warn("lost", "a", {});
  expect(lines()).toHaveLength(3);
});

test("invented subjects cost bounded memory: the oldest is forgotten", () => {
  const { limit, lines } = limited();
  for (let i = 0; i <= 256; i++) limit.warn("refused", `${i}`, {});
  limit.warn("refused", "256", {});
  expect(lines()).toHaveLength(257);
  limit.warn("refused", "0", {});
  expect(lines()).toHaveLength(258);
});
