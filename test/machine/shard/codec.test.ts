/**
 * The stored forms of the shard's requests and answers. The bytes below are in logs and in the
 * memories of clients: a test that fails here says that an old log can no longer be read.
 *
 * Layout: unsigned integers are varints (7 bits a byte, low first, high bit: more follows); a text
 * or byte string is its length and its bytes; an optional is 00, or 01 and the value; a list is its
 * length and its elements; a word of a fixed list is its position; a union is its tag and fields.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { DATA_KINDS, LEASE_MODES } from "../../../src/machine/common/keyspace-modes.ts";
import type { Epoch, Incarnation, Revision } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { decode, encode } from "../../../src/base/codec.ts";
import {
  GRANT_OUTCOMES,
  HOLD_CHANGES,
  RANGE_REFUSALS,
  REFUSAL_REASONS,
  type ShardAnswer,
  shardAnswerCodec,
  type ShardResult,
} from "../../../src/machine/shard/answers.ts";
import {
  type ShardCommand,
  type ShardRequest,
  shardRequestCodec,
} from "../../../src/machine/shard/commands.ts";
import { type Owner, type RangeRecord } from "../../../src/machine/shard/types.ts";
import {
  branded,
  expectGolden,
  expectRoundTrip,
  expectTotal,
  type Golden,
  maybe,
} from "../codec-checks.ts";
import { anyCommand, anyRequestId, anyResult } from "./codec-arbitraries.ts";

const NODE_A: Owner = { nodeId: "a", incarnation: 7 as Incarnation };
const RANGE_EPOCHS = [{ rangeId: "1.2.0", epoch: 9 as Epoch }];

/** Without a request id: 00, then the command. */
const COMMANDS: readonly Golden<ShardCommand>[] = [
  {
    value: {
      kind: "createKeyspace",
      terms: {
        keyspaceId: 1,
        name: "ks",
        leaseDurationMs: 3_000,
        renewIntervalMs: 1_000,
        leaseMode: "affinity",
        dataKind: "local",
      },
    },
    bytes: "01  01  02 6b73  b817  e807  01  02",
  },
  {
    value: {
      kind: "defineRanges",
      keyspaceId: 1,
      splitKeys: [utf8ToBytes("c"), utf8ToBytes("mm")],
    },
    bytes: "02  01  02 [01 63] [02 6d6d]",
  },
  {
    value: {
      kind: "openSession",
      ...NODE_A,
      provenSince: 5 as Incarnation,
      addresses: ["h:1", "i:2"],
    },
    bytes: "03  01 61  07  05  02 [03 683a31] [03 693a32]",
  },
  {
    value: {
      kind: "renew",
      renewals: [
        {
          ...NODE_A,
          asOf: 128 as Revision,
          except: [
            { keyspaceId: 1, startKey: utf8ToBytes(""), endKey: utf8ToBytes("z") },
            { keyspaceId: 2, startKey: utf8ToBytes("c"), endKey: undefined },
          ],
          pair: { sequence: 6, nonce: 300 },
          known: [
            { sequence: 4, nonce: 5 },
            { sequence: 5, nonce: 128 },
          ],
        },
      ],
    },
    bytes: `04  01 [01 61  07  8001  02 [01  00  01 01 7a] [02  01 63  00]
            06 ac02  02 [04 05] [05 8001]]`,
  },
  {
    value: { kind: "accept", ...NODE_A, ranges: RANGE_EPOCHS },
    bytes: "05  01 61  07  01 [05 312e322e30  09]",
  },
  {
    value: {
      kind: "release",
      ...NODE_A,
      ranges: [{ rangeId: "1.2.0", epoch: 9 as Epoch, handOverRevision: 300 as Revision }],
    },
    bytes: "06  01 61  07  01 [05 312e322e30  09  ac02]",
  },
  {
    value: {
      kind: "grant",
      items: [
        {
          rangeId: "1.2.0",
          expectedEpoch: 9 as Epoch,
          expectedDescriptorRevision: 10 as Revision,
          nodeId: "b",
          incarnation: undefined,
        },
        {
          rangeId: "1.2.1",
          expectedEpoch: 0 as Epoch,
          expectedDescriptorRevision: 2 as Revision,
          nodeId: "a",
          incarnation: 7 as Incarnation,
        },
      ],
      onlyUnowned: true,
      handOver: true,
    },
    bytes: `07  02 [05 312e322e30  09  0a  01 62  00]
                   [05 312e322e31  00  02  01 61  01 07]  01 01`,
  },
  {
    value: {
      kind: "withdrawSuccessor",
      rangeId: "1.2.0",
      expectedEpoch: 9 as Epoch,
      expectedDescriptorRevision: 10 as Revision,
    },
    bytes: "08  05 312e322e30  09  0a",
  },
  { value: { kind: "expire" }, bytes: "09" },
  {
    value: {
      kind: "stageImport",
      importId: "i",
      keyspaceId: 1,
      part: 0,
      rows: [
        { startKey: utf8ToBytes(""), intendedNodeId: "a" },
        { startKey: utf8ToBytes("c"), intendedNodeId: undefined },
      ],
    },
    bytes: "0a  01 69  01  00  02 [00  01 01 61] [01 63  00]",
  },
  {
    value: { kind: "commitImport", importId: "i", keyspaceId: 1, rowCount: 300 },
    bytes: "0b  01 69  01  ac02",
  },
  { value: { kind: "abortImport", importId: "i", keyspaceId: 1 }, bytes: "0c  01 69  01" },
];

const RECORD: RangeRecord = {
  rangeId: "1.2.0",
  keyspaceId: 1,
  startKey: utf8ToBytes("c"),
  endKey: utf8ToBytes("f"),
  epoch: 9 as Epoch,
  owner: NODE_A,
  successor: { nodeId: "b", incarnation: 8 as Incarnation },
  handOverRevision: 300 as Revision,
  intendedNodeId: undefined,
  acceptedEpoch: 9 as Epoch,
  replicas: [{ nodeId: "a", inSync: true }],
  descriptorRevision: 10 as Revision,
};
/**
 * id, keyspace, start, end, epoch, owner, successor, hand-over, intended, accepted, replicas,
 * descriptor.
 */
const RECORD_BYTES =
  "05 312e322e30  01  01 63  01 01 66  09  01 01 61 07  01 01 62 08  ac02  00  09 " +
  "01 [01 61 01]  0a";

const UNOWNED: RangeRecord = {
  rangeId: "1.2.1",
  keyspaceId: 1,
  startKey: utf8ToBytes(""),
  endKey: undefined,
  epoch: 0 as Epoch,
  owner: undefined,
  successor: undefined,
  handOverRevision: 0 as Revision,
  intendedNodeId: "a",
  acceptedEpoch: 0 as Epoch,
  replicas: [],
  descriptorRevision: 2 as Revision,
};
const UNOWNED_BYTES = "05 312e322e31  01  00  00  00  00  00  00  01 01 61  00  00  02";

/** In an answer that is not replayed, of revision 300: 00 ac02, then the result. */
const RESULTS: readonly Golden<ShardResult>[] = [
  { value: { kind: "done" }, bytes: "01" },
  {
    value: {
      kind: "refused",
      reason: "leaseHeld",
      subject: "1.2.0",
      item: 2,
      range: RECORD,
      waitMs: 100,
    },
    bytes: `02  0d  05 312e322e30  01 02  01 ${RECORD_BYTES}  01 64`,
  },
  {
    value: {
      kind: "refused",
      reason: "notOwner",
      subject: "",
      item: undefined,
      range: undefined,
      waitMs: undefined,
    },
    bytes: "02  14  00  00  00  00",
  },
  { value: { kind: "keyspaceCreated", existed: true }, bytes: "03  01" },
  { value: { kind: "rangesDefined", rangeCount: 3 }, bytes: "04  03" },
  {
    value: {
      kind: "sessionOpened",
      alreadyOpen: false,
      durations: [{ keyspaceId: 1, keyspace: "ks", durationMs: 3_000, renewIntervalMs: 1_000 }],
      grantedCount: 2,
    },
    bytes: "05  00  01 [01  02 6b73  b817  e807]  02",
  },
  {
    value: {
      kind: "renewed",
      answers: [
        {
          kind: "extended",
          durations: [{ keyspaceId: 1, keyspace: "ks", durationMs: 3_000, renewIntervalMs: 1_000 }],
          changes: [
            { revision: 10 as Revision, kind: "granted", range: RECORD },
            { revision: 11 as Revision, kind: "successorLifted", range: UNOWNED },
          ],
        },
        { kind: "noSession" },
        { kind: "asOfAhead" },
        { kind: "viewTooOld", floor: 200 as Revision },
        { kind: "lateCopy", lastSequence: 300 },
        { kind: "sessionClosed" },
      ],
    },
    bytes: `06  06
      [01  01 [01  02 6b73  b817  e807]  02 [0a 00 ${RECORD_BYTES}] [0b 04 ${UNOWNED_BYTES}]]
      [02] [03] [04 c801] [05 ac02] [06]`,
  },
  {
    value: {
      kind: "rangesJudged",
      outcomes: [
        { rangeId: "1.2.0", refused: undefined, currentEpoch: 9 as Epoch },
        { rangeId: "1.2.1", refused: "notFound", currentEpoch: 8 as Epoch },
      ],
    },
    bytes: "07  02 [05 312e322e30  00  09] [05 312e322e31  01 02  08]",
  },
  {
    value: {
      kind: "grantsDone",
      outcomes: [
        { kind: "successorRecorded", range: RECORD, leaseDurationMs: 3_000, waitMs: 1_000 },
      ],
    },
    bytes: `08  01 [01  ${RECORD_BYTES}  b817  e807]`,
  },
  { value: { kind: "successorWithdrawn", range: UNOWNED }, bytes: `09  ${UNOWNED_BYTES}` },
  {
    value: { kind: "importStaged", stagedRows: 300, expiresInMs: 1_000 },
    bytes: "0a  ac02  e807",
  },
  { value: { kind: "importCommitted", rangeCount: 300, grantedCount: 2 }, bytes: "0b  ac02  02" },
];

function plain({ bytes }: { readonly bytes: string }): string {
  return bytes.replace(/[[\]]/g, "");
}

const REQUESTS: readonly Golden<ShardRequest>[] = [
  ...COMMANDS.map((golden) => ({
    value: { requestId: undefined, command: golden.value },
    bytes: `00 ${plain(golden)}`,
  })),
  {
    value: {
      requestId: {
        clientId: "cli",
        sequence: 5,
        seenRevision: 300 as Revision,
        acknowledgedBelow: 3,
      },
      command: { kind: "expire" },
    },
    bytes: "01 03 636c69  05  ac02  03  09",
  },
];

const ANSWERS: readonly Golden<ShardAnswer>[] = [
  ...RESULTS.map((golden) => ({
    value: { replayed: false, revision: 300 as Revision, result: golden.value },
    bytes: `00 ac02 ${plain(golden)}`,
  })),
  {
    value: {
      replayed: true,
      revision: (2 ** 53 - 1) as Revision,
      result: { kind: "done" },
    },
    bytes: "01  ffffffffffffff0f  01",
  },
];

test("every request has the bytes that were written down for it", () => {
  for (const golden of REQUESTS) expectGolden(shardRequestCodec, golden);
});

test("every answer has the bytes that were written down for it", () => {
  for (const golden of ANSWERS) expectGolden(shardAnswerCodec, golden);
});

test("the words of the stored forms keep their places", () => {
  expect(LEASE_MODES).toEqual(["exclusive", "affinity"]);
  expect(DATA_KINDS).toEqual(["none", "shared", "local"]);
  expect(HOLD_CHANGES).toEqual([
    "granted",
    "released",
    "expired",
    "successorSet",
    "successorLifted",
  ]);
  expect(RANGE_REFUSALS).toEqual([
    "staleEpoch",
    "notOwner",
    "notFound",
    "sessionClosed",
    "noSuccessor",
  ]);
  expect(GRANT_OUTCOMES).toEqual(["granted", "successorRecorded", "alreadyOwner"]);
  expect(REFUSAL_REASONS.slice(0, 22).join(" ")).toBe(
    "requestIdReused requestIdExpired seenRevisionAhead keyspaceNotFound rangeNotFound " +
      "invalidSplitKeys alreadyGranted noSession sessionLive staleIncarnation staleEpoch " +
      "epochAhead staleDescriptor leaseHeld successorRecorded noSuccessor repeatedRange " +
      "importIncomplete importOutOfOrder importInvalid notOwner sessionClosed",
  );
});

test("cut, altered and random requests decode to an error or to another request", () => {
  expectTotal(shardRequestCodec, REQUESTS);
});

test("cut, altered and random answers decode to an error or to another answer", () => {
  expectTotal(shardAnswerCodec, ANSWERS);
});

test("a tag that this version does not know is an error that names it", () => {
  const decoded = decode(shardRequestCodec, new Uint8Array([0, 13]));
  expect(decoded).toEqual({ ok: false, error: "tag 13 is unknown" });
});

test("a forged length reserves no memory", () => {
  const forged = new Uint8Array([0, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
  expect(decode(shardRequestCodec, forged).ok).toBe(false);
});

test("a key that was decoded does not change with the buffer that it came in", () => {
  const command: ShardCommand = { kind: "defineRanges", keyspaceId: 1, splitKeys: [anyBytes()] };
  const bytes = encode(shardRequestCodec, { requestId: undefined, command });
  const decoded = decode(shardRequestCodec, bytes);
  bytes.fill(0);
  expect(decoded).toEqual({ ok: true, value: { requestId: undefined, command } });
});

function anyBytes(): Uint8Array {
  return new Uint8Array([1, 2, 3]);
}

test("any request is read back as it was written", () => {
  expectRoundTrip(
    shardRequestCodec,
    fc.record({ requestId: maybe(anyRequestId), command: anyCommand }),
  );
});

test("any answer is read back as it was written", () => {
  const answers = fc.record({
    replayed: fc.boolean(),
    revision: branded<Revision>(),
    result: anyResult,
  });
  expectRoundTrip(shardAnswerCodec, answers);
});
