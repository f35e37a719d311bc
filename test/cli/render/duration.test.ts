// Durations and times of day.
import { expect, test } from "vitest";
import { parseDurationMs } from "../../../src/cli/arguments.ts";
import { durationToText, wallTimeToText } from "../../../src/cli/render/duration.ts";

test.each([
  [0, "0ms"],
  [-5, "0ms"],
  [999.4, "999ms"],
  [1_000, "1s"],
  [1_500, "1.5s"],
  [59_999, "59.9s"],
  [60_000, "1m"],
  [125_000, "2m 5s"],
  [15_000_000, "4h 10m"],
  [90_000_000, "1d 1h"],
])("%d ms is shown as %s", (ms, text) => {
  expect(durationToText(ms)).toBe(text);
});

test("what is shown in one unit is read as the same duration", () => {
  for (const ms of [1, 850, 1_500, 10_000, 120_000, 3_600_000]) {
    expect(parseDurationMs(durationToText(ms))).toBe(ms);
  }
});

test("a time of day has milliseconds", () => {
  expect(wallTimeToText(new Date(2026, 0, 2, 4, 3, 7, 15))).toBe("04:03:07.015");
});
