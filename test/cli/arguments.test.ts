// Option values that several verbs share.
import { expect, test } from "vitest";
import {
  parseDurationMs,
  parseEndpoints,
  parsePort,
  parseServerId,
} from "../../src/cli/arguments.ts";

test.each([
  ["500ms", 500],
  ["5s", 5_000],
  ["1.5m", 90_000],
  ["2h", 7_200_000],
])("%s is %d ms", (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test.each(["", "5", "0s", "-1s", "1d", "s", "1e3s", "0.0001ms"])("%j is no duration", (text) => {
  expect(() => parseDurationMs(text)).toThrow("Give a duration");
});

test("endpoints are host:port, with commas", () => {
  expect(parseEndpoints("a:1,,b.example:65535 ,[::1]:7400")).toEqual([
    "a:1",
    "b.example:65535",
    "[::1]:7400",
  ]);
  expect(() => parseEndpoints(" , ")).toThrow("Give host:port");
  for (const bad of ["a", "a:0", "a:65536", "a:b", "http://a:1", "a:1:2"]) {
    expect(() => parseEndpoints(bad)).toThrow("is not host:port");
  }
});

test("server ids and ports are whole numbers in bounds", () => {
  expect([parseServerId("3"), parsePort("7400")]).toEqual([3, 7400]);
  for (const bad of ["0", "-1", "1.5", "x", "", "99999999999999999999"]) {
    expect(() => parseServerId(bad)).toThrow("Give a server id from 1");
  }
  expect(() => parsePort("65536")).toThrow("Give a port from 1 to 65535.");
});
