import { expect, test } from "vitest";
import { InvariantError } from "../../../src/base/assert.ts";
import { Admission } from "../../../src/server/grpc/admission.ts";

const LIMITS = {
  inFlightMax: 5,
  inFlightReserved: 2,
  watchesMax: 1,
  healthWatchesMax: 1,
  reflectionsMax: 1,
};

test("ordinary calls leave the reserved slots alone, calls that keep ranges use all", () => {
  const admission = new Admission(LIMITS);
  for (let call = 0; call < 3; call++) expect(admission.enter("other")).toBeUndefined();
  expect(admission.enter("other")).toMatchObject({
    reason: "OVERLOADED",
    retryAfterMs: 200,
    metadata: { limit: "3", what: "calls" },
  });
  for (let call = 0; call < 2; call++) expect(admission.enter("keepsRanges")).toBeUndefined();
  expect(admission.enter("keepsRanges")).toMatchObject({ reason: "OVERLOADED" });
  admission.leave("other");
  expect(admission.enter("other")).toMatchObject({ reason: "OVERLOADED" });
  expect(admission.enter("keepsRanges")).toBeUndefined();
  expect(admission.calls).toBe(5);
});

test("watches are counted apart from calls", () => {
  const admission = new Admission(LIMITS);
  expect(admission.enter("watch")).toBeUndefined();
  expect(admission.enter("watch")).toMatchObject({ metadata: { what: "watches" } });
  expect(admission.enter("other")).toBeUndefined();
  admission.leave("watch");
  expect(admission.enter("watch")).toBeUndefined();
});

test("a slot that is given back twice, or a reserve that takes everything, is a bug", () => {
  const admission = new Admission(LIMITS);
  expect(() => admission.leave("other")).toThrow(InvariantError);
  expect(() => new Admission({ ...LIMITS, inFlightReserved: 5 })).toThrow(InvariantError);
});

test("a full server takes probes all the same, and streams of health and reflection by limits of their own", () => {
  const admission = new Admission(LIMITS);
  for (let call = 0; call < 5; call++) admission.enter("keepsRanges");
  admission.enter("watch");
  for (let probe = 0; probe < 100; probe++) expect(admission.enter("probe")).toBeUndefined();
  admission.leave("probe");
  for (const kind of ["healthWatch", "reflection"] as const) {
    expect(admission.enter(kind)).toBeUndefined();
    expect(admission.enter(kind)).toMatchObject({ reason: "OVERLOADED", metadata: { limit: "1" } });
    admission.leave(kind);
    expect(admission.enter(kind)).toBeUndefined();
  }
  expect([admission.calls, admission.watches]).toEqual([5, 1]);
});
