import * as fc from "fast-check";
import { expect, test } from "vitest";
import { methodRows } from "../../src/wire/methods.ts";
import { serviceOf } from "../../src/wire/public-protos.ts";
import { samplesOf } from "./arbitraries.ts";

const SERVICES = [
  "cadastre.v1.Directory",
  "cadastre.v1.Ownership",
  "cadastre.v1.Keyspaces",
  "cadastre.admin.v1.Cluster",
];

test("every method of the proto files is in the table, once, and nothing else is", () => {
  const loaded = SERVICES.flatMap((service) => Object.values(serviceOf(service)));
  const paths = loaded.map((method) => method.path).toSorted((a, b) => (a < b ? -1 : 1));
  const rows = methodRows().map(({ row }) => row.path);
  expect(rows.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(paths);
});

for (const { service, method, row } of methodRows()) {
  const { request, answer } = samplesOf(service, method);

  test(`a request of ${method} arrives as it was sent`, () => {
    fc.assert(
      fc.property(request, (sent) => {
        expect(row.decodeRequest(row.encodeRequest(sent))).toEqual({ ok: true, value: sent });
      }),
      { numRuns: 60 },
    );
  });

  test(`an answer of ${method} arrives as it was sent`, () => {
    fc.assert(
      fc.property(answer, (sent) => {
        expect(row.decodeAnswer(row.encodeAnswer(sent))).toEqual({ ok: true, value: sent });
      }),
      { numRuns: 60 },
    );
  });

  test(`${method} answers any bytes with a value or a refusal, and never throws`, () => {
    const damaged = fc.tuple(request, fc.nat(), fc.nat({ max: 255 })).map(([sent, at, byte]) => {
      const bytes = Buffer.from(row.encodeRequest(sent));
      if (bytes.length > 0) bytes[at % bytes.length] = byte;
      return bytes;
    });
    const random = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(damaged, random), (bytes) => {
        const decoded = row.decodeRequest(bytes);
        if (!decoded.ok) expect(decoded.error).toMatchObject({ reason: "INVALID" });
        const answered = row.decodeAnswer(bytes);
        if (!answered.ok) expect(answered.error).toMatchObject({ reason: "INTERNAL" });
      }),
      { numRuns: 60 },
    );
  });
}
