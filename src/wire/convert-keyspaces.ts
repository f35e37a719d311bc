/**
 * Conversions of the Keyspaces service (proto/cadastre/v1/keyspaces.proto). What a service gets is
 * complete and in order: defaults are filled in, keys ascend, bulk is within its bounds.
 */

import { type Bytes, compareBytes } from "../base/bytes.ts";
import type * as api from "./api.ts";
import {
  bool,
  checked,
  type Codec,
  Flaw,
  key,
  list,
  message,
  name,
  oneOf,
  toSnakeCase,
  uint32,
  uint64,
} from "./codec.ts";
import { header, nameOrNone, pageSize, pageToken, requestId } from "./convert-common.ts";
import {
  BULK_BYTES_MAX,
  LEASE_MS_DEFAULT,
  LEASE_MS_MAX,
  LEASE_MS_MIN,
  RENEW_MS_MIN,
  RENEWALS_PER_LEASE,
  SPLIT_KEYS_MAX,
} from "./limits.ts";
import type { MessageCodec } from "./shapes.ts";

const kind = oneOf({ range: "RANGE", hash: "HASH" });

const hashFunction: Codec<
  api.HashFunction | undefined,
  "HASH_FUNCTION_UNSPECIFIED" | "GIVEN",
  string
> = {
  toProto: (value) => (value === undefined ? "HASH_FUNCTION_UNSPECIFIED" : given.toProto(value)),
  fromProto: (wire) => (wire === "HASH_FUNCTION_UNSPECIFIED" ? undefined : given.fromProto(wire)),
};
const given = oneOf({ given: "GIVEN" });

const leaseMode = oneOf(
  { exclusive: "EXCLUSIVE", affinity: "AFFINITY" },
  { name: "LEASE_MODE_UNSPECIFIED", means: "exclusive" },
);

const dataKind = oneOf(
  { none: "NO_DATA", shared: "SHARED_DATA", local: "LOCAL_DATA" },
  { name: "DATA_KIND_UNSPECIFIED", means: "local" },
);

const state = oneOf({ creating: "CREATING", ready: "READY" });

const keyspaceRecord: MessageCodec<api.KeyspaceRecord, "KeyspaceRecord"> = message({
  name,
  keyspaceId: uint64(),
  kind,
  hashFunction,
  leaseMode,
  dataKind,
  leaseDurationMs: uint32(),
  renewIntervalMs: uint32(),
  state,
  group: uint32(),
  createdRevision: uint64(),
  rangeCount: uint64(),
  unownedCount: uint64(),
});

const createKeyspaceFields: MessageCodec<api.CreateKeyspaceRequest, "CreateKeyspaceRequest"> =
  message({
    requestId,
    name,
    kind,
    hashFunction,
    leaseMode,
    dataKind,
    leaseDurationMs: uint32(),
    renewIntervalMs: uint32(),
  });

/** Inside, the defaults are filled in: what is compared with an existing keyspace is complete. */
export const createKeyspaceRequest: MessageCodec<
  api.CreateKeyspaceRequest,
  "CreateKeyspaceRequest"
> = {
  toProto: createKeyspaceFields.toProto,
  fromProto: (wire) => {
    const request = createKeyspaceFields.fromProto(wire);
    if (request instanceof Flaw) return request;
    if ((request.kind === "hash") !== (request.hashFunction !== undefined)) {
      return new Flaw("goes with kind HASH, and only with it", "hash_function");
    }
    const leaseDurationMs = request.leaseDurationMs || LEASE_MS_DEFAULT;
    const renewMsMax = Math.floor(leaseDurationMs / RENEWALS_PER_LEASE);
    const renewIntervalMs = request.renewIntervalMs || renewMsMax;
    return (
      within({ leaseDurationMs }, LEASE_MS_MIN, LEASE_MS_MAX) ??
      within({ renewIntervalMs }, RENEW_MS_MIN, renewMsMax) ?? {
        ...request,
        leaseDurationMs,
        renewIntervalMs,
      }
    );
  },
};

function within(
  field: Readonly<Record<string, number>>,
  min: number,
  max: number,
): Flaw | undefined {
  for (const [fieldName, value] of Object.entries(field)) {
    const checkedValue = uint32({ min, max }).fromProto(value);
    if (checkedValue instanceof Flaw) return checkedValue.within(toSnakeCase(fieldName));
  }
  return undefined;
}

export const createKeyspaceAnswer: MessageCodec<
  api.CreateKeyspaceAnswer,
  "CreateKeyspaceResponse"
> = message({ header, keyspace: keyspaceRecord, replayed: bool });

export const listKeyspacesRequest: MessageCodec<api.PageRequest, "ListKeyspacesRequest"> = message({
  pageSize,
  pageToken,
});

export const listKeyspacesAnswer: MessageCodec<api.ListKeyspacesAnswer, "ListKeyspacesResponse"> =
  message({ header, keyspaces: list(keyspaceRecord), nextPageToken: pageToken });

/** Position of the first key that does not lie above its predecessor; -1: none. */
function firstNotAscending(keys: readonly Bytes[]): number {
  return keys.findIndex((one, at) => {
    const previous = keys[at - 1];
    return previous !== undefined && compareBytes(previous, one) >= 0;
  });
}

function tooManyBytes(bytesTotal: number): Flaw | undefined {
  if (bytesTotal <= BULK_BYTES_MAX) return undefined;
  return new Flaw(`holds ${bytesTotal} bytes, at most ${BULK_BYTES_MAX} allowed; send it in parts`);
}

const splitKeys: Codec<readonly Bytes[], Bytes[], readonly Bytes[]> = checked(
  list(key, { max: SPLIT_KEYS_MAX }),
  (keys) => {
    if (keys[0]?.length === 0) return new Flaw("is empty, below every key", "[0]");
    const at = firstNotAscending(keys);
    if (at !== -1) return new Flaw("is not above the key before it", `[${at}]`);
    return tooManyBytes(keys.reduce((total, one) => total + one.length, 0));
  },
);

export const defineRangesRequest: MessageCodec<api.DefineRangesRequest, "DefineRangesRequest"> =
  message({ requestId, keyspace: name, splitKeys });

export const defineRangesAnswer: MessageCodec<api.DefineRangesAnswer, "DefineRangesResponse"> =
  message({ header, rangeCount: uint64(), replayed: bool });

const importRow: MessageCodec<api.ImportRow, "ImportRow"> = message({
  startKey: key,
  intendedNodeId: nameOrNone,
});

/** What counts towards {@link BULK_BYTES_MAX} in an import part. */
export function importRowBytes(row: api.ImportRow): number {
  return row.startKey.length + (row.intendedNodeId?.length ?? 0);
}

export const stageImportRequest: MessageCodec<api.StageImportRequest, "StageImportRequest"> =
  message(
    { keyspace: name, importId: name, part: uint32(), rows: list(importRow, { min: 1 }) },
    ({ part, rows }) => rowsFlaw(part, rows)?.within("rows"),
  );

function rowsFlaw(part: number, rows: readonly api.ImportRow[]): Flaw | undefined {
  const startsAtMinusInfinity = rows[0]?.startKey.length === 0;
  if (part === 0 && !startsAtMinusInfinity) {
    return new Flaw("must be empty: part 0 starts at -inf", "[0].start_key");
  }
  if (part > 0 && startsAtMinusInfinity) {
    return new Flaw("is empty: only part 0 starts at -inf", "[0].start_key");
  }
  const at = firstNotAscending(rows.map((row) => row.startKey));
  if (at !== -1) return new Flaw("is not above the key before it", `[${at}].start_key`);
  return tooManyBytes(rows.reduce((total, row) => total + importRowBytes(row), 0));
}

export const stageImportAnswer: MessageCodec<api.StageImportAnswer, "StageImportResponse"> =
  message({ header, stagedRows: uint64(), expiresInMs: uint64() });

export const commitImportRequest: MessageCodec<api.CommitImportRequest, "CommitImportRequest"> =
  message({ keyspace: name, importId: name, rowCount: uint64({ min: 1 }) });

export const commitImportAnswer: MessageCodec<api.CommitImportAnswer, "CommitImportResponse"> =
  message({ header, rangeCount: uint64(), grantedCount: uint64() });

export const abortImportRequest: MessageCodec<api.AbortImportRequest, "AbortImportRequest"> =
  message({ keyspace: name, importId: name });

export const abortImportAnswer: MessageCodec<
  { readonly header: api.Header },
  "AbortImportResponse"
> = message({ header });
