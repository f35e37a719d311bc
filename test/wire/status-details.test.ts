import { Metadata, status } from "@grpc/grpc-js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { GroupId } from "../../src/base/brands.ts";
import type { Descriptor, Refusal } from "../../src/wire/api.ts";
import { REASONS, type Reason, reasonRow } from "../../src/wire/errors.ts";
import { refusal } from "../../src/wire/refusal.ts";
import {
  DETAILS_KEY,
  detailsToRefusal,
  type FailedCall,
  fromGrpcError,
  refusalToStatus,
} from "../../src/wire/status-details.ts";
import { descriptor } from "./arbitraries.ts";

const ALL = Object.keys(REASONS) as Reason[];
const CALL: FailedCall = { address: "10.0.0.1:7000", mutates: true, wasSent: true };

function detailsOf(one: Refusal): Buffer {
  const [details] = refusalToStatus(one).metadata.get(DETAILS_KEY);
  if (!Buffer.isBuffer(details)) throw new Error("no details");
  return details;
}

const shortDescriptor = descriptor
  .filter((one) => one.span.startKey.length < 50 && (one.span.endKey?.length ?? 0) < 50)
  .map((one) => ({ ...one, replicas: one.replicas.slice(0, 1) }));

const refusals: fc.Arbitrary<Refusal> = fc.record({
  reason: fc.constantFrom(...ALL),
  message: fc.stringMatching(/^[a-zé](?: ?[a-z0-9:;.,]){0,80}$/),
  metadata: fc.dictionary(fc.stringMatching(/^[a-z_]{1,20}$/), fc.string({ maxLength: 40 }), {
    maxKeys: 5,
    noNullPrototype: true,
  }),
  field: fc.option(fc.stringMatching(/^[a-z_.[\]0-9]{1,60}$/), { nil: undefined }),
  retryAfterMs: fc.nat({ max: 3_600_000 }),
  descriptors: fc.array(shortDescriptor, { maxLength: 3 }),
});

test("a refusal passes through a status unchanged, with the code of the one table", () => {
  fc.assert(
    fc.property(refusals, (sent) => {
      const failure = refusalToStatus(sent);
      expect(failure.code).toBe(reasonRow(sent.reason).grpc);
      expect(fromGrpcError(failure, CALL)).toEqual(sent);
    }),
    { numRuns: 200 },
  );
});

/** A length-delimited field, by hand: no part of the product or of protobufjs takes part. */
function field(tag: number, ...parts: (string | number[])[]): number[] {
  const body = parts.flatMap((part) => (typeof part === "string" ? [...Buffer.from(part)] : part));
  return [(tag << 3) | 2, body.length, ...body];
}

test("the details are a google.rpc.Status of the standard form, byte for byte", () => {
  const details = detailsOf(
    refusal("TRANSIENT", "moving", {
      field: "key",
      metadata: { range_id: "1.2.3" },
      retryAfterMs: 1_005,
    }),
  );
  const type = "type.googleapis.com/google.rpc.";
  const info = [
    ...field(1, "TRANSIENT"),
    ...field(2, "cadastre"),
    ...field(3, field(1, "range_id"), field(2, "1.2.3")),
  ];
  const retryInfo = field(1, [0x08, 1, 0x10, ...varint(5_000_000)]);
  const badRequest = field(1, field(1, "key"), field(2, "moving"));
  expect([...details]).toEqual([
    0x08,
    status.UNAVAILABLE,
    ...field(2, "moving"),
    ...field(3, field(1, `${type}ErrorInfo`), field(2, info)),
    ...field(3, field(1, `${type}RetryInfo`), field(2, retryInfo)),
    ...field(3, field(1, `${type}BadRequest`), field(2, badRequest)),
  ]);
});

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

test.each(["TRANSIENT", "OVERLOADED", "UNOWNED", "SESSION_LIVE"] as const)(
  "%s carries RetryInfo even when the service named no delay",
  (reason) => {
    expect(detailsToRefusal(detailsOf(refusal(reason, "later")))?.retryAfterMs).toBe(100);
  },
);

test("other reasons carry no delay of their own", () => {
  expect(detailsToRefusal(detailsOf(refusal("NOT_FOUND", "no")))?.retryAfterMs).toBeUndefined();
});

test.each([
  [-5, 0],
  [0.2, 1],
  [NaN, 100],
  [Infinity, 3_600_000],
])("a delay of %d ms is sent as %d ms", (retryAfterMs, arrived) => {
  const details = detailsOf(refusal("TRANSIENT", "later", { retryAfterMs }));
  expect(detailsToRefusal(details)?.retryAfterMs).toBe(arrived);
});

test("details stay below what clients take in trailers, and lose descriptors first", () => {
  const big: Descriptor = {
    rangeId: "1.2.3",
    keyspace: "orders",
    span: { startKey: new Uint8Array(400), endKey: new Uint8Array(400).fill(1) },
    epoch: 1 as Descriptor["epoch"],
    owner: undefined,
    replicas: [],
    descriptorRevision: 1 as Descriptor["descriptorRevision"],
    group: 1 as GroupId,
  };
  const metadata = Object.fromEntries(
    Array.from({ length: 90 }, (_, at) => [`k${at}`, "v".repeat(50)]),
  );
  for (const message of ["x".repeat(5_000), "ü".repeat(5_000), "漢".repeat(5_000)]) {
    const sent = refusalToStatus(
      refusal("STALE_EPOCH", message, {
        metadata,
        field: "f".repeat(5_000),
        retryAfterMs: 5,
        descriptors: [big, big, big, big, big, big],
      }),
    );
    const [details] = sent.metadata.get(DETAILS_KEY);
    if (!Buffer.isBuffer(details)) throw new Error("no details");
    const bytes = details.toString("base64").length + encodeURI(sent.details).length;
    expect(bytes).toBeLessThan(7_500);
    const arrived = detailsToRefusal(details);
    expect(arrived).toMatchObject({ reason: "STALE_EPOCH", retryAfterMs: 5 });
    expect(Object.keys(arrived?.metadata ?? {}).length).toBeGreaterThan(10);
    if (message.startsWith("x")) expect(arrived?.descriptors).toHaveLength(3);
  }
});

test("a message is one line and can always be sent in a header", () => {
  const sent = refusalToStatus(refusal("INVALID", "first\r\nsecond \ud800 half"));
  expect(sent.details).toBe("first second \ufffd half");
  expect(() => encodeURI(sent.details)).not.toThrow();
});

test("any bytes are read without a throw, and foreign ones are not believed", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      expect(detailsToRefusal(bytes)).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(refusals, fc.nat(), fc.nat({ max: 255 }), (sent, at, byte) => {
      const bytes = detailsOf(sent);
      bytes[at % bytes.length] = byte;
      const read = detailsToRefusal(bytes);
      if (read !== undefined) expect(ALL).toContain(read.reason);
    }),
  );
});

const NO_DETAILS: readonly (readonly [code: number, mutation: Reason, read: Reason])[] = [
  [status.UNAVAILABLE, "UNCERTAIN", "TRANSIENT"],
  [status.DEADLINE_EXCEEDED, "UNCERTAIN", "TRANSIENT"],
  [status.CANCELLED, "UNCERTAIN", "TRANSIENT"],
  [status.UNKNOWN, "UNCERTAIN", "TRANSIENT"],
  [status.INTERNAL, "UNCERTAIN", "TRANSIENT"],
  [status.RESOURCE_EXHAUSTED, "UNCERTAIN", "OVERLOADED"],
  [status.UNIMPLEMENTED, "INVALID", "INVALID"],
  [status.UNAUTHENTICATED, "DENIED", "DENIED"],
  [status.PERMISSION_DENIED, "DENIED", "DENIED"],
];

test.each(NO_DETAILS)(
  "status %d without details: %s for a mutation that was sent, %s for a read",
  (code, mutation, read) => {
    const error = Object.assign(new Error("text"), {
      code,
      details: "text",
      metadata: new Metadata(),
    });
    expect(fromGrpcError(error, CALL).reason).toBe(mutation);
    expect(fromGrpcError(error, { ...CALL, mutates: false }).reason).toBe(read);
    expect(fromGrpcError(error, { ...CALL, wasSent: false }).reason).toBe("TRANSIENT");
  },
);

test.each([undefined, null, 7, "boom", {}, { code: "14" }, { metadata: 5 }, new Error("x")])(
  "%s is an error, too: nothing is known of a mutation then",
  (error) => {
    expect(fromGrpcError(error, CALL).reason).toBe("UNCERTAIN");
  },
);

test("a reason that this release does not know counts by whether it was sent", () => {
  const failure = refusalToStatus(refusal("LEASE_HELD", "held"));
  const details = detailsOf(refusal("LEASE_HELD", "held"));
  const foreign = Buffer.from(
    details.toString("latin1").replace("LEASE_HELD", "LEASE_BENT"),
    "latin1",
  );
  failure.metadata.set(DETAILS_KEY, foreign);
  expect(fromGrpcError(failure, CALL).reason).toBe("UNCERTAIN");
});

test("a reason of another domain is not ours, whatever its name", () => {
  const details = detailsOf(refusal("LEASE_HELD", "held"));
  const foreign = details.toString("latin1").replace("cadastre", "cadaster");
  expect(detailsToRefusal(Buffer.from(foreign, "latin1"))).toBeUndefined();
});

test("what grpc-js wraps around a refused connection is left out", () => {
  const wrapped =
    "14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED" +
    " 10.0.0.1:7000. Resolution note: ";
  const text = fromGrpcError(new Error(wrapped), CALL).message;
  expect(text).toMatch(/\(14 UNAVAILABLE: connect ECONNREFUSED 10\.0\.0\.1:7000\)$/);
});
