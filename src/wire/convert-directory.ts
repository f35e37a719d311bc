/**
 * Conversions of the Directory service (proto/cadastre/v1/directory.proto). A watch frame is a
 * oneof in the proto and a union inside.
 */

import { WHOLE_SPAN } from "../base/span.ts";
import type * as api from "./api.ts";
import {
  bool,
  bytes,
  checked,
  type Codec,
  Flaw,
  key,
  list,
  message,
  name,
  oneOf,
  optional,
  uint32,
  uint64,
} from "./codec.ts";
import {
  addresses,
  header,
  labels,
  nameOrNone,
  pageSize,
  pageToken,
  rangeRecord,
  ranges,
  readOptions,
  route,
  spanOrWhole,
  staleness,
  zone,
} from "./convert-common.ts";
import { ITEMS_MAX, RESUME_TOKEN_BYTES_MAX } from "./limits.ts";
import type { MessageCodec, Out } from "./shapes.ts";

export const lookupRequest: MessageCodec<api.LookupRequest, "LookupRequest"> = message({
  keyspace: name,
  key,
  read: readOptions,
});

export const lookupAnswer: MessageCodec<api.LookupAnswer, "LookupResponse"> = message({
  header,
  route,
  staleness: optional(staleness),
});

export const lookupBatchRequest: MessageCodec<api.LookupBatchRequest, "LookupBatchRequest"> =
  message({
    keyspace: name,
    keys: list(key, { min: 1, max: ITEMS_MAX }),
    read: readOptions,
  });

export const lookupBatchAnswer: MessageCodec<api.LookupBatchAnswer, "LookupBatchResponse"> =
  message(
    {
      header,
      routes: list(route),
      routeOfKey: list(uint32()),
      staleness: optional(staleness),
    },
    ({ routes, routeOfKey }) => {
      const strayAt = routeOfKey.findIndex((position) => position >= routes.length);
      return strayAt === -1 ? undefined : new Flaw("names no route", `route_of_key[${strayAt}]`);
    },
  );

export const getRangeRequest: MessageCodec<api.GetRangeRequest, "GetRangeRequest"> = message({
  rangeId: name,
  read: readOptions,
});

export const getRangeAnswer: MessageCodec<api.GetRangeAnswer, "GetRangeResponse"> = message({
  header,
  range: rangeRecord,
  leaseRemainingMs: uint64(),
  addresses,
  staleness: optional(staleness),
});

export const listRangesRequest: MessageCodec<api.ListRangesRequest, "ListRangesRequest"> = message({
  keyspace: name,
  span: spanOrWhole,
  nodeId: nameOrNone,
  unownedOnly: bool,
  pageSize,
  pageToken,
  read: readOptions,
});

export const listRangesAnswer: MessageCodec<api.ListRangesAnswer, "ListRangesResponse"> = message({
  header,
  ranges,
  nextPageToken: pageToken,
  staleness: optional(staleness),
});

const resumeToken: Codec<Uint8Array | undefined, Uint8Array, Uint8Array> = {
  toProto: (token) => token ?? new Uint8Array(0),
  fromProto: (wire) =>
    wire.length === 0 ? undefined : bytes(RESUME_TOKEN_BYTES_MAX).fromProto(wire),
};

const watchRequestFields: MessageCodec<api.WatchRequest, "WatchRequest"> = message({
  keyspace: nameOrNone,
  span: spanOrWhole,
  nodeId: nameOrNone,
  resumeToken,
  failIfCompacted: bool,
});

export const watchRequest: MessageCodec<api.WatchRequest, "WatchRequest"> = checked(
  watchRequestFields,
  (request) =>
    request.span !== WHOLE_SPAN && request.keyspace === undefined
      ? new Flaw("is empty; a span needs a keyspace", "keyspace")
      : undefined,
);

const cause = oneOf({
  keyspaceCreated: "KEYSPACE_CREATED",
  rangesDefined: "RANGES_DEFINED",
  imported: "IMPORTED",
  granted: "GRANTED",
  released: "RELEASED",
  expired: "EXPIRED",
  successorSet: "SUCCESSOR_SET",
  successorLifted: "SUCCESSOR_LIFTED",
  accepted: "ACCEPTED",
  restarted: "RESTARTED",
});

const rangeChange: MessageCodec<api.RangeChange, "RangeChange"> = message({
  before: optional(rangeRecord),
  after: optional(rangeRecord),
  cause,
});

const revisionChanges: MessageCodec<api.RevisionChanges, "RevisionChanges"> = message({
  revision: uint64({ min: 1 }),
  changes: list(rangeChange),
});

type FrameOf<Kind> = Extract<api.WatchFrame, { readonly kind: Kind }>;
type Body<Kind> = Omit<FrameOf<Kind>, "kind" | "header" | "resumeToken">;

const snapshotBody: MessageCodec<Body<"snapshot">, "SnapshotFrame"> = message({
  ranges,
  first: bool,
  last: bool,
  afterCompaction: bool,
});

const changesBody: MessageCodec<Body<"changes">, "ChangesFrame"> = message({
  revisions: list(revisionChanges),
  continues: bool,
});

export const watchFrame: MessageCodec<api.WatchFrame, "WatchFrame"> = {
  toProto: (frame) => {
    const common = {
      header: header.toProto(frame.header),
      resumeToken: resumeToken.toProto(frame.resumeToken),
    };
    switch (frame.kind) {
      case "snapshot":
        return { ...common, snapshot: snapshotBody.toProto(frame) };
      case "changes":
        return { ...common, changes: changesBody.toProto(frame) };
      case "progress":
        return { ...common, progress: {} };
    }
  },
  fromProto: (wire) => {
    if (wire === null || wire === undefined) return new Flaw("is missing");
    const frameHeader = header.fromProto(wire.header);
    if (frameHeader instanceof Flaw) return frameHeader.within("header");
    const token = resumeToken.fromProto(wire.resumeToken);
    if (token instanceof Flaw) return token.within("resume_token");
    const body = frameBody(wire);
    return body instanceof Flaw ? body : { header: frameHeader, resumeToken: token, ...body };
  },
};

type FrameBody =
  | ({ readonly kind: "snapshot" } & Body<"snapshot">)
  | ({ readonly kind: "changes" } & Body<"changes">)
  | { readonly kind: "progress" };

function frameBody(wire: Out<"WatchFrame">): FrameBody | Flaw {
  if (wire.frame === undefined) return new Flaw("is missing", "frame");
  switch (wire.frame) {
    case "snapshot": {
      const body = snapshotBody.fromProto(wire.snapshot);
      return body instanceof Flaw ? body.within("snapshot") : { kind: "snapshot", ...body };
    }
    case "changes": {
      const body = changesBody.fromProto(wire.changes);
      return body instanceof Flaw ? body.within("changes") : { kind: "changes", ...body };
    }
    case "progress":
      return { kind: "progress" };
  }
}

export const listNodesRequest: MessageCodec<api.PageRequest, "ListNodesRequest"> = message({
  pageSize,
  pageToken,
});

const nodeRecord: MessageCodec<api.NodeRecord, "NodeRecord"> = message({
  nodeId: name,
  incarnation: uint64({ min: 1 }),
  addresses,
  zone,
  labels,
  capacity: uint64(),
  sessionOpen: bool,
  rangesOwned: uint64(),
  sessionRemainingMs: uint64(),
});

export const listNodesAnswer: MessageCodec<api.ListNodesAnswer, "ListNodesResponse"> = message({
  header,
  nodes: list(nodeRecord),
  nextPageToken: pageToken,
});
