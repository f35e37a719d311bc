// Which known word a misspelt one is taken for.
import { expect, test } from "vitest";
import { nearMiss } from "../../../src/server/config/near-miss.ts";

test.each([
  ["tickMS", "tickMs"],
  ["data_dir", "dataDir"],
  ["grcp", "grpc"],
  ["htp", "http"],
  ["serverss", "servers"],
])("%s is taken for %s", (word, meant) => {
  expect(nearMiss(word, ["dataDir", "grpc", "http", "servers", "tickMs"])).toBe(meant);
});

test("a word that is close to none is taken for none", () => {
  expect(nearMiss("colour", ["level", "format"])).toBeUndefined();
  expect(nearMiss("x", ["id"])).toBeUndefined();
});

test("the closest wins, and of equals the first", () => {
  expect(nearMiss("listens", ["listen", "listeners"])).toBe("listen");
  expect(nearMiss("abcx", ["abcy", "abcz"])).toBe("abcy");
});
