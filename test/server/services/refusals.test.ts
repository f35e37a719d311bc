/** Every refusal of machines and replicas: a reason, one line with a remedy, and its values. */

import { describe, expect, test } from "vitest";
import type { Epoch, Revision, ServerId } from "../../../src/base/brands.ts";
import { type RootRefused, ROOT_REFUSALS } from "../../../src/machine/root/commands.ts";
import {
  refused,
  REFUSAL_REASONS,
  type RefusalReason,
} from "../../../src/machine/shard/answers.ts";
import type { RangeRecord } from "../../../src/machine/shard/types.ts";
import type { SubmitFailure } from "../../../src/replica/group-access.ts";
import {
  refuseByRoot,
  refuseByShard,
  refuseSubmit,
  refuseUnavailable,
} from "../../../src/server/services/refusals.ts";
import type { Descriptor, Refusal } from "../../../src/wire/api.ts";
import { type Reason, REASONS } from "../../../src/wire/errors.ts";
import { SHARD } from "../../sim/virtual-cluster.ts";

const RANGE: RangeRecord = {
  rangeId: "1.4.0",
  keyspaceId: 1,
  startKey: new Uint8Array(0),
  endKey: undefined,
  epoch: 17 as Epoch,
  owner: { nodeId: "n1", incarnation: 5 as never },
  successor: undefined,
  intendedNodeId: undefined,
  handOverRevision: 0 as Revision,
  acceptedEpoch: 0 as Epoch,
  replicas: [],
  descriptorRevision: 17 as Revision,
};

const DESCRIPTOR: Descriptor = {
  rangeId: RANGE.rangeId,
  keyspace: "demo",
  span: RANGE,
  epoch: RANGE.epoch,
  owner: RANGE.owner,
  replicas: [],
  descriptorRevision: RANGE.descriptorRevision,
  group: SHARD,
};

/** The numbers that a text names are in the metadata, too, so that nobody parses texts. */
function judgeText({ reason, message, metadata, field }: Refusal): void {
  expect(message).not.toMatch(/undefined|NaN|null|\[object|\n/);
  expect(message.length).toBeGreaterThan(10);
  expect(message.length).toBeLessThanOrEqual(160);
  expect(message).toMatch(/^[^.]/);
  expect(Object.hasOwn(REASONS, reason)).toBe(true);
  const values = Object.values(metadata);
  for (const [number] of message.matchAll(/(?<![\w.])\d+(?![\w.])/g)) {
    expect(values, message).toContain(number);
  }
  for (const value of values) expect(value).not.toMatch(/undefined|NaN/);
  // INVALID is a caller's mistake, and says where.
  if (reason === "INVALID") expect(field, message).toBeDefined();
}

/** Of the entry that decided. */
const AT = 99 as Revision;

const BY_SHARD: Record<RefusalReason, readonly [Reason, string | undefined, item?: number]> = {
  requestIdReused: ["REQUEST_ID_REUSED", "request_id"],
  requestIdExpired: ["EXPIRED_ID", "request_id"],
  seenRevisionAhead: ["INVALID", "request_id.seen_revision"],
  keyspaceNotFound: ["NOT_FOUND", undefined],
  rangeNotFound: ["NOT_FOUND", "items[2].range_id", 2],
  invalidSplitKeys: ["INVALID", "split_keys[2]", 2],
  alreadyGranted: ["ALREADY_GRANTED", undefined],
  noSession: ["NO_SESSION", undefined],
  sessionLive: ["SESSION_LIVE", undefined],
  staleIncarnation: ["STALE_INCARNATION", undefined],
  staleEpoch: ["STALE_EPOCH", "items[2].expected_epoch", 2],
  epochAhead: ["INVALID", "expected_epoch"],
  staleDescriptor: ["STALE_EPOCH", "expected_descriptor_revision"],
  leaseHeld: ["LEASE_HELD", undefined],
  successorRecorded: ["SUCCESSOR_RECORDED", undefined],
  noSuccessor: ["NOT_FOUND", undefined],
  repeatedRange: ["INVALID", "items[2].range_id", 2],
  importIncomplete: ["IMPORT_INCOMPLETE", undefined],
  importOutOfOrder: ["IMPORT_INCOMPLETE", "part", 2],
  importInvalid: ["INVALID", "rows[2]", 2],
  notOwner: ["NOT_OWNER", undefined],
  sessionClosed: ["SESSION_CLOSED", undefined],
  requestMemoryFull: ["OVERLOADED", undefined],
};

describe("a shard's refusal", () => {
  for (const reason of REFUSAL_REASONS) {
    test(`${reason} has its reason and field, with and without details`, () => {
      const [expected, field, item] = BY_SHARD[reason];
      const details = item === undefined ? {} : { item };
      const bare = refuseByShard(refused(reason, "1.4.0", details), AT, () => DESCRIPTOR);
      expect(bare).toMatchObject({ reason: expected, field, descriptors: [] });
      judgeText(bare);
      const full = { ...details, range: RANGE, waitMs: 1_234 };
      const rich = refuseByShard(refused(reason, "1.4.0", full), AT, () => DESCRIPTOR);
      expect(rich).toMatchObject({ reason: expected, field, descriptors: [DESCRIPTOR] });
      expect(rich.metadata).toMatchObject({ subject: "1.4.0", epoch: "17", wait_ms: "1234" });
      expect(rich.metadata["revision"]).toBe("99");
      judgeText(rich);
    });
  }
});

test("a live session is looked at again within a second, and not at once", () => {
  const retryMs = (waitMs: number | undefined): number | undefined => {
    const details = waitMs === undefined ? {} : { waitMs };
    return refuseByShard(refused("sessionLive", "n1", details), AT, () => DESCRIPTOR).retryAfterMs;
  };
  expect([undefined, 0, 50, 500, 60_000].map(retryMs)).toEqual([100, 100, 100, 500, 1_000]);
});

const BY_ROOT: Record<RootRefused["reason"], readonly [Reason, string | undefined]> = {
  requestIdReused: ["REQUEST_ID_REUSED", "request_id"],
  requestIdExpired: ["EXPIRED_ID", "request_id"],
  seenRevisionAhead: ["INVALID", "request_id.seen_revision"],
  clusterNotInitialised: ["TRANSIENT", undefined],
  tooManyKeyspaces: ["INVALID", "name"],
  keyspaceExists: ["ALREADY_EXISTS", "name"],
  keyspaceNotFound: ["NOT_FOUND", undefined],
  groupNotFound: ["WRONG_GROUP", undefined],
  nodeIdTaken: ["NODE_ID_TAKEN", "node_id"],
  requestMemoryFull: ["OVERLOADED", undefined],
};

describe("the root's refusal", () => {
  for (const reason of ROOT_REFUSALS) {
    test(`${reason} has its reason and field`, () => {
      const refusal = refuseByRoot({ kind: "refused", reason, subject: "demo" }, AT);
      const [expected, field] = BY_ROOT[reason];
      expect(refusal).toMatchObject({ reason: expected, field, metadata: { subject: "demo" } });
      expect(refusal.metadata["revision"]).toBe("99");
      judgeText(refusal);
    });
  }
});

function groupLedBy(leaderServerId: number | undefined): Parameters<typeof refuseSubmit>[0] {
  return {
    group: SHARD,
    leaderServerId: leaderServerId as ServerId | undefined,
    replica: { machine: { revision: 42 as Revision } },
  };
}

const FAILURES: Record<SubmitFailure, Reason> = {
  notLeader: "TRANSIENT",
  overloaded: "OVERLOADED",
  leaderChanged: "TRANSIENT",
  deadlineExceeded: "TRANSIENT",
  unreachable: "TRANSIENT",
  shuttingDown: "TRANSIENT",
  noLeader: "TRANSIENT",
  badAnswer: "TRANSIENT",
};

describe("a request without an answer", () => {
  for (const [cause, expected] of Object.entries(FAILURES)) {
    test(`${cause} says whether it may have been applied, and when to come again`, () => {
      const reason = cause as SubmitFailure;
      for (const leader of [undefined, 3]) {
        const group = groupLedBy(leader);
        const certain = refuseSubmit(group, { outcome: "notApplied", reason });
        expect(certain).toMatchObject({ reason: expected, metadata: { group: "1", cause } });
        const unknown = refuseSubmit(group, { outcome: "unknown", reason });
        expect(unknown).toMatchObject({ reason: "UNCERTAIN", metadata: { group: "1", cause } });
        for (const refusal of [certain, unknown]) {
          judgeText(refusal);
          expect(refusal.retryAfterMs).toBeGreaterThan(0);
        }
      }
    });
  }
});

test("a read that may not be answered says why, and which revision there is", () => {
  const reasons = { behind: "TRANSIENT", overloaded: "OVERLOADED", noLeader: "TRANSIENT" } as const;
  for (const [why, reason] of Object.entries(reasons)) {
    for (const leader of [undefined, 3]) {
      const unavailable = { kind: "unavailable", reason: why as keyof typeof reasons } as const;
      const refusal = refuseUnavailable(groupLedBy(leader), unavailable);
      expect(refusal).toMatchObject({ reason, metadata: { group: "1", revision: "42" } });
      expect(refusal.retryAfterMs).toBeGreaterThan(0);
      judgeText(refusal);
    }
  }
  const other = refuseUnavailable(groupLedBy(3), { kind: "otherGeneration" });
  expect(other).toMatchObject({ reason: "INVALID", field: "read.at_least_revision" });
  judgeText(other);
});

test("a full memory is looked at again after a second, by both machines' refusals", () => {
  const reason = "requestMemoryFull";
  const refusals = [
    refuseByShard(refused(reason, "cli"), AT, () => DESCRIPTOR),
    refuseByRoot({ kind: "refused", reason, subject: "cli" }, AT),
  ];
  for (const { retryAfterMs } of refusals) expect(retryAfterMs).toBe(1_000);
  for (const { reason: told } of refusals) expect(REASONS[told].retry).toBe("afterBackoff");
});
