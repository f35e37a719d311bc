// What h2load prints, and that a run in which a call was not answered is no result.
import { expect, test } from "vitest";
import { grpcMessage, parseH2load } from "./h2load.ts";

function output(requests: string, finished = "finished in 2.50s, 4000.00 req/s, 1.29MB/s"): string {
  return [
    "starting benchmark...",
    "",
    finished,
    requests,
    "status codes: 10000 2xx, 0 3xx, 0 4xx, 0 5xx",
    "traffic: 2MB (1936688) total, 58.64KB (60048) headers (space savings 9%), 322KB (330000) data",
    "",
  ].join("\n");
}

const ALL = [
  "requests: 10000 total, 10000 started, 10000 done, 10000 succeeded,",
  "0 failed, 0 errored, 0 timeout",
].join(" ");

test("time, rate and the bytes of all answers are read", () => {
  expect(parseH2load(output(ALL), 10_000)).toEqual({
    seconds: 2.5,
    perSecond: 4_000,
    dataBytes: 330_000,
  });
});

test.each([
  ["finished in 250.00ms, 4.00 req/s, 1B/s", 0.25],
  ["finished in 500us, 4.00 req/s, 1B/s", 0.0005],
])("%s", (finished, seconds) => {
  expect(parseH2load(output(ALL, finished), 10_000).seconds).toBeCloseTo(seconds);
});

test("a call that was not answered fails the run", () => {
  const requests = ALL.replace("10000 succeeded, 0 failed", "9999 succeeded, 1 failed");
  expect(() => parseH2load(output(requests), 10_000)).toThrow("only 9999 of 10000 calls");
});

test("output that is not understood fails the run", () => {
  expect(() => parseH2load("Segmentation fault", 1)).toThrow("cannot be read: Segmentation fault");
});

test("a message on a gRPC stream is preceded by a flag and its length", () => {
  expect([...grpcMessage(Buffer.from([7, 8, 9]))]).toEqual([0, 0, 0, 0, 3, 7, 8, 9]);
});
