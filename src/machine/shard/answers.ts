/**
 * What a metadata shard answers. Refusals are answers like others: replicated, deterministic, and
 * kept for the request id of the client that got them (law 5).
 */

import type { Epoch, Revision } from "../../base/brands.ts";
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
import { type RangeRecord, rangeRecordCodec } from "./types.ts";

/** A result, or the stored result of an earlier run of the same request id. */
export interface ShardAnswer {
  readonly replayed: boolean;
  /** Revision of the entry that decided it: an earlier one when replayed. */
  readonly revision: Revision;
  readonly result: ShardResult;
}

export type ShardResult =
  | { readonly kind: "done" }
  | Refused
  | { readonly kind: "keyspaceCreated"; readonly existed: boolean }
  | { readonly kind: "rangesDefined"; readonly rangeCount: number }
  | SessionOpened
  | { readonly kind: "renewed"; readonly answers: readonly RenewalAnswer[] }
  | { readonly kind: "rangesJudged"; readonly outcomes: readonly RangeOutcome[] }
  | { readonly kind: "grantsDone"; readonly outcomes: readonly GrantOutcome[] }
  | { readonly kind: "successorWithdrawn"; readonly range: RangeRecord }
  | {
      readonly kind: "importStaged";
      readonly stagedRows: number;
      readonly expiresInMs: number;
    }
  | {
      readonly kind: "importCommitted";
      readonly rangeCount: number;
      readonly grantedCount: number;
    };

export const REFUSAL_REASONS = [
  "requestIdReused",
  "requestIdExpired",
  "seenRevisionAhead",
  "keyspaceNotFound",
  "rangeNotFound",
  "invalidSplitKeys",
  "alreadyGranted",
  "noSession",
  "sessionLive",
  "staleIncarnation",
  "staleEpoch",
  "epochAhead",
  "staleDescriptor",
  "leaseHeld",
  "successorRecorded",
  "noSuccessor",
  "repeatedRange",
  "importIncomplete",
  "importOutOfOrder",
  "importInvalid",
  "notOwner",
  "sessionClosed",
  "requestMemoryFull",
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Nothing was changed by the command (what was due has ended all the same). */
export interface Refused {
  readonly kind: "refused";
  readonly reason: RefusalReason;
  /** What it is about: a range id, a node id, an import id, a keyspace id as text. */
  readonly subject: string;
  /** Position in the request's list, where there is one. */
  readonly item: number | undefined;
  /** The range as it stands, where the refusal is about one. */
  readonly range: RangeRecord | undefined;
  /** How long the obstacle lasts at most, in ms of log time, where that is known. */
  readonly waitMs: number | undefined;
}

export interface SessionOpened {
  readonly kind: "sessionOpened";
  readonly alreadyOpen: boolean;
  readonly durations: readonly LeaseTerm[];
  /** Ranges granted by this entry because they were intended for the node. */
  readonly grantedCount: number;
}

/** A keyspace's lease terms in force at the entry. */
export interface LeaseTerm {
  readonly keyspaceId: number;
  readonly keyspace: string;
  readonly durationMs: number;
  readonly renewIntervalMs: number;
}

/** One for each renewal of the command, in order. */
export type RenewalAnswer =
  | {
      readonly kind: "extended";
      readonly durations: readonly LeaseTerm[];
      /** Every change in (asOf, revision] to what the incarnation holds, in order. */
      readonly changes: readonly HoldChange[];
    }
  /** The incarnation has no open session here: never opened, ended, or a newer one took over. */
  | { readonly kind: "noSession" }
  /** asOf is above the renewal's own revision. */
  | { readonly kind: "asOfAhead" }
  /** asOf is below the changes kept: the view must be refreshed to at least `floor`. */
  | { readonly kind: "viewTooOld"; readonly floor: Revision }
  /**
   * An older copy, without effect: the renewal with this sequence was applied before. A process
   * that never sent that one is not the one that holds on.
   */
  | { readonly kind: "lateCopy"; readonly lastSequence: number }
  /** Two processes are this incarnation: it is renewed no more, and its leases run out. */
  | { readonly kind: "sessionClosed" };

export const HOLD_CHANGES = [
  "granted",
  "released",
  "expired",
  "successorSet",
  "successorLifted",
] as const;

export interface HoldChange {
  readonly revision: Revision;
  readonly kind: (typeof HOLD_CHANGES)[number];
  /** granted, successorSet, successorLifted: as it is after; released, expired: as it was held. */
  readonly range: RangeRecord;
}

/** noSuccessor: the hand-over was taken back, or the successor is gone; the owner keeps it. */
export const RANGE_REFUSALS = [
  "staleEpoch",
  "notOwner",
  "notFound",
  "sessionClosed",
  "noSuccessor",
] as const;

export interface RangeOutcome {
  readonly rangeId: string;
  /** undefined: done. */
  readonly refused: (typeof RANGE_REFUSALS)[number] | undefined;
  readonly currentEpoch: Epoch;
}

export const GRANT_OUTCOMES = ["granted", "successorRecorded", "alreadyOwner"] as const;

export interface GrantOutcome {
  readonly kind: (typeof GRANT_OUTCOMES)[number];
  readonly range: RangeRecord;
  readonly leaseDurationMs: number;
  /** successorRecorded: at most this long until the present lease ends. */
  readonly waitMs: number;
}

const revision = brandedUint<Revision>();
const epoch = brandedUint<Epoch>();

const leaseTerm = struct<LeaseTerm>({
  keyspaceId: uint,
  keyspace: text,
  durationMs: uint,
  renewIntervalMs: uint,
});

export const holdChangeCodec: Codec<HoldChange> = struct<HoldChange>({
  revision,
  kind: oneOf(HOLD_CHANGES),
  range: rangeRecordCodec,
});

const renewalAnswer = union<RenewalAnswer>({
  extended: [1, struct({ durations: list(leaseTerm), changes: list(holdChangeCodec) })],
  noSession: [2, struct({})],
  asOfAhead: [3, struct({})],
  viewTooOld: [4, struct({ floor: revision })],
  lateCopy: [5, struct({ lastSequence: uint })],
  sessionClosed: [6, struct({})],
});

const rangeOutcome = struct<RangeOutcome>({
  rangeId: text,
  refused: optional(oneOf(RANGE_REFUSALS)),
  currentEpoch: epoch,
});

const grantOutcome = struct<GrantOutcome>({
  kind: oneOf(GRANT_OUTCOMES),
  range: rangeRecordCodec,
  leaseDurationMs: uint,
  waitMs: uint,
});

export const shardResultCodec: Codec<ShardResult> = union<ShardResult>({
  done: [1, struct({})],
  refused: [
    2,
    struct({
      reason: oneOf(REFUSAL_REASONS),
      subject: text,
      item: optional(uint),
      range: optional(rangeRecordCodec),
      waitMs: optional(uint),
    }),
  ],
  keyspaceCreated: [3, struct({ existed: bool })],
  rangesDefined: [4, struct({ rangeCount: uint })],
  sessionOpened: [5, struct({ alreadyOpen: bool, durations: list(leaseTerm), grantedCount: uint })],
  renewed: [6, struct({ answers: list(renewalAnswer) })],
  rangesJudged: [7, struct({ outcomes: list(rangeOutcome) })],
  grantsDone: [8, struct({ outcomes: list(grantOutcome) })],
  successorWithdrawn: [9, struct({ range: rangeRecordCodec })],
  importStaged: [10, struct({ stagedRows: uint, expiresInMs: uint })],
  importCommitted: [11, struct({ rangeCount: uint, grantedCount: uint })],
});

export const shardAnswerCodec: Codec<ShardAnswer> = struct<ShardAnswer>({
  replayed: bool,
  revision,
  result: shardResultCodec,
});

/** A refusal with only what matters filled in. */
export function refused(
  reason: RefusalReason,
  subject: string,
  details: Partial<Pick<Refused, "item" | "range" | "waitMs">> = {},
): Refused {
  const { item, range, waitMs } = details;
  return { kind: "refused", reason, subject, item, range, waitMs };
}

/** About how many bytes a result takes, encoded: its keys, and so much for everything else. */
export function shardResultBytes(result: ShardResult): number {
  switch (result.kind) {
    case "grantsDone":
      return result.outcomes.reduce((bytes, { range }) => bytes + recordBytes(range), RESULT_BYTES);
    case "successorWithdrawn":
      return RESULT_BYTES + recordBytes(result.range);
    case "refused": {
      const { subject, range } = result;
      return RESULT_BYTES + subject.length + (range === undefined ? 0 : recordBytes(range));
    }
    case "done":
    case "keyspaceCreated":
    case "rangesDefined":
    case "sessionOpened":
    case "renewed":
    case "rangesJudged":
    case "importStaged":
    case "importCommitted":
      return RESULT_BYTES;
  }
}

const RESULT_BYTES = 16;
const RECORD_BYTES = 96;

function recordBytes({ startKey, endKey }: RangeRecord): number {
  return RECORD_BYTES + startKey.length + (endKey?.length ?? 0);
}
