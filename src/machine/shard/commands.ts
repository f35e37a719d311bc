/**
 * What can be asked of a metadata shard. A request is a command and, for client mutations, its id.
 *
 * The binary form is stored in the log: tags are never reused, fields of a shipped command never
 * change; a new meaning is a new tag.
 */

import type { Bytes } from "../../base/bytes.ts";
import type { Epoch, Incarnation, Revision } from "../../base/brands.ts";
import {
  bool,
  brandedUint,
  byteString,
  type Codec,
  list,
  optional,
  struct,
  text,
  uint,
  union,
} from "../../base/codec.ts";
import { type RequestId, requestIdCodec } from "../common/request-ids.ts";
import { type KeyspaceTerms, keyspaceTermsCodec } from "./types.ts";

export interface ShardRequest {
  /** Set for defineRanges, grant and withdrawSuccessor (law 5); others are safe to repeat. */
  readonly requestId: RequestId | undefined;
  readonly command: ShardCommand;
}

export type ShardCommand =
  | CreateKeyspace
  | DefineRanges
  | OpenSession
  | Renew
  | Accept
  | Release
  | Grant
  | WithdrawSuccessor
  | Expire
  | StageImport
  | CommitImport
  | AbortImport;

/** Makes the keyspace's first range, -inf to +inf. Idempotent: an existing one is left alone. */
export interface CreateKeyspace {
  readonly kind: "createKeyspace";
  readonly terms: KeyspaceTerms;
}

/** Sets the boundaries of a keyspace in which nothing was ever granted. */
export interface DefineRanges {
  readonly kind: "defineRanges";
  readonly keyspaceId: number;
  /** Strictly ascending, none empty. */
  readonly splitKeys: readonly Bytes[];
}

/**
 * Opens an incarnation's session, and grants it the ranges that are intended for its node. Carries
 * what the root has recorded of the registration (law 13).
 */
export interface OpenSession {
  readonly kind: "openSession";
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  /** Of the incarnations from this one on, all but the one that opens are proven dead. */
  readonly provenSince: Incarnation;
  /** Where this incarnation is reached. */
  readonly addresses: readonly string[];
}

/** Renewals of many sessions, each judged alone (law 8). */
export interface Renew {
  readonly kind: "renew";
  readonly renewals: readonly Renewal[];
}

export interface Renewal {
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  readonly asOf: Revision;
  /** Not to be extended. */
  readonly except: readonly ExceptedSpan[];
  /** The same for every transmission of this renewal. */
  readonly pair: RenewalPair;
  /** Of the last renewal that was answered, and of all that were sent since, before this one. */
  readonly known: readonly RenewalPair[];
}

/** Names one renewal of one process, even if two processes are the same incarnation (law 13). */
export interface RenewalPair {
  /** Counts the process's renewals in this group. */
  readonly sequence: number;
  /** Drawn anew for each renewal. */
  readonly nonce: number;
}

export interface ExceptedSpan {
  readonly keyspaceId: number;
  readonly startKey: Bytes;
  readonly endKey: Bytes | undefined;
}

export interface RangeEpoch {
  readonly rangeId: string;
  readonly epoch: Epoch;
}

/** The owner's high-water of these epochs is durable (laws 6 and 17). Each range on its own. */
export interface Accept {
  readonly kind: "accept";
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  readonly ranges: readonly RangeEpoch[];
}

/** The owner has stopped serving these ranges and gives them up. Each range on its own. */
export interface Release {
  readonly kind: "release";
  readonly nodeId: string;
  readonly incarnation: Incarnation;
  readonly ranges: readonly ReleasedRange[];
}

export interface ReleasedRange extends RangeEpoch {
  /**
   * Not 0: given up only to the successor for whom this was asked, if it is still recorded and
   * alive; otherwise the owner keeps the range (law 12, hand-over).
   */
  readonly handOverRevision: Revision;
}

/** Grants unowned ranges, records successors for owned ones. All items or none. */
export interface Grant {
  readonly kind: "grant";
  readonly items: readonly GrantItem[];
  readonly onlyUnowned: boolean;
  /** Asks the owners of owned ranges to hand them over, rather than to wait for the leases. */
  readonly handOver: boolean;
}

export interface GrantItem {
  readonly rangeId: string;
  readonly expectedEpoch: Epoch;
  readonly expectedDescriptorRevision: Revision;
  readonly nodeId: string;
  /** undefined: whichever incarnation has an open session. */
  readonly incarnation: Incarnation | undefined;
}

export interface WithdrawSuccessor {
  readonly kind: "withdrawSuccessor";
  readonly rangeId: string;
  readonly expectedEpoch: Epoch;
  readonly expectedDescriptorRevision: Revision;
}

/** No effect of its own: every entry ends what is due before its own effect (law 9). */
export interface Expire {
  readonly kind: "expire";
}

/** A part of a map, invisible to readers until it is committed. A repeated part is left alone. */
export interface StageImport {
  readonly kind: "stageImport";
  readonly importId: string;
  readonly keyspaceId: number;
  /** Counts from 0. */
  readonly part: number;
  readonly rows: readonly ImportRow[];
}

/** A range from startKey to the next row's; startKeys ascend over all parts, the first is empty. */
export interface ImportRow {
  readonly startKey: Bytes;
  readonly intendedNodeId: string | undefined;
}

/** Switches a completely staged map in. Idempotent after success. */
export interface CommitImport {
  readonly kind: "commitImport";
  readonly importId: string;
  readonly keyspaceId: number;
  readonly rowCount: number;
}

export interface AbortImport {
  readonly kind: "abortImport";
  readonly importId: string;
  readonly keyspaceId: number;
}

const revision = brandedUint<Revision>();
const epoch = brandedUint<Epoch>();
const incarnation = brandedUint<Incarnation>();
const rangeEpochs = list(struct<RangeEpoch>({ rangeId: text, epoch }));
const releasedRange = struct<ReleasedRange>({ rangeId: text, epoch, handOverRevision: revision });
const holder = { nodeId: text, incarnation };

const excepted = struct<ExceptedSpan>({
  keyspaceId: uint,
  startKey: byteString,
  endKey: optional(byteString),
});

export const renewalPairCodec: Codec<RenewalPair> = struct<RenewalPair>({
  sequence: uint,
  nonce: uint,
});

const renewal = struct<Renewal>({
  ...holder,
  asOf: revision,
  except: list(excepted),
  pair: renewalPairCodec,
  known: list(renewalPairCodec),
});

const grantItem = struct<GrantItem>({
  rangeId: text,
  expectedEpoch: epoch,
  expectedDescriptorRevision: revision,
  nodeId: text,
  incarnation: optional(incarnation),
});

const importRow = struct<ImportRow>({ startKey: byteString, intendedNodeId: optional(text) });

export const shardCommandCodec: Codec<ShardCommand> = union<ShardCommand>({
  createKeyspace: [1, struct({ terms: keyspaceTermsCodec })],
  defineRanges: [2, struct({ keyspaceId: uint, splitKeys: list(byteString) })],
  openSession: [3, struct({ ...holder, provenSince: incarnation, addresses: list(text) })],
  renew: [4, struct({ renewals: list(renewal) })],
  accept: [5, struct({ ...holder, ranges: rangeEpochs })],
  release: [6, struct({ ...holder, ranges: list(releasedRange) })],
  grant: [7, struct({ items: list(grantItem), onlyUnowned: bool, handOver: bool })],
  withdrawSuccessor: [
    8,
    struct({ rangeId: text, expectedEpoch: epoch, expectedDescriptorRevision: revision }),
  ],
  expire: [9, struct({})],
  stageImport: [
    10,
    struct({ importId: text, keyspaceId: uint, part: uint, rows: list(importRow) }),
  ],
  commitImport: [11, struct({ importId: text, keyspaceId: uint, rowCount: uint })],
  abortImport: [12, struct({ importId: text, keyspaceId: uint })],
});

export const shardRequestCodec: Codec<ShardRequest> = struct<ShardRequest>({
  requestId: optional(requestIdCodec),
  command: shardCommandCodec,
});
