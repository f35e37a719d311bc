/**
 * A shard's state fixed at one revision, without copying it:
 *   ranges         a frozen view of each keyspace's map, and the slots' earlier values (slots.ts)
 *   sessions       their own fields and standings are copied; changes by reference and length,
 *                  which is right because the list is only appended to or replaced
 *   staged rows    by reference and length: a draft's rows are only appended to
 *   answers        frozen views of the memory's maps (request-memory.ts)
 */

import type { FrozenMap } from "../../base/ordered-map.ts";
import type { Bytes } from "../../base/bytes.ts";
import { RecordCut } from "../common/record-cut.ts";
import type { SnapshotCut } from "../group.ts";
import type { HoldChange } from "./answers.ts";
import type { DraftRow } from "./map-draft.ts";
import type { SlotPicture } from "./slots.ts";
import type { Keyspace, Session, ShardState, Staging } from "./state.ts";
import {
  SHARD_FORM,
  type StoredImport,
  type StoredKeyspace,
  type StoredSession,
  type StoredShard,
  type StoredStanding,
} from "./stored.ts";
import type { RangeSlot } from "./types.ts";

export function openShardCut(state: ShardState, pieceBytes?: number): SnapshotCut {
  const { group, revision, timeMs, leaseOrder, grace } = state;
  const incarnations = state.incarnations.freeze();
  const sessions = [...state.sessions.values()].map(pictureOfSession);
  const keyspaces = [...state.keyspaces.values()].map(pictureOfKeyspace);
  const imports = [...state.imports.values()].map(pictureOfImport);
  const requests = state.requests.openCut();
  const slots = state.slotImages.open();
  function* records(): Generator<StoredShard> {
    yield { kind: "fields", leaseOrder, grace };
    for (const [nodeId, newest] of incarnations.entries()) {
      yield { kind: "incarnation", nodeId, ...newest };
    }
    for (const session of sessions) yield* sessionRecords(session);
    for (const { stored, ranges } of keyspaces) {
      yield { kind: "keyspace", ...stored };
      for (const [, slot] of ranges.entries()) yield storedRange(slots.get(slot) ?? slot);
    }
    for (const { stored, rows } of imports) {
      yield { kind: "import", ...stored };
      for (const row of rows) yield { kind: "row", ...row };
    }
    yield* requests.records();
  }
  const onClose = (): void => {
    state.slotImages.close(slots);
    for (const { ranges } of keyspaces) ranges.close();
    incarnations.close();
    requests.close();
  };
  const position = { group, revision, timeMs };
  return new RecordCut(SHARD_FORM, position, records(), { pieceBytes, onClose });
}

interface SessionPicture {
  readonly stored: StoredSession;
  readonly standings: readonly StoredStanding[];
  readonly changes: readonly HoldChange[];
  readonly changeCount: number;
}

function pictureOfSession(session: Session): SessionPicture {
  const { standings, held: _, changes, ...stored } = session;
  return {
    stored,
    standings: [...standings.values()].map(({ reminder: _reminder, ...standing }) => standing),
    changes,
    changeCount: changes.length,
  };
}

function* sessionRecords(session: SessionPicture): Generator<StoredShard> {
  yield { kind: "session", ...session.stored };
  for (const standing of session.standings) yield { kind: "standing", ...standing };
  for (let at = 0; at < session.changeCount; at++) {
    yield { kind: "change", change: session.changes[at] as HoldChange };
  }
}

function pictureOfKeyspace(keyspace: Keyspace): {
  readonly stored: StoredKeyspace;
  readonly ranges: FrozenMap<Bytes, RangeSlot>;
} {
  const { terms, everGranted, importedBy, ranges } = keyspace;
  return { stored: { terms, everGranted, importedBy }, ranges: ranges.freeze() };
}

function pictureOfImport(staging: Staging): {
  readonly stored: StoredImport;
  readonly rows: Iterable<DraftRow>;
} {
  const { importId, keyspaceId, parts, deadlineMs, draft } = staging;
  const stored = { importId, keyspaceId, parts, deadlineMs };
  return { stored, rows: draft.rowsUpTo(draft.rowCount) };
}

function storedRange({ record, ...lease }: SlotPicture): StoredShard {
  return {
    kind: "range",
    rangeId: record.rangeId,
    startKey: record.startKey,
    epoch: record.epoch,
    owner: record.owner,
    successor: record.successor,
    handOverRevision: record.handOverRevision,
    intendedNodeId: record.intendedNodeId,
    acceptedEpoch: record.acceptedEpoch,
    replicas: record.replicas,
    descriptorRevision: record.descriptorRevision,
    ...lease,
  };
}
