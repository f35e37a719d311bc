/**
 * The records of a shard's snapshot. What can be derived has none: a range's end is the next one's
 * start, and ids, held ranges, reminders and counters are found again from the ranges.
 *
 * The types are made from those of the state by leaving fields out, so that a field added there
 * does not compile until it is stored here. Golden tests hold the form.
 */

import { brandedUint, byteString, type Codec } from "../../base/codec.ts";
import type { Epoch, Incarnation, Revision } from "../../base/brands.ts";
import { bool, list, optional, struct, text, uint, union } from "../../base/codec.ts";
import {
  storedAnswerCodec,
  storedClientCodec,
  storedFloorCodec,
  type StoredMemory,
} from "../common/request-ids.ts";
import type { SnapshotForm } from "../common/snapshot-form.ts";
import { type HoldChange, holdChangeCodec, type ShardResult, shardResultCodec } from "./answers.ts";
import { renewalPairCodec } from "./commands.ts";
import type { Grace } from "./grace.ts";
import type { DraftRow } from "./map-draft.ts";
import type {
  Extension,
  Keyspace,
  NewestIncarnation,
  Session,
  ShardState,
  Staging,
  Standing,
} from "./state.ts";
import {
  keyspaceTermsCodec,
  ownerCodec,
  type RangeRecord,
  rangeReplicaCodec,
  type RangeSlot,
} from "./types.ts";

/** The position tells these; these have records of their own; and these are derived. */
type NotInFields =
  | ("group" | "generation" | "revision" | "timeMs")
  | ("keyspaces" | "sessions" | "incarnations" | "imports" | "requests")
  | ("rangesById" | "intendedCounts" | "due" | "slotImages");

export type StoredFields = Readonly<Omit<ShardState, NotInFields>>;
export type StoredIncarnation = NewestIncarnation & { readonly nodeId: string };
export type StoredSession = Readonly<Omit<Session, "standings" | "held" | "changes">>;
export type StoredStanding = Readonly<Omit<Standing, "reminder">>;
export type StoredKeyspace = Readonly<Omit<Keyspace, "ranges" | "unownedCount">>;
export type StoredRange = Omit<RangeRecord, "keyspaceId" | "endKey"> & Omit<RangeSlot, "record">;
export type StoredImport = Readonly<Omit<Staging, "draft">>;

/** In the order in which they stand; each is followed by those that belong to it. */
export type StoredShard =
  | ({ readonly kind: "fields" } & StoredFields)
  | ({ readonly kind: "incarnation" } & StoredIncarnation)
  | ({ readonly kind: "session" } & StoredSession)
  | ({ readonly kind: "standing" } & StoredStanding)
  | { readonly kind: "change"; readonly change: HoldChange }
  | ({ readonly kind: "keyspace" } & StoredKeyspace)
  | ({ readonly kind: "range" } & StoredRange)
  | ({ readonly kind: "import" } & StoredImport)
  | ({ readonly kind: "row" } & DraftRow)
  | StoredMemory<ShardResult>;

export type StoredKind = StoredShard["kind"];

/** What each record may come after; undefined is the beginning. */
export const FOLLOWS: Readonly<Record<StoredKind, readonly (StoredKind | undefined)[]>> = {
  fields: [undefined],
  incarnation: ["fields", "incarnation"],
  session: ["incarnation", "standing", "change"],
  standing: ["session", "standing"],
  change: ["standing", "change"],
  keyspace: ["fields", "incarnation", "standing", "change", "range"],
  range: ["keyspace", "range"],
  import: ["range", "row"],
  row: ["import", "row"],
  floor: ["fields", "incarnation", "standing", "change", "range", "row"],
  client: ["floor", "answer"],
  answer: ["client", "answer"],
};

/** What the last record may be. */
export const LAST_KINDS: readonly StoredKind[] = ["floor", "answer"];

const revision = brandedUint<Revision>();
const epoch = brandedUint<Epoch>();
const incarnation = brandedUint<Incarnation>();
const deadline = { deadlineMs: uint, capMs: uint };
const grace = struct<Grace>({ fromMs: uint, untilMs: uint });

const storedShardCodec: Codec<StoredShard> = union<StoredShard>({
  fields: [1, struct<StoredFields>({ leaseOrder: uint, grace })],
  incarnation: [
    2,
    struct<StoredIncarnation>({
      nodeId: text,
      incarnation,
      lastRenewal: optional(renewalPairCodec),
      isClosed: bool,
    }),
  ],
  session: [
    3,
    struct<StoredSession>({
      nodeId: text,
      incarnation,
      openedRevision: revision,
      addresses: list(text),
      supersededUntilMs: uint,
      changesFloor: revision,
    }),
  ],
  standing: [
    4,
    struct<StoredStanding>({
      keyspaceId: uint,
      ...deadline,
      extensions: list(struct<Extension>({ order: uint, asOf: revision, ...deadline })),
    }),
  ],
  change: [5, struct({ change: holdChangeCodec })],
  keyspace: [
    6,
    struct<StoredKeyspace>({
      terms: keyspaceTermsCodec,
      everGranted: bool,
      importedBy: optional(text),
    }),
  ],
  range: [
    7,
    struct<StoredRange>({
      rangeId: text,
      startKey: byteString,
      epoch,
      owner: optional(ownerCodec),
      successor: optional(ownerCodec),
      handOverRevision: revision,
      intendedNodeId: optional(text),
      acceptedEpoch: epoch,
      replicas: list(rangeReplicaCodec),
      descriptorRevision: revision,
      ownDeadlineMs: uint,
      ownCapMs: uint,
      detachedOrder: uint,
    }),
  ],
  import: [
    8,
    struct<StoredImport>({ importId: text, keyspaceId: uint, parts: uint, deadlineMs: uint }),
  ],
  row: [
    9,
    struct<DraftRow>({ rangeId: text, startKey: byteString, intendedNodeId: optional(text) }),
  ],
  client: [10, storedClientCodec],
  answer: [11, storedAnswerCodec(shardResultCodec)],
  floor: [12, storedFloorCodec],
});

/** Versions: 1, the first. */
export const SHARD_FORM: SnapshotForm<StoredShard> = {
  machine: "shard",
  version: 1,
  record: storedShardCodec,
};
