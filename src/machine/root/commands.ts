/**
 * What can be asked of the root, and what it answers. The binary form is stored in the log: tags
 * are never reused, fields of a shipped command never change.
 */

import type { GroupId, Revision } from "../../base/brands.ts";
import {
  bool,
  brandedUint,
  type Codec,
  list,
  oneOf,
  optional,
  struct,
  text,
  uint,
  union,
} from "../../base/codec.ts";
import { type RequestId, requestIdCodec } from "../common/request-ids.ts";
import {
  type ClusterRecord,
  clusterRecordCodec,
  type KeyspaceRecord,
  keyspaceRecordCodec,
  type KeyspaceSettings,
  keyspaceSettingsCodec,
  type Label,
  labelCodec,
  type NodeRecord,
  nodeRecordCodec,
  type ProcessStart,
  processStartCodec,
} from "./types.ts";

export interface RootRequest {
  /** Set for createKeyspace and registerNode (law 5); others are safe to repeat. */
  readonly requestId: RequestId | undefined;
  readonly command: RootCommand;
}

export type RootCommand = InitCluster | CreateKeyspace | MarkKeyspaceReady | RegisterNode;

/** The first command of a cluster's life. A repeat changes nothing. */
export interface InitCluster {
  readonly kind: "initCluster";
  readonly cluster: ClusterRecord;
}

/** Records a keyspace as "creating"; the root's leader then has the shard make its first range. */
export interface CreateKeyspace {
  readonly kind: "createKeyspace";
  readonly settings: KeyspaceSettings;
  /** The shard that will hold its ranges. */
  readonly group: GroupId;
}

/** The shard has made the first range. A repeat changes nothing. */
export interface MarkKeyspaceReady {
  readonly kind: "markKeyspaceReady";
  readonly keyspaceId: number;
}

/** Makes a new incarnation of a storage node: the revision of this entry (law 13). */
export interface RegisterNode {
  readonly kind: "registerNode";
  readonly nodeId: string;
  readonly dataUuid: string;
  readonly start: ProcessStart | undefined;
  readonly addresses: readonly string[];
  readonly zone: string;
  readonly labels: readonly Label[];
  readonly capacity: number;
}

export interface RootAnswer {
  readonly replayed: boolean;
  readonly revision: Revision;
  readonly result: RootResult;
}

export type RootResult =
  | { readonly kind: "done" }
  | { readonly kind: "keyspaceRecorded"; readonly keyspace: KeyspaceRecord }
  | { readonly kind: "nodeRegistered"; readonly node: NodeRecord }
  | RootRefused;

export const ROOT_REFUSALS = [
  "requestIdReused",
  "requestIdExpired",
  "seenRevisionAhead",
  "clusterNotInitialised",
  "keyspaceExists",
  "keyspaceNotFound",
  "groupNotFound",
  "nodeIdTaken",
  "tooManyKeyspaces",
  "requestMemoryFull",
] as const;

/** Nothing was changed. */
export interface RootRefused {
  readonly kind: "refused";
  readonly reason: (typeof ROOT_REFUSALS)[number];
  readonly subject: string;
}

/** What changed, as data. */
export type RootEvent =
  | { readonly kind: "clusterInitialised"; readonly cluster: ClusterRecord }
  | { readonly kind: "keyspaceChanged"; readonly keyspace: KeyspaceRecord }
  | { readonly kind: "nodeRegistered"; readonly node: NodeRecord };

export const rootCommandCodec: Codec<RootCommand> = union<RootCommand>({
  initCluster: [1, struct({ cluster: clusterRecordCodec })],
  createKeyspace: [2, struct({ settings: keyspaceSettingsCodec, group: brandedUint<GroupId>() })],
  markKeyspaceReady: [3, struct({ keyspaceId: uint })],
  registerNode: [
    4,
    struct({
      nodeId: text,
      dataUuid: text,
      start: optional(processStartCodec),
      addresses: list(text),
      zone: text,
      labels: list(labelCodec),
      capacity: uint,
    }),
  ],
});

export const rootRequestCodec: Codec<RootRequest> = struct<RootRequest>({
  requestId: optional(requestIdCodec),
  command: rootCommandCodec,
});

export const rootResultCodec: Codec<RootResult> = union<RootResult>({
  done: [1, struct({})],
  keyspaceRecorded: [2, struct({ keyspace: keyspaceRecordCodec })],
  nodeRegistered: [3, struct({ node: nodeRecordCodec })],
  refused: [4, struct({ reason: oneOf(ROOT_REFUSALS), subject: text })],
});

export const rootAnswerCodec: Codec<RootAnswer> = struct<RootAnswer>({
  replayed: bool,
  revision: brandedUint<Revision>(),
  result: rootResultCodec,
});

/** About how many bytes a result takes, encoded. */
export function rootResultBytes(result: RootResult): number {
  switch (result.kind) {
    case "done":
      return RESULT_BYTES;
    case "refused":
      return RESULT_BYTES + result.subject.length;
    case "keyspaceRecorded":
      return RESULT_BYTES + RECORD_BYTES;
    case "nodeRegistered": {
      const { addresses, labels } = result.node;
      const texts = [...addresses, ...labels.flatMap(({ name, value }) => [name, value])];
      return texts.reduce((bytes, { length }) => bytes + length, RESULT_BYTES + RECORD_BYTES);
    }
  }
}

const RESULT_BYTES = 16;
const RECORD_BYTES = 256;
