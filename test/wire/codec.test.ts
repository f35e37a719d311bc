import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Epoch, GroupId, Revision } from "../../src/base/brands.ts";
import { prefixEnd } from "../../src/base/bytes.ts";
import type { Refusal } from "../../src/wire/api.ts";
import { Flaw, toSnakeCase, uint32, uint64 } from "../../src/wire/codec.ts";
import { METHODS } from "../../src/wire/methods.ts";
import { SAMPLES } from "./arbitraries.ts";
import { SENT_AGAIN } from "../sent-again.ts";

const NOT_COUNTS = [-1, -0.5, 0.5, 2 ** 53, 2 ** 64, NaN, Infinity, -Infinity];

test.each(NOT_COUNTS)(
  "%d is never rounded into a 64-bit field, but refused by its receiver",
  (bad) => {
    const sent = METHODS.ownership.renew.encodeRequest({
      owner: { nodeId: "a", incarnation: 1 as never },
      group: 1 as GroupId,
      asOf: bad as Revision,
      except: [],
      ...SENT_AGAIN,
    });
    expect(fieldOf(METHODS.ownership.renew.decodeRequest(sent))).toBe("as_of");
  },
);

test.each([...NOT_COUNTS, 2 ** 32, 2 ** 32 - 1])(
  "%d is never rounded into a 32-bit field, but refused by its receiver",
  (bad) => {
    const codec = uint32();
    expect(codec.fromProto(codec.toProto(bad))).toBeInstanceOf(Flaw);
  },
);

test("every safe integer passes a 64-bit field exactly, and no other number does (B37)", () => {
  const codec = uint64();
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      expect(codec.fromProto(String(codec.toProto(value)))).toBe(value);
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }), (value) => {
      const flaw = codec.fromProto(String(value));
      expect(flaw).toBeInstanceOf(Flaw);
      expect(flaw instanceof Flaw ? flaw.problem : "").toContain(String(value));
    }),
  );
});

test("two epochs next to each other below 2^53 stay distinct and ordered (B37)", () => {
  const largest = Number.MAX_SAFE_INTEGER as Epoch;
  const ranges = [largest - 1, largest].map((epoch) => ({ rangeId: "r", epoch: epoch as Epoch }));
  const owner = { nodeId: "a", incarnation: 1 as never };
  const row = METHODS.ownership.accept;
  const decoded = row.decodeRequest(row.encodeRequest({ owner, group: 1 as GroupId, ranges }));
  expect(decoded).toMatchObject({ ok: true, value: { ranges } });
});

test("a key that was received is a copy: changing it does not change the frame, or another key", () => {
  const row = METHODS.directory.lookup;
  const key = new Uint8Array([1, 2, 255]);
  const frame = row.encodeRequest({ keyspace: "k", key, read: { kind: "local" } });
  const before = Buffer.from(frame);
  const decoded = row.decodeRequest(frame);
  if (!decoded.ok) throw new Error(decoded.error.message);
  expect(decoded.value.key.constructor).toBe(Uint8Array);
  expect(prefixEnd(decoded.value.key)).toEqual(new Uint8Array([1, 3]));
  decoded.value.key.fill(9);
  expect(frame.equals(before)).toBe(true);
});

test("an answer that cannot be held exactly is an error of the server, with the field's path", () => {
  const [sample] = fc.sample(SAMPLES.ownership.grant.answer, { numRuns: 1, seed: 7 });
  if (sample === undefined) throw new Error("no sample");
  const row = METHODS.ownership.grant;
  const bytes = row.encodeAnswer({
    ...sample,
    header: { ...sample.header, revision: (2 ** 53) as Revision },
  });
  expect(row.decodeAnswer(bytes)).toMatchObject({
    ok: false,
    error: { reason: "INTERNAL", field: undefined, metadata: { field: "header.revision" } },
  });
});

test("a route index that names no route is refused by the client", () => {
  const [sample] = fc.sample(SAMPLES.directory.lookupBatch.answer, { numRuns: 1, seed: 7 });
  if (sample === undefined) throw new Error("no sample");
  const row = METHODS.directory.lookupBatch;
  const routeOfKey = [0, sample.routes.length];
  expect(row.decodeAnswer(row.encodeAnswer({ ...sample, routeOfKey }))).toMatchObject({
    ok: false,
    error: { metadata: { field: "route_of_key[1]" } },
  });
});

test("field paths are in the proto's names", () => {
  expect(toSnakeCase("expectedDescriptorRevision")).toBe("expected_descriptor_revision");
  const flaw = new Flaw("is empty").within("range_id").within("[3]").within("items");
  expect(flaw.field).toBe("items[3].range_id");
});

function fieldOf(
  decoded: { readonly ok: true } | { readonly ok: false; readonly error: Refusal },
): string | undefined {
  return decoded.ok ? "nothing was refused" : decoded.error.field;
}
