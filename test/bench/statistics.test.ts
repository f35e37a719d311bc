// Medians and percentiles, on values that can be counted off by hand.
import { expect, test } from "vitest";
import { median, percentile } from "./statistics.ts";

test("the median is the middle value, or lies between the two middle ones", () => {
  expect(median([30, 10, 20])).toBe(20);
  expect(median([40, 10, 30, 20])).toBe(25);
  expect(median([7])).toBe(7);
});

test("a percentile is the smallest value that covers its share", () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect(percentile(hundred, 0.5)).toBe(50);
  expect(percentile(hundred, 0.99)).toBe(99);
  expect(percentile([5, 1, 3], 0.99)).toBe(5);
  expect(percentile([5, 1, 3], 0)).toBe(1);
});

test("numbers are sorted as numbers", () => {
  expect(median([9, 10, 100])).toBe(10);
});
