// What a real server and the CLI do with input that cannot be: every refusal names the field, has
// its exit code, and changes nothing. Raw calls bypass our client, which would refuse most itself.
import { Client as GrpcClient, credentials, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/cli/command-table.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type { Refusal } from "../../../src/wire/api.ts";
import { methodRows } from "../../../src/wire/methods.ts";
import { serviceOf } from "../../../src/wire/public-protos.ts";
import { fromGrpcError } from "../../../src/wire/status-details.ts";
import { run } from "../../cli/run-cli.ts";
import { realClient } from "../support/clients.ts";
import { RealCluster } from "../support/real-cluster.ts";

type Plain = Readonly<Record<string, unknown>>;
type Case = readonly [method: string, request: Plain, field: string];

const TWO_53 = "9007199254740992";
const LONG_KEY = Buffer.alloc(4_097, "k");
const requestId = { clientId: "raw", sequence: "1", seenRevision: "1" };
const owner = { nodeId: "node-1", incarnation: "1" };
const item = { rangeId: "1.1.0", expectedEpoch: "0", expectedDescriptorRevision: "1", nodeId: "n" };
const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

let cluster: RealCluster;
let raw: GrpcClient;

beforeAll(async () => {
  cluster = await RealCluster.start(1);
  raw = new GrpcClient(cluster.endpoints[0] ?? "", credentials.createInsecure());
  expect((await cli("keyspace", "create", "demo", "--split-at", "g,m")).code).toBe(0);
});

afterAll(async () => {
  raw.close();
  await cluster.stop();
});

async function cli(...args: string[]): Promise<{ code: number; text: string }> {
  const ended = await run([...args, "--endpoints", cluster.endpoints.join(",")], COMMANDS);
  return { code: ended.exitCode, text: ended.stdout + ended.stderr };
}

/** The answer's bytes, or what the server holds against the call. */
async function call(path: string, bytes: Buffer): Promise<Buffer | ServiceError> {
  const same = (value: Buffer): Buffer => value;
  return new Promise((resolve) => {
    const deadline = Date.now() + 10_000;
    raw.makeUnaryRequest(path, same, same, bytes, { deadline }, (error, answer) => {
      resolve(error ?? answer ?? Buffer.alloc(0));
    });
  });
}

function rowNamed(name: string): { readonly path: string; encode: (request: Plain) => Buffer } {
  const found = methodRows().find(({ method }) => method === name);
  if (found === undefined) throw new Error(`no method ${name}`);
  const [, service = "", method = ""] = found.row.path.split("/");
  const loaded = serviceOf(service)[method];
  if (loaded === undefined) throw new Error(`no method ${found.row.path}`);
  return { path: found.row.path, encode: (request) => loaded.requestType.serialize(request) };
}

async function refusalOf(method: string, request: Plain): Promise<Refusal> {
  const { path, encode } = rowNamed(method);
  return refusalIn(await call(path, encode(request)));
}

function refusalIn(answer: Buffer | ServiceError): Refusal {
  if (Buffer.isBuffer(answer)) throw new Error("the call was answered");
  return fromGrpcError(answer, { address: "raw", mutates: true, wasSent: true });
}

/** Everything that a call could change: keyspaces, ranges, nodes, and how long the logs are. */
async function everything(): Promise<{ lists: readonly string[]; logs: unknown }> {
  const verbs = [
    ["keyspace", "list"],
    ["range", "list", "demo"],
    ["node", "list"],
  ];
  const lists = await Promise.all(verbs.map((verb) => cli(...verb)));
  expect(lists.map(({ code }) => code)).toEqual([0, 0, 0]);
  const status = JSON.parse((await cli("status", "-o", "json")).text) as { groups: unknown };
  return { lists: lists.map(({ text }) => text), logs: status.groups };
}

const REFUSED: readonly Case[] = [
  ["lookup", { keyspace: "", key: Buffer.from("k") }, "keyspace"],
  ["lookup", { keyspace: "demo", key: LONG_KEY }, "key"],
  ["lookup", { keyspace: "demo", read: { consistency: 9 } }, "read.consistency"],
  [
    "lookup",
    { keyspace: "demo", read: { consistency: 2, atLeastRevision: TWO_53 } },
    "read.at_least_revision",
  ],
  ["lookupBatch", { keyspace: "demo", keys: [] }, "keys"],
  ["lookupBatch", { keyspace: "demo", keys: many(1_001, () => Buffer.from("k")) }, "keys"],
  [
    "listRanges",
    { keyspace: "demo", span: { startKey: Buffer.from("m"), endKey: Buffer.from("g") } },
    "span.end_key",
  ],
  ["listRanges", { keyspace: "demo", pageToken: "bogus" }, "page_token"],
  ["listNodes", { pageToken: "bogus" }, "page_token"],
  ["listRanges", { keyspace: "demo", pageSize: 10_001 }, "page_size"],
  ["accept", { owner, group: 1, ranges: many(1_001, () => ({})) }, "ranges"],
  ["release", { owner, group: 1, ranges: [{ rangeId: "r", epoch: TWO_53 }] }, "ranges[0].epoch"],
  ["renew", { owner, group: 1, asOf: TWO_53 }, "as_of"],
  ["renew", { owner: { ...owner, incarnation: "0" }, group: 1 }, "owner.incarnation"],
  ["register", { requestId, nodeId: "a b", dataUuid: "0".repeat(32) }, "node_id"],
  ["grant", { requestId, group: 1, items: [] }, "items"],
  ["grant", { requestId, group: 1, items: many(1_001, () => item) }, "items"],
  ["grant", { requestId, group: 1, items: [{ ...item, expectedEpoch: TWO_53 }] }, "items[0]"],
  ["createKeyspace", { requestId, name: "n", kind: 77 }, "kind"],
  ["createKeyspace", { requestId, name: "n", kind: 1, leaseDurationMs: 1 }, "lease_duration_ms"],
  ["createKeyspace", { requestId, name: "n", kind: 1, leaseDurationMs: -1 }, "lease_duration_ms"],
  ["createKeyspace", { requestId, name: "n", kind: 1, renewIntervalMs: 1 }, "renew_interval_ms"],
  ["createKeyspace", { name: "n", kind: 1 }, "request_id"],
  [
    "defineRanges",
    { requestId, keyspace: "demo", splitKeys: [Buffer.from("z"), Buffer.from("a")] },
    "split_keys[1]",
  ],
  ["stageImport", { keyspace: "demo", importId: "i", rows: [] }, "rows"],
];

describe("a raw call", () => {
  test("out of bounds is INVALID, names its field, and changes nothing", async () => {
    const before = await everything();
    for (const [method, request, field] of REFUSED) {
      const refusal = await refusalOf(method, request);
      expect([method, field, refusal.reason], refusal.message).toEqual([method, field, "INVALID"]);
      expect(refusal.field ?? "", `${method}: ${refusal.message}`).toContain(field);
      expect(refusal.message).toContain(refusal.field);
    }
    expect(await everything()).toEqual(before);
  });

  test("of bytes that are no message, and of more than 1 MiB, is refused", async () => {
    const before = await everything();
    const { path, encode } = rowNamed("lookup");
    const garbage = await call(path, Buffer.from([0xff, 0xff, 0xff]));
    expect(refusalIn(garbage).reason).toBe("INVALID");
    const oversize = encode({ keyspace: "demo", key: Buffer.alloc(1024 * 1024) });
    expect(String(await call(path, oversize))).toMatch(/larger than max/i);
    expect(await everything()).toEqual(before);
  });

  test("to an unknown keyspace, range or group is NOT_FOUND or WRONG_GROUP by name", async () => {
    const before = await everything();
    const lookup = await refusalOf("lookup", { keyspace: "nowhere", key: Buffer.from("k") });
    expect(lookup.reason).toBe("NOT_FOUND");
    expect(lookup.message).toContain("nowhere");
    expect((await refusalOf("getRange", { rangeId: "1.999.0" })).reason).toBe("NOT_FOUND");
    const elsewhere = await refusalOf("grant", { requestId, group: 9, items: [item] });
    expect(["NOT_FOUND", "WRONG_GROUP"]).toContain(elsewhere.reason);
    expect(await everything()).toEqual(before);
  });

  test("with the request id of another body is refused, and the first stays as it was", async () => {
    const { path, encode } = rowNamed("createKeyspace");
    const id = { clientId: "twice", sequence: "1" };
    const made = await call(path, encode({ requestId: id, name: "first", kind: 1 }));
    expect(Buffer.isBuffer(made)).toBe(true);
    const { lists } = await everything();
    const refusal = await refusalOf("createKeyspace", { requestId: id, name: "second", kind: 1 });
    expect(refusal.reason).toBe("REQUEST_ID_REUSED");
    expect((await everything()).lists).toEqual(lists);
    expect(lists.join()).toContain("first");
  });

  test("to watch with a token that nobody gave is INVALID and names it", async () => {
    const client = realClient(cluster.endpoints, "watcher");
    const resumeToken = new Uint8Array([1, 2, 3]);
    const watch = client.watch({ resumeToken })[Symbol.asyncIterator]();
    const error = await watch.next().catch((thrown: unknown) => thrown);
    client.close();
    expect(error).toBeInstanceOf(CoordinationError);
    expect(error).toMatchObject({ refusal: { reason: "INVALID", field: "resume_token" } });
  });
});

describe("a command line", () => {
  const key = LONG_KEY.toString();
  const cases: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [["route", key, "--keyspace", "demo"], 2, /^cadastre: key has 4097 bytes, at most 4096/],
    [["route", "k", "--keyspace", "dmeo"], 3, /no keyspace "dmeo"\. Did you mean demo\?/],
    [["route", "k", "--keyspace", "demo", "--at-least", TWO_53], 2, /--at-least/],
    [["range", "list", "demo", "--span", "m..g"], 2, /--span.*start is above its end/],
    [["range", "list", "demo", "--span", "g..g"], 2, /--span.*holds no key/],
    [["range", "list", "demo", "--limit", "10001"], 2, /--limit.*from 1 to 10000/],
    [["range", "list", "demo", "--page-token", "bogus"], 2, /page_token/],
    [["range", "get", "1.999.0"], 3, /no range 1\.999\.0/],
    [["keyspace", "create", "x", "--kind", "heap"], 2, /--kind.*range, hash/],
    [["keyspace", "create", "x", "--lease", "0s"], 2, /--lease/],
    [["keyspace", "create", "x", "--lease", "-5s"], 2, /--lease/],
    [["keyspace", "create", "x", "--lease", "NaN"], 2, /--lease/],
    [["keyspace", "create", "x", "--lease", "1s"], 2, /--lease.*lasts 1\.5s to 10m/],
    [["keyspace", "create", "x", "--split-at", "g,g"], 2, /--split-at.*twice/],
    [["keyspace", "create", "x", "--split-at", key], 2, /--split-at.*4097 bytes/],
    [["keyspace", "create", key], 2, /'k{60}\.\.\.' is invalid for argument 'name'/],
    [["keyspace", "create", "demo"], 4, /keyspace "demo" exists/],
    [["grant", "--keyspace", "demo", "--all", "--to", "nobody"], 3, /no storage node "nobody"/],
    [["grant", "--range", "1.999.0", "--to", "nobody"], 3, /"nobody"|1\.999\.0/],
    [["release", "--range", "1.999.0"], 3, /no range 1\.999\.0/],
    [["watch", "--from", "garbage"], 2, /resume_token/],
    [["watch", "--span", "a..b"], 2, /--span needs a keyspace/],
    [["status", "--timeout", "NaN"], 2, /--timeout/],
  ];

  test.each(
    cases.map(([args, code, says]) => ({ line: args.join(" ").slice(0, 60), args, code, says })),
  )("`$line` exits with $code in one line", async ({ args, code, says }) => {
    const before = await everything();
    const ended = await cli(...args);
    expect([ended.code, ended.text.trimEnd().split("\n").length]).toEqual([code, 1]);
    expect(ended.text).toMatch(says);
    expect(ended.text.length).toBeLessThan(400);
    const json = JSON.parse((await cli(...args, "-o", "json")).text) as { error: object };
    expect(json.error).toMatchObject({ exit: code });
    const after = await everything();
    expect(after.lists).toEqual(before.lists);
    // A conflict is found where the log is applied: the refusal is an entry of its own.
    if (code !== 4) expect(after.logs).toEqual(before.logs);
  });
});

/** Where a position of a log stands in an answer as a number: its path. */
function positionsAsNumbers(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) {
    const isPosition = /(revision|epoch|index|term|incarnation|keyspaceId)$/i.test(at);
    return isPosition && typeof value === "number" ? [at] : [];
  }
  return Object.entries(value).flatMap(([key, inner]) => positionsAsNumbers(inner, `${at}.${key}`));
}

test.each([
  ["status"],
  ["version"],
  ["keyspace", "list"],
  ["keyspace", "create", "json"],
  ["range", "list", "demo", "--limit", "1"],
  ["range", "get", "1.3.0"],
  ["route", "k", "--keyspace", "demo"],
  ["node", "list"],
])("%s %s answers JSON with 64-bit numbers as strings", async (...verb) => {
  const { text } = await cli(...verb, "-o", "json");
  const answer: unknown = JSON.parse(text);
  expect(answer).toBeTypeOf("object");
  expect(answer).not.toHaveProperty("error");
  expect(positionsAsNumbers(answer)).toEqual([]);
});
