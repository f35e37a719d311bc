// Alive and ready are two questions (a server without a quorum is alive).
import { expect, test } from "vitest";
import {
  isReady,
  livenessChecks,
  READ_INDEX_AGE_MS_MAX,
  readinessChecks,
} from "../../src/admin/checks.ts";
import type { GroupHealth, HealthFacts } from "../../src/admin/port.ts";
import { GOOD_GROUP } from "./fake-port.ts";

function group(change: Partial<GroupHealth> = {}): GroupHealth {
  return { ...GOOD_GROUP, readIndexAgeMs: 10, ...change };
}

function facts(change: Partial<HealthFacts> = {}): HealthFacts {
  const groups = [group(), group({ group: 1 })];
  return {
    fatalError: undefined,
    storageError: undefined,
    abstention: undefined,
    isDraining: false,
    groups,
    ...change,
  };
}

function failures(checks: ReturnType<typeof readinessChecks>): Record<string, string> {
  return Object.fromEntries(
    checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [[name, problem]])),
  );
}

test("a server in good order is alive and ready", () => {
  expect(failures(livenessChecks(facts()))).toEqual({});
  expect(failures(readinessChecks(facts()))).toEqual({});
});

test("ready is what passes every check", () => {
  expect(isReady(facts())).toBe(true);
  expect(isReady(facts({ isDraining: true }))).toBe(false);
  expect(isReady(facts({ groups: [group(), group({ isReplayed: false })] }))).toBe(false);
});

test("a server without a quorum is alive and not ready, with the reason", () => {
  const lost = facts({
    groups: [
      group({ leaderServerId: undefined, readIndexAgeMs: READ_INDEX_AGE_MS_MAX + 1 }),
      group({ group: 1 }),
    ],
  });
  expect(failures(livenessChecks(lost))).toEqual({});
  expect(failures(readinessChecks(lost))).toEqual({
    leader: "group 0 has no leader",
    "read-index": "group 0 was last current 3.0 s ago (no quorum, or a disk that hangs?)",
  });
});

test("a server that takes no part is alive and not ready, with the reason by name", () => {
  const quarantined = facts({ abstention: "regressed: it fell back", groups: [] });
  expect(failures(livenessChecks(quarantined))).toEqual({});
  expect(failures(readinessChecks(quarantined))).toMatchObject({
    "takes-part": "regressed: it fell back",
  });
  expect(isReady(facts({ abstention: "notAdmitted: it is new" }))).toBe(false);
});

test("each thing that is not in order is named by its own check", () => {
  expect(failures(readinessChecks(facts({ groups: [group({ isReplayed: false })] })))).toEqual({
    replayed: "group 0 is still replaying its log",
  });
  expect(failures(readinessChecks(facts({ groups: [group({ awaitsSnapshot: true })] })))).toEqual({
    replayed: "group 0 is far behind and receives a snapshot",
  });
  expect(
    failures(readinessChecks(facts({ groups: [group({ readIndexAgeMs: undefined })] }))),
  ).toEqual({
    "read-index": "group 0 has not confirmed a read yet",
  });
  expect(failures(readinessChecks(facts({ isDraining: true })))).toEqual({
    "not-draining": "the server is stopping",
  });
  expect(failures(readinessChecks(facts({ storageError: "a write is stuck" })))).toEqual({
    storage: "a write is stuck",
  });
});

test("before the log store is open there are no groups, and the server is not ready", () => {
  expect(Object.keys(failures(readinessChecks(facts({ groups: [] }))))).toEqual([
    "replayed",
    "leader",
    "read-index",
  ]);
});

test("a fatal error fails both", () => {
  const dying = facts({ fatalError: "a write was rejected" });
  expect(failures(livenessChecks(dying))).toEqual({ "no-fatal-error": "a write was rejected" });
  expect(Object.keys(failures(readinessChecks(dying)))).toEqual(["no-fatal-error"]);
});
