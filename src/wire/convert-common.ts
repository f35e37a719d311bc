/**
 * Conversions of the words that all public services share (proto/cadastre/v1/common.proto). Field
 * by field they mirror the proto; what is written out by hand has another shape inside.
 */

import { GENERATION_LIMIT, type Revision } from "../base/brands.ts";
import { EMPTY_BYTES } from "../base/bytes.ts";
import { isValidSpan, type Span, WHOLE_SPAN } from "../base/span.ts";
import type * as api from "./api.ts";
import {
  bool,
  bytes,
  type Codec,
  Flaw,
  key,
  list,
  message,
  name,
  oneOf,
  optional,
  text,
  UINT32_MAX,
  uint32,
  uint64,
  unless,
} from "./codec.ts";
import {
  ADDRESS_CHARS_MAX,
  ADDRESSES_MAX,
  KEY_BYTES_MAX,
  LABEL_VALUE_CHARS_MAX,
  LABELS_MAX,
  NAME_CHARS_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PAGE_TOKEN_CHARS_MAX,
} from "./limits.ts";
import type { MessageCodec } from "./shapes.ts";

export const header: MessageCodec<api.Header, "Header"> = message({
  clusterId: text({ max: NAME_CHARS_MAX }),
  group: uint32(),
  generation: uint32({ max: GENERATION_LIMIT - 1 }),
  revision: uint64(),
  serverId: uint32(),
  leaderServerId: unless(0, uint32()),
  term: uint64(),
});

export const requestId: MessageCodec<api.RequestId, "RequestId"> = message(
  {
    clientId: name,
    sequence: uint64({ min: 1 }),
    seenRevision: uint64(),
    acknowledgedBelow: uint64(),
  },
  ({ sequence, acknowledgedBelow }) =>
    acknowledgedBelow > sequence
      ? new Flaw(`is ${acknowledgedBelow}, above the sequence ${sequence}`, "acknowledged_below")
      : undefined,
);

const endKey: Codec<Span["endKey"], Uint8Array, Uint8Array> = {
  toProto: (end) => end ?? EMPTY_BYTES,
  fromProto: (wire) => (wire.length === 0 ? undefined : bytes(KEY_BYTES_MAX).fromProto(wire)),
};

/** Empty ends are infinite; a span without a key is refused. */
export const span: MessageCodec<Span, "Span"> = message({ startKey: key, endKey }, (value) =>
  isValidSpan(value) ? undefined : new Flaw("must be above start_key", "end_key"),
);

/** A filter's span: the whole keyspace is an absent one. */
export const spanOrWhole: Codec<
  Span,
  ReturnType<typeof span.toProto> | null,
  Parameters<typeof span.fromProto>[0]
> = {
  toProto: (value) =>
    value.startKey.length === 0 && value.endKey === undefined ? null : span.toProto(value),
  fromProto: (wire) => (wire === null || wire === undefined ? WHOLE_SPAN : span.fromProto(wire)),
};

export const owner: MessageCodec<api.Owner, "Owner"> = message({
  nodeId: name,
  incarnation: uint64({ min: 1 }),
});

export const descriptor: MessageCodec<api.Descriptor, "Descriptor"> = message({
  rangeId: name,
  keyspace: name,
  span,
  epoch: uint64(),
  owner: optional(owner),
  replicas: list(message({ nodeId: name, inSync: bool })),
  descriptorRevision: uint64(),
  group: uint32(),
});

/** host:port; what a client may dial. */
const address = text({
  min: 1,
  max: ADDRESS_CHARS_MAX,
  pattern: /^[\x21-\x7e]+$/,
  form: "printable ASCII without spaces",
});

export const addresses: Codec<readonly string[], string[], readonly string[]> = list(address, {
  max: ADDRESSES_MAX,
});

export const nameOrNone: Codec<string | undefined, string, string> = unless("", name);

/** Of a storage node; the empty one is none. */
export const zone: Codec<string, string, string> = {
  toProto: (value) => value,
  fromProto: (wire) => (wire === "" ? wire : name.fromProto(wire)),
};

export const route: MessageCodec<api.Route, "Route"> = message({
  descriptor,
  addresses,
  intendedNodeId: nameOrNone,
});

export const rangeRecord: MessageCodec<api.RangeRecord, "RangeRecord"> = message({
  descriptor,
  successor: optional(owner),
  intendedNodeId: nameOrNone,
  acceptedEpoch: uint64(),
  handOverRevision: uint64(),
});

export const ranges: Codec<
  readonly api.RangeRecord[],
  ReturnType<typeof rangeRecord.toProto>[],
  readonly Parameters<typeof rangeRecord.fromProto>[0][]
> = list(rangeRecord);

const consistency = oneOf(
  { linearizable: "LINEARIZABLE", atLeast: "AT_LEAST", local: "LOCAL" },
  { name: "CONSISTENCY_UNSPECIFIED", means: "linearizable" },
);
const atLeastRevision = uint64<Revision>();

/** Absent: linearizable. A revision that would have no effect is refused, not ignored. */
export const readOptions: MessageCodec<api.ReadOptions, "ReadOptions"> = {
  toProto: (read) => ({
    consistency: consistency.toProto(read.kind),
    atLeastRevision: read.kind === "atLeast" ? atLeastRevision.toProto(read.revision) : 0,
  }),
  fromProto: (wire) => {
    if (wire === null || wire === undefined) return { kind: "linearizable" };
    const kind = consistency.fromProto(wire.consistency);
    if (kind instanceof Flaw) return kind.within("consistency");
    const revision = atLeastRevision.fromProto(wire.atLeastRevision);
    if (revision instanceof Flaw) return revision.within("at_least_revision");
    if (kind === "atLeast") return { kind, revision };
    return revision === 0 ? { kind } : new Flaw("is for AT_LEAST only", "at_least_revision");
  },
};

const confirmedMsAgo: Codec<number | undefined, number, number> = unless(UINT32_MAX, uint32());

export const staleness: MessageCodec<api.Staleness, "Staleness"> = message({
  revisions: uint64(),
  confirmedMsAgo,
});

/** 0 is the default. */
export const pageSize: Codec<number, number, number> = {
  toProto: uint32().toProto,
  fromProto: (wire) =>
    wire === 0 ? PAGE_SIZE_DEFAULT : uint32({ max: PAGE_SIZE_MAX }).fromProto(wire),
};

export const pageToken: Codec<string, string, string> = text({ max: PAGE_TOKEN_CHARS_MAX });

export const labels: Codec<
  Readonly<Record<string, string>>,
  Record<string, string>,
  Readonly<Record<string, string>>
> = {
  toProto: (value) => ({ ...value }),
  fromProto: (wire) => {
    const entries = Object.entries(wire);
    if (entries.length > LABELS_MAX) {
      return new Flaw(`has ${entries.length} labels, at most ${LABELS_MAX} allowed`);
    }
    for (const [label, value] of entries) {
      const flaw = name.fromProto(label);
      if (flaw instanceof Flaw) return new Flaw(`a label's name ${flaw.problem}`);
      const valueFlaw = labelValue.fromProto(value);
      if (valueFlaw instanceof Flaw) return valueFlaw.within(`["${label}"]`);
    }
    return wire;
  },
};

const labelValue = text({ max: LABEL_VALUE_CHARS_MAX });
