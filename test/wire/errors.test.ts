import { expect, test } from "vitest";
import { isReason, REASONS } from "../../src/wire/errors.ts";
import { Reason } from "../../src/wire/generated/cadastre/v1/Reason.ts";
import { loadProto } from "../../src/wire/load.ts";

interface EnumType {
  readonly type: { readonly value: readonly { readonly name: string }[] };
}

test("the reasons of errors.proto and those of the table are the same", () => {
  const loaded = loadProto("cadastre/v1/errors.proto")["cadastre.v1.Reason"];
  const names = (loaded as unknown as EnumType).type.value.map(({ name }) => name);
  const inTable = ["REASON_UNSPECIFIED", ...Object.keys(REASONS)];
  expect(new Set(names)).toEqual(new Set(inTable));
  expect(names).toHaveLength(inTable.length);
  expect(new Set(Object.keys(Reason))).toEqual(new Set(names));
});

test("only the table's own names are reasons", () => {
  expect(isReason("STALE_EPOCH")).toBe(true);
  expect(isReason("REASON_UNSPECIFIED")).toBe(false);
  expect(isReason("toString")).toBe(false);
});
