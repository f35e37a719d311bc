import { expect, test } from "vitest";
import { ok } from "../../../src/base/result.ts";
import { HEALTH, type ServingStatus } from "../../../src/wire/standard/health.ts";

/** Tags and values by hand, from the numbers that grpc-proto publishes. */
const STATUS_BYTES: readonly (readonly [ServingStatus, string])[] = [
  ["serving", "0801"],
  ["notServing", "0802"],
  ["serviceUnknown", "0803"],
];

test("the methods have the names that every health client calls", () => {
  expect(Object.values(HEALTH).map(({ path, kind }) => [path, kind])).toEqual([
    ["/grpc.health.v1.Health/Check", "unary"],
    ["/grpc.health.v1.Health/List", "unary"],
    ["/grpc.health.v1.Health/Watch", "serverStream"],
  ]);
});

test("states have the numbers of the protocol, in Check and in Watch", () => {
  for (const [status, hex] of STATUS_BYTES) {
    for (const { encodeAnswer, decodeAnswer } of [HEALTH.check, HEALTH.watch]) {
      expect(encodeAnswer(status).toString("hex")).toBe(hex);
      expect(decodeAnswer(Buffer.from(hex, "hex"))).toEqual(ok(status));
    }
  }
});

test("a list is a map from names to states", () => {
  const statuses = new Map<string, ServingStatus>([
    ["", "serving"],
    ["a", "notServing"],
  ]);
  const bytes = HEALTH.list.encodeAnswer(statuses);
  expect(bytes.toString("hex")).toBe("0a06" + "0a00" + "12020801" + "0a07" + "0a0161" + "12020802");
  expect(HEALTH.list.decodeAnswer(bytes)).toEqual(ok(statuses));
  expect(HEALTH.list.decodeRequest(Buffer.alloc(0))).toEqual(ok({}));
});

test("an empty request asks for the server as a whole, and names are bounded (law 33)", () => {
  expect(HEALTH.check.decodeRequest(Buffer.alloc(0))).toEqual(ok({ service: "" }));
  expect(HEALTH.watch.decodeRequest(Buffer.from("0a0161", "hex"))).toEqual(ok({ service: "a" }));
  expect(HEALTH.check.encodeRequest({ service: "a" }).toString("hex")).toBe("0a0161");
  const long = HEALTH.watch.encodeRequest({ service: "a".repeat(257) });
  expect(HEALTH.watch.decodeRequest(long)).toMatchObject({
    ok: false,
    error: { reason: "INVALID", field: "service" },
  });
});
