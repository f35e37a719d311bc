import { expect, test } from "vitest";
import { serviceOf } from "../../src/wire/public-protos.ts";
import { methodRows } from "../../src/wire/methods.ts";

// A request in the form that goes into the serializer: what any client in any language can send.
type Plain = Readonly<Record<string, unknown>>;

const requestId = { clientId: "importer-1", sequence: "7", seenRevision: "12" };
const owner = { nodeId: "node-a", incarnation: "41" };
const rangeEpochs = { owner, group: 1, ranges: [{ rangeId: "1.17.0", epoch: "17" }] };
const grantItem = {
  rangeId: "1.17.0",
  expectedEpoch: "0",
  expectedDescriptorRevision: "17",
  nodeId: "node-a",
};
const start = { bootId: "0".repeat(32), lockFile: "2049:77", startCount: "3" };
const pair = { sequence: "7", nonce: "123456789" };
const MAX_UINT64 = "18446744073709551615";
const TWO_53 = "9007199254740992";
const tooLongKey = Buffer.alloc(4_097);
const longName = "n".repeat(65);
const key = (text: string): Buffer => Buffer.from(text);

const VALID: Readonly<Record<string, Plain>> = {
  lookup: { keyspace: "orders", key: key("k") },
  lookupBatch: { keyspace: "orders", keys: [key("k")] },
  getRange: { rangeId: "1.17.0" },
  listRanges: { keyspace: "orders" },
  listNodes: {},
  watch: {},
  register: {
    requestId,
    nodeId: "node-a",
    dataUuid: "0123456789abcdef0123456789ABCDEF",
    addresses: ["10.0.0.1:7000"],
  },
  openSession: { owner, group: 1 },
  accept: rangeEpochs,
  renew: { owner, group: 1, asOf: "41", pair },
  grant: { requestId, group: 1, items: [grantItem] },
  withdrawSuccessor: {
    requestId,
    group: 1,
    rangeId: "1.17.0",
    expectedEpoch: "17",
    expectedDescriptorRevision: "18",
  },
  release: rangeEpochs,
  createKeyspace: { requestId, name: "orders", kind: "RANGE" },
  listKeyspaces: {},
  defineRanges: { requestId, keyspace: "orders", splitKeys: [key("a"), key("b")] },
  stageImport: { keyspace: "orders", importId: "i1", rows: [{ startKey: key("") }] },
  commitImport: { keyspace: "orders", importId: "i1", rowCount: "1" },
  abortImport: { keyspace: "orders", importId: "i1" },
  getStatus: {},
};

/** What is changed in the valid request of a method, and the field that the refusal must name. */
type Case = readonly [method: string, change: Plain, field: string];

const many = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => item(at));
const badNames = ["", longName, "a b", "a/b", "é", "a\n"];

function namesOf(method: string, field: string, protoField: string): Case[] {
  return badNames.map((bad) => [method, { [field]: bad }, protoField]);
}

const DIRECTORY: readonly Case[] = [
  ...namesOf("lookup", "keyspace", "keyspace"),
  ["lookup", { key: tooLongKey }, "key"],
  ["lookup", { read: { consistency: 9 } }, "read.consistency"],
  ["lookup", { read: { consistency: 2, atLeastRevision: TWO_53 } }, "read.at_least_revision"],
  ["lookup", { read: { consistency: 2, atLeastRevision: MAX_UINT64 } }, "read.at_least_revision"],
  ["lookup", { read: { consistency: 2, atLeastRevision: "-1" } }, "read.at_least_revision"],
  ["lookup", { read: { consistency: 1, atLeastRevision: "5" } }, "read.at_least_revision"],
  ["lookup", { read: { consistency: 3, atLeastRevision: "5" } }, "read.at_least_revision"],
  ["lookupBatch", { keys: [] }, "keys"],
  ["lookupBatch", { keys: many(1_001, () => key("k")) }, "keys"],
  ["lookupBatch", { keys: [key("k"), tooLongKey] }, "keys[1]"],
  ...namesOf("getRange", "rangeId", "range_id"),
  ...namesOf("listRanges", "keyspace", "keyspace"),
  ["listRanges", { span: { startKey: key("b"), endKey: key("a") } }, "span.end_key"],
  ["listRanges", { span: { startKey: key("a"), endKey: key("a") } }, "span.end_key"],
  ["listRanges", { span: { startKey: tooLongKey } }, "span.start_key"],
  ["listRanges", { span: { endKey: tooLongKey } }, "span.end_key"],
  ["listRanges", { nodeId: "a b" }, "node_id"],
  ["listRanges", { pageSize: 10_001 }, "page_size"],
  ["listRanges", { pageSize: -1 }, "page_size"],
  ["listRanges", { pageToken: "x".repeat(40_000) }, "page_token"],
  ["listNodes", { pageSize: 10_001 }, "page_size"],
  ["listNodes", { pageToken: "x".repeat(40_000) }, "page_token"],
  ["watch", { keyspace: "a b" }, "keyspace"],
  ["watch", { span: { startKey: key("a") } }, "keyspace"],
  ["watch", { keyspace: "k", span: { startKey: key("b"), endKey: key("a") } }, "span.end_key"],
  ["watch", { nodeId: longName }, "node_id"],
  ["watch", { resumeToken: Buffer.alloc(70_000) }, "resume_token"],
];

const REQUEST_ID_USERS = ["register", "grant", "withdrawSuccessor", "createKeyspace"];
const REQUEST_IDS: readonly Case[] = [...REQUEST_ID_USERS, "defineRanges"].flatMap(
  (method): Case[] => [
    [method, { requestId: null }, "request_id"],
    [method, { requestId: { ...requestId, clientId: "" } }, "request_id.client_id"],
    [method, { requestId: { ...requestId, clientId: longName } }, "request_id.client_id"],
    [method, { requestId: { ...requestId, sequence: "0" } }, "request_id.sequence"],
    [method, { requestId: { ...requestId, sequence: TWO_53 } }, "request_id.sequence"],
    [method, { requestId: { ...requestId, seenRevision: TWO_53 } }, "request_id.seen_revision"],
    [
      method,
      { requestId: { ...requestId, acknowledgedBelow: "8" } },
      "request_id.acknowledged_below",
    ],
  ],
);

const OWNERS: readonly Case[] = ["openSession", "accept", "renew", "release"].flatMap(
  (method): Case[] => [
    [method, { owner: null }, "owner"],
    [method, { owner: { ...owner, nodeId: "" } }, "owner.node_id"],
    [method, { owner: { ...owner, incarnation: "0" } }, "owner.incarnation"],
    [method, { owner: { ...owner, incarnation: TWO_53 } }, "owner.incarnation"],
    [method, { group: 4_294_967_295 }, "group"],
  ],
);

const OWNERSHIP: readonly Case[] = [
  ...namesOf("register", "nodeId", "node_id"),
  ["register", { dataUuid: "" }, "data_uuid"],
  ["register", { dataUuid: "0123" }, "data_uuid"],
  ["register", { dataUuid: "g".repeat(32) }, "data_uuid"],
  ["register", { dataUuid: "-".repeat(100_000) }, "data_uuid"],
  ["register", { start: { ...start, bootId: "" } }, "start.boot_id"],
  ["register", { start: { ...start, lockFile: "2049" } }, "start.lock_file"],
  ["register", { start: { ...start, lockFile: `1:${"2".repeat(21)}` } }, "start.lock_file"],
  ["register", { start: { ...start, startCount: "0" } }, "start.start_count"],
  ["register", { start: { ...start, startCount: TWO_53 } }, "start.start_count"],
  ["renew", { pair: null }, "pair"],
  ["renew", { pair: { ...pair, sequence: "0" } }, "pair.sequence"],
  ["renew", { pair: { ...pair, nonce: TWO_53 } }, "pair.nonce"],
  ["renew", { known: many(65, () => pair) }, "known"],
  ["renew", { known: [pair, { ...pair, sequence: TWO_53 }] }, "known[1].sequence"],
  ["register", { addresses: [] }, "addresses"],
  ["register", { addresses: many(9, () => "h:1") }, "addresses"],
  ["register", { addresses: ["h:1", ""] }, "addresses[1]"],
  ["register", { addresses: ["h".repeat(257)] }, "addresses[0]"],
  ["register", { addresses: ["h 1"] }, "addresses[0]"],
  ["register", { zone: "a b" }, "zone"],
  ["register", { zone: longName }, "zone"],
  ["register", { labels: Object.fromEntries(many(33, (at) => [`l${at}`, ""])) }, "labels"],
  ["register", { labels: { "": "x" } }, "labels"],
  ["register", { labels: { [longName]: "x" } }, "labels"],
  ["register", { labels: { rack: "x".repeat(257) } }, 'labels["rack"]'],
  ["register", { capacity: TWO_53 }, "capacity"],
  ...["accept", "release"].flatMap((method): Case[] => [
    [method, { ranges: [] }, "ranges"],
    [method, { ranges: many(1_001, () => ({ rangeId: "r", epoch: "1" })) }, "ranges"],
    [method, { ranges: [{ rangeId: "", epoch: "1" }] }, "ranges[0].range_id"],
    [method, { ranges: [{ rangeId: "r", epoch: "0" }] }, "ranges[0].epoch"],
    [method, { ranges: [{ rangeId: "r", epoch: TWO_53 }] }, "ranges[0].epoch"],
  ]),
  ["renew", { asOf: TWO_53 }, "as_of"],
  ["renew", { except: many(257, () => ({ keyspace: "k", span: {} })) }, "except"],
  ["renew", { except: [{ keyspace: "", span: {} }] }, "except[0].keyspace"],
  ["renew", { except: [{ keyspace: "k" }] }, "except[0].span"],
  [
    "renew",
    { except: [{ keyspace: "k", span: { startKey: key("b"), endKey: key("a") } }] },
    "except[0].span.end_key",
  ],
  ["grant", { items: [] }, "items"],
  ["grant", { items: many(1_001, (at) => ({ ...grantItem, rangeId: `r${at}` })) }, "items"],
  ["grant", { items: [grantItem, grantItem] }, "items[1].range_id"],
  ["grant", { items: [{ ...grantItem, rangeId: "" }] }, "items[0].range_id"],
  ["grant", { items: [{ ...grantItem, expectedEpoch: TWO_53 }] }, "items[0].expected_epoch"],
  [
    "grant",
    { items: [{ ...grantItem, expectedDescriptorRevision: "0" }] },
    "items[0].expected_descriptor_revision",
  ],
  ["grant", { items: [{ ...grantItem, nodeId: "" }] }, "items[0].node_id"],
  ["grant", { items: [{ ...grantItem, incarnation: TWO_53 }] }, "items[0].incarnation"],
  ["grant", { group: 4_294_967_295 }, "group"],
  ...namesOf("withdrawSuccessor", "rangeId", "range_id"),
  ["withdrawSuccessor", { expectedEpoch: "0" }, "expected_epoch"],
  ["withdrawSuccessor", { expectedDescriptorRevision: "0" }, "expected_descriptor_revision"],
];

/** BUG-CASES B39 in milliseconds: zero is a default, everything else is taken or refused. */
const DURATIONS: readonly Case[] = [
  ...[1, 1_499, 600_001, 86_400_000, 4_294_967_295, -1].map((leaseDurationMs): Case => [
    "createKeyspace",
    { leaseDurationMs },
    "lease_duration_ms",
  ]),
  ...[1, 499, 3_334, 4_294_967_295, -1].map((renewIntervalMs): Case => [
    "createKeyspace",
    { renewIntervalMs },
    "renew_interval_ms",
  ]),
];

const KEYSPACES: readonly Case[] = [
  ...namesOf("createKeyspace", "name", "name"),
  ["createKeyspace", { kind: 0 }, "kind"],
  ["createKeyspace", { kind: 3 }, "kind"],
  ["createKeyspace", { kind: "HASH" }, "hash_function"],
  ["createKeyspace", { hashFunction: "GIVEN" }, "hash_function"],
  ["createKeyspace", { kind: "HASH", hashFunction: 2 }, "hash_function"],
  ["createKeyspace", { leaseMode: 3 }, "lease_mode"],
  ["createKeyspace", { dataKind: 4 }, "data_kind"],
  ["listKeyspaces", { pageSize: 10_001 }, "page_size"],
  ["listKeyspaces", { pageToken: "x".repeat(40_000) }, "page_token"],
  ...namesOf("defineRanges", "keyspace", "keyspace"),
  ["defineRanges", { splitKeys: [key("")] }, "split_keys[0]"],
  ["defineRanges", { splitKeys: [key("b"), key("a")] }, "split_keys[1]"],
  ["defineRanges", { splitKeys: [key("a"), key("a")] }, "split_keys[1]"],
  ["defineRanges", { splitKeys: [key("a"), tooLongKey] }, "split_keys[1]"],
  ["defineRanges", { splitKeys: many(10_001, (at) => key(String(at + 10_000))) }, "split_keys"],
  [
    "defineRanges",
    { splitKeys: many(65, (at) => Buffer.alloc(4_096, String(at + 10))) },
    "split_keys",
  ],
  ...namesOf("stageImport", "keyspace", "keyspace"),
  ...namesOf("stageImport", "importId", "import_id"),
  ["stageImport", { part: 4_294_967_295, rows: [{ startKey: key("a") }] }, "part"],
  ["stageImport", { rows: [] }, "rows"],
  ["stageImport", { rows: [{ startKey: key("a") }] }, "rows[0].start_key"],
  ["stageImport", { part: 1 }, "rows[0].start_key"],
  [
    "stageImport",
    { rows: [{}, { startKey: key("b") }, { startKey: key("a") }] },
    "rows[2].start_key",
  ],
  ["stageImport", { rows: [{ intendedNodeId: "a b" }] }, "rows[0].intended_node_id"],
  ["stageImport", { rows: [{}, { startKey: tooLongKey }] }, "rows[1].start_key"],
  [
    "stageImport",
    { part: 1, rows: many(65, (at) => ({ startKey: Buffer.alloc(4_096, String(at + 10)) })) },
    "rows",
  ],
  ...namesOf("commitImport", "importId", "import_id"),
  ["commitImport", { rowCount: "0" }, "row_count"],
  ["commitImport", { rowCount: TWO_53 }, "row_count"],
  ...namesOf("abortImport", "keyspace", "keyspace"),
];

const SERVICES = {
  directory: serviceOf("cadastre.v1.Directory"),
  ownership: serviceOf("cadastre.v1.Ownership"),
  keyspaces: serviceOf("cadastre.v1.Keyspaces"),
  cluster: serviceOf("cadastre.admin.v1.Cluster"),
};

function decode(method: string, request: Plain): unknown {
  const named = methodRows().find((one) => one.method === method);
  if (named === undefined) throw new Error(`no method ${method}`);
  const loaded = Object.values(SERVICES[named.service]).find(({ path }) => path === named.row.path);
  if (loaded === undefined) throw new Error(`no proto of ${method}`);
  return named.row.decodeRequest(loaded.requestType.serialize(request));
}

test.each(methodRows().map(({ method }) => method))(
  "the smallest valid request of %s is taken",
  (method) => {
    expect(decode(method, VALID[method] ?? {})).toMatchObject({ ok: true });
  },
);

/** With a short text of the change, which can be large. */
function named<T extends readonly [string, Plain, unknown?]>(cases: readonly T[]): [string, T][] {
  return cases.map((one) => [`${one[0]} ${JSON.stringify(one[1]).slice(0, 60)}`, one]);
}

const REFUSED = [...DIRECTORY, ...REQUEST_IDS, ...OWNERS, ...OWNERSHIP, ...DURATIONS, ...KEYSPACES];

test.each(named(REFUSED))("%s is refused and its field named", (_, [method, change, field]) => {
  expect(decode(method, { ...VALID[method], ...change })).toMatchObject({
    ok: false,
    error: { reason: "INVALID", field, metadata: { field } },
  });
});

const AT_BOUNDS: readonly (readonly [method: string, change: Plain])[] = [
  ["lookup", { key: Buffer.alloc(4_096) }],
  ["lookup", { read: { consistency: 2, atLeastRevision: "9007199254740991" } }],
  ["lookupBatch", { keys: many(1_000, () => key("k")) }],
  ["listRanges", { pageSize: 10_000, span: { startKey: key("a") } }],
  ["register", { addresses: many(8, () => "h".repeat(256)) }],
  ["register", { dataUuid: "01234567-89ab-cdef-0123-456789abcdef" }],
  ["grant", { items: many(1_000, (at) => ({ ...grantItem, rangeId: `r${at}` })) }],
  ["renew", { except: many(256, () => ({ keyspace: "k", span: {} })) }],
  ["createKeyspace", { leaseDurationMs: 1_500, renewIntervalMs: 500 }],
  ["createKeyspace", { leaseDurationMs: 600_000, renewIntervalMs: 200_000 }],
  ["defineRanges", { splitKeys: many(64, (at) => Buffer.alloc(4_096, String(at + 10))) }],
  ["defineRanges", { splitKeys: [] }],
];

test.each(named(AT_BOUNDS))("%s at its bounds is taken", (_, [method, change]) => {
  expect(decode(method, { ...VALID[method], ...change })).toMatchObject({ ok: true });
});

const DEFAULTS: readonly (readonly [method: string, change: Plain, inside: Plain])[] = [
  ["lookup", {}, { read: { kind: "linearizable" } }],
  ["lookup", { read: {} }, { read: { kind: "linearizable" } }],
  ["listRanges", {}, { pageSize: 1_000, span: { endKey: undefined } }],
  ["createKeyspace", {}, { leaseMode: "exclusive", dataKind: "local", hashFunction: undefined }],
  ["createKeyspace", {}, { leaseDurationMs: 10_000, renewIntervalMs: 3_333 }],
  ["createKeyspace", { leaseDurationMs: 1_500 }, { renewIntervalMs: 500 }],
  ["grant", {}, { items: [{ incarnation: undefined, expectedEpoch: 0 }] }],
  ["register", {}, { dataUuid: "0123456789abcdef0123456789abcdef", zone: "", capacity: 0 }],
];

test.each(named(DEFAULTS))("%s gets the documented defaults", (_, [method, change, expected]) => {
  expect(decode(method, { ...VALID[method], ...change })).toMatchObject({
    ok: true,
    value: expected,
  });
});

test("a message that is not protobuf is refused without a field", () => {
  const lookup = methodRows().find(({ method }) => method === "lookup");
  expect(lookup?.row.decodeRequest(Buffer.from([0xff, 0xff, 0xff]))).toMatchObject({
    ok: false,
    error: { reason: "INVALID", field: undefined },
  });
});
