/** The stored forms of the root's requests and answers; layout as in the shard's codec test. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { DATA_KINDS, LEASE_MODES } from "../../../src/machine/common/keyspace-modes.ts";
import type { GroupId, Incarnation, Revision, ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { decode } from "../../../src/base/codec.ts";
import {
  ROOT_REFUSALS,
  type RootAnswer,
  rootAnswerCodec,
  type RootRequest,
  rootRequestCodec,
} from "../../../src/machine/root/commands.ts";
import {
  HASH_FUNCTIONS,
  KEYSPACE_KINDS,
  KEYSPACE_STATES,
} from "../../../src/machine/root/types.ts";
import {
  anyKey,
  anyText,
  anyUint,
  branded,
  expectGolden,
  expectRoundTrip,
  expectTotal,
  type Golden,
  maybe,
} from "../codec-checks.ts";

const SETTINGS = {
  name: "ks",
  kind: "hash",
  hashFunction: "given",
  leaseMode: "affinity",
  dataKind: "shared",
  leaseDurationMs: 3_000,
  renewIntervalMs: 1_000,
} as const;
/** name, kind, hash function, mode, data, duration, interval. */
const SETTINGS_BYTES = "02 6b73  01  01 00  01  01  b817  e807";

const NODE = {
  nodeId: "a",
  dataUuid: "u1",
  start: { bootId: "b0", lockFile: "8:9", startCount: 300 },
  addresses: ["h:1", "i:2"],
  zone: "z",
  labels: [{ name: "disk", value: "ssd" }],
  capacity: 300,
} as const;
const NODE_ID_BYTES = "01 61  02 7531";
/** Start (boot id, lock file, count), then addresses, zone, labels, capacity. */
const NODE_REST_BYTES =
  "01 02 6230 03 383a39 ac02  02  03 683a31  03 693a32  01 7a  01  04 6469736b 03 737364  ac02";

/** Without a request id: 00, then tag and fields. */
const REQUESTS: readonly Golden<RootRequest>[] = [
  {
    value: {
      requestId: undefined,
      command: {
        kind: "initCluster",
        cluster: {
          clusterId: "c1",
          name: "n",
          servers: [
            { serverId: 1 as ServerId, grpcAddress: "g", peerAddress: "p", httpAddress: "h" },
          ],
          shardGroups: [1 as GroupId, 2 as GroupId],
        },
      },
    },
    bytes: "00 01  02 6331  01 6e  01  01 01 67 01 70 01 68  02 01 02",
  },
  {
    value: {
      requestId: {
        clientId: "cli",
        sequence: 5,
        seenRevision: 300 as Revision,
        acknowledgedBelow: 3,
      },
      command: { kind: "createKeyspace", settings: SETTINGS, group: 1 as GroupId },
    },
    bytes: `01 03 636c69 05 ac02 03  02 ${SETTINGS_BYTES} 01`,
  },
  {
    value: { requestId: undefined, command: { kind: "markKeyspaceReady", keyspaceId: 300 } },
    bytes: "00 03 ac02",
  },
  {
    value: { requestId: undefined, command: { kind: "registerNode", ...NODE } },
    bytes: `00 04 ${NODE_ID_BYTES} ${NODE_REST_BYTES}`,
  },
];

/** replayed, revision, tag and fields. */
const ANSWERS: readonly Golden<RootAnswer>[] = [
  {
    value: { replayed: false, revision: 300 as Revision, result: { kind: "done" } },
    bytes: "00 ac02 01",
  },
  {
    value: {
      replayed: true,
      revision: 9 as Revision,
      result: {
        kind: "keyspaceRecorded",
        keyspace: {
          keyspaceId: 2,
          settings: { ...SETTINGS, hashFunction: undefined },
          state: "ready",
          spans: [
            { startKey: utf8ToBytes(""), endKey: utf8ToBytes("m"), group: 1 as GroupId },
            { startKey: utf8ToBytes("m"), endKey: undefined, group: 2 as GroupId },
          ],
          createdRevision: 8 as Revision,
        },
      },
    },
    bytes: `01 09 02  02  02 6b73 01 00 01 01 b817 e807  01
      02  00 01 01 6d 01  01 6d 00 02  08`,
  },
  {
    value: {
      replayed: false,
      revision: 9 as Revision,
      result: {
        kind: "nodeRegistered",
        node: {
          ...NODE,
          incarnation: 9 as Incarnation,
          predecessor: 7 as Incarnation,
          provenSince: 5 as Incarnation,
        },
      },
    },
    bytes: `00 09 03 ${NODE_ID_BYTES} 09 07 05 ${NODE_REST_BYTES}`,
  },
  {
    value: {
      replayed: false,
      revision: 9 as Revision,
      result: { kind: "refused", reason: "nodeIdTaken", subject: "a" },
    },
    bytes: "00 09 04  07  01 61",
  },
];

test("every request has the bytes that were written down for it", () => {
  for (const golden of REQUESTS) expectGolden(rootRequestCodec, golden);
});

test("every answer has the bytes that were written down for it", () => {
  for (const golden of ANSWERS) expectGolden(rootAnswerCodec, golden);
});

test("the words of the stored forms keep their places", () => {
  expect(KEYSPACE_KINDS).toEqual(["range", "hash"]);
  expect(HASH_FUNCTIONS.slice(0, 1)).toEqual(["given"]);
  expect(LEASE_MODES).toEqual(["exclusive", "affinity"]);
  expect(DATA_KINDS).toEqual(["none", "shared", "local"]);
  expect(KEYSPACE_STATES).toEqual(["creating", "ready"]);
  expect(ROOT_REFUSALS.slice(0, 8)).toEqual([
    "requestIdReused",
    "requestIdExpired",
    "seenRevisionAhead",
    "clusterNotInitialised",
    "keyspaceExists",
    "keyspaceNotFound",
    "groupNotFound",
    "nodeIdTaken",
  ]);
});

test("cut, altered and random requests decode to an error or to another request", () => {
  expectTotal(rootRequestCodec, REQUESTS);
});

test("cut, altered and random answers decode to an error or to another answer", () => {
  expectTotal(rootAnswerCodec, ANSWERS);
});

test("a tag that this version does not know is an error that names it", () => {
  const decoded = decode(rootRequestCodec, new Uint8Array([0, 5]));
  expect(decoded).toEqual({ ok: false, error: "tag 5 is unknown" });
});

const settings = fc.record({
  name: anyText,
  kind: fc.constantFrom(...KEYSPACE_KINDS),
  hashFunction: maybe(fc.constantFrom(...HASH_FUNCTIONS)),
  leaseMode: fc.constantFrom(...LEASE_MODES),
  dataKind: fc.constantFrom(...DATA_KINDS),
  leaseDurationMs: anyUint,
  renewIntervalMs: anyUint,
});

const node = {
  nodeId: anyText,
  dataUuid: anyText,
  start: maybe(fc.record({ bootId: anyText, lockFile: anyText, startCount: anyUint })),
  addresses: fc.array(anyText, { maxLength: 3 }),
  zone: anyText,
  labels: fc.array(fc.record({ name: anyText, value: anyText }), { maxLength: 3 }),
  capacity: anyUint,
};

test("any request is read back as it was written", () => {
  const command: fc.Arbitrary<RootRequest["command"]> = fc.oneof(
    fc.record({
      kind: fc.constant("createKeyspace" as const),
      settings,
      group: branded<GroupId>(),
    }),
    fc.record({ kind: fc.constant("registerNode" as const), ...node }),
  );
  expectRoundTrip(rootRequestCodec, fc.record({ requestId: fc.constant(undefined), command }));
});

test("any answer is read back as it was written", () => {
  const spans = fc.array(
    fc.record({ startKey: anyKey, endKey: maybe(anyKey), group: branded<GroupId>() }),
    { maxLength: 3 },
  );
  const keyspace = fc.record({
    keyspaceId: anyUint,
    settings,
    state: fc.constantFrom(...KEYSPACE_STATES),
    spans,
    createdRevision: branded<Revision>(),
  });
  const result: fc.Arbitrary<RootAnswer["result"]> = fc.oneof(
    fc.record({ kind: fc.constant("keyspaceRecorded" as const), keyspace }),
    fc.record({
      kind: fc.constant("nodeRegistered" as const),
      node: fc.record({
        ...node,
        incarnation: branded<Incarnation>(),
        predecessor: branded<Incarnation>(),
        provenSince: branded<Incarnation>(),
      }),
    }),
  );
  const answers = fc.record({ replayed: fc.boolean(), revision: branded<Revision>(), result });
  expectRoundTrip(rootAnswerCodec, answers);
});
