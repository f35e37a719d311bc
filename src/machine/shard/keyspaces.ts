/**
 * Keyspaces in their shard: the first range, the first boundaries, and maps staged and switched in.
 *
 * A map replaces another only while nothing in the keyspace was ever granted, so no epoch can be
 * lost. Staged rows are seen by no reader; what is not committed expires by log time.
 */

import { type Bytes, compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import type { ShardResult } from "./answers.ts";
import { refused } from "./answers.ts";
import type {
  AbortImport,
  CommitImport,
  CreateKeyspace,
  DefineRanges,
  ImportRow,
  StageImport,
} from "./commands.ts";
import { MapDraft } from "./map-draft.ts";
import { grantIntended, isClosed, isSuperseded, newKeyspace, publishMap } from "./ranges.ts";
import type { EntryScope, Keyspace, ShardState, Staging } from "./state.ts";

/** What is staged is dropped after so long without another part or a commit. */
export const STAGING_MS = 600_000;
/** Maps that may be staged at a time. */
const STAGINGS_MAX = 8;
/** Rows of all of them: switching more in at once would take longer than an election timeout. */
const STAGED_ROWS_MAX = 1_000_000;

export function createKeyspace(
  state: ShardState,
  scope: EntryScope,
  command: CreateKeyspace,
): ShardResult {
  const { keyspaceId } = command.terms;
  if (state.keyspaces.has(keyspaceId)) return { kind: "keyspaceCreated", existed: true };
  const keyspace = newKeyspace(state, command.terms);
  const rows = [{ startKey: EMPTY_BYTES, intendedNodeId: undefined }];
  const draft = draftOf(state, scope, keyspaceId, rows);
  scope.emit("keyspaceCreated", keyspaceId, publishMap(state, scope, keyspace, draft));
  return { kind: "keyspaceCreated", existed: false };
}

export function defineRanges(
  state: ShardState,
  scope: EntryScope,
  command: DefineRanges,
): ShardResult {
  const subject = String(command.keyspaceId);
  const keyspace = state.keyspaces.get(command.keyspaceId);
  if (keyspace === undefined) return refused("keyspaceNotFound", subject);
  if (keyspace.everGranted) return refused("alreadyGranted", subject);
  const rows = [EMPTY_BYTES, ...command.splitKeys].map((startKey) => toRow(startKey));
  const disordered = firstDisordered(rows, undefined);
  if (disordered !== undefined) {
    return refused("invalidSplitKeys", subject, { item: disordered - 1 });
  }
  keyspace.importedBy = undefined;
  const draft = draftOf(state, scope, command.keyspaceId, rows);
  scope.emit("rangesDefined", command.keyspaceId, publishMap(state, scope, keyspace, draft));
  return { kind: "rangesDefined", rangeCount: rows.length };
}

export function stageImport(
  state: ShardState,
  scope: EntryScope,
  command: StageImport,
): ShardResult {
  const { importId, keyspaceId, part, rows } = command;
  const keyspace = state.keyspaces.get(keyspaceId);
  if (keyspace === undefined) return refused("keyspaceNotFound", String(keyspaceId));
  if (keyspace.everGranted) return refused("alreadyGranted", String(keyspaceId));
  const known = state.imports.get(importId);
  if (known !== undefined && known.keyspaceId !== keyspaceId) {
    return refused("importInvalid", importId);
  }
  const expected = known?.parts ?? 0;
  if (part > expected) return refused("importOutOfOrder", importId, { item: expected });
  if (part === expected) {
    const disordered = firstDisordered(rows, known?.draft.lastStartKey);
    if (disordered !== undefined || rows.length === 0) {
      return refused("importInvalid", importId, { item: disordered ?? 0 });
    }
    if (known === undefined && state.imports.size >= STAGINGS_MAX) {
      return refused("importInvalid", importId, { waitMs: STAGING_MS });
    }
    if (stagedRowCount(state) + rows.length > STAGED_ROWS_MAX) {
      return refused("importInvalid", importId, { waitMs: STAGING_MS });
    }
  }
  const draft = known?.draft ?? new MapDraft(keyspaceId);
  const staging = known ?? { importId, keyspaceId, parts: 0, draft, deadlineMs: 0 };
  if (part === expected) {
    staging.parts++;
    draft.add(state.group, scope.revision, rows);
  }
  keepStaging(state, scope, staging);
  return { kind: "importStaged", stagedRows: draft.rowCount, expiresInMs: STAGING_MS };
}

export function commitImport(
  state: ShardState,
  scope: EntryScope,
  command: CommitImport,
): ShardResult {
  const { importId, keyspaceId } = command;
  const keyspace = state.keyspaces.get(keyspaceId);
  if (keyspace === undefined) return refused("keyspaceNotFound", String(keyspaceId));
  if (keyspace.importedBy === importId) {
    const grantedCount = keyspace.ranges.size - keyspace.unownedCount;
    return { kind: "importCommitted", rangeCount: keyspace.ranges.size, grantedCount };
  }
  if (keyspace.everGranted) return refused("alreadyGranted", String(keyspaceId));
  const staging = state.imports.get(importId);
  if (staging?.keyspaceId !== keyspaceId || staging.draft.rowCount !== command.rowCount) {
    return refused("importIncomplete", importId, { item: staging?.draft.rowCount ?? 0 });
  }
  state.imports.delete(importId);
  keyspace.importedBy = importId;
  scope.emit("imported", keyspaceId, publishMap(state, scope, keyspace, staging.draft));
  const grantedCount = grantToOpenSessions(state, scope, keyspace);
  return { kind: "importCommitted", rangeCount: keyspace.ranges.size, grantedCount };
}

export function abortImport(state: ShardState, command: AbortImport): ShardResult {
  const staging = state.imports.get(command.importId);
  if (staging?.keyspaceId === command.keyspaceId) state.imports.delete(command.importId);
  return { kind: "done" };
}

/** Intended owners that are here already need not come again. */
function grantToOpenSessions(state: ShardState, scope: EntryScope, keyspace: Keyspace): number {
  const before = keyspace.unownedCount;
  for (const session of state.sessions.values()) {
    const isOpen = !isSuperseded(state, session) && !isClosed(state, session);
    if (isOpen) grantIntended(state, scope, session);
  }
  return before - keyspace.unownedCount;
}

function keepStaging(state: ShardState, scope: EntryScope, staging: Staging): void {
  const { importId } = staging;
  staging.deadlineMs = scope.timeMs + STAGING_MS;
  state.imports.set(importId, staging);
  const { deadlineMs } = staging;
  state.due.add({ kind: "import", deadlineMs, importId }, deadlineMs);
}

function stagedRowCount(state: ShardState): number {
  let count = 0;
  for (const staging of state.imports.values()) count += staging.draft.rowCount;
  return count;
}

/** Position of the first row that does not come after the one before it. */
function firstDisordered(
  rows: readonly ImportRow[],
  lastStartKey: Bytes | undefined,
): number | undefined {
  let last = lastStartKey;
  for (const [position, { startKey }] of rows.entries()) {
    const inOrder = last === undefined ? startKey.length === 0 : compareBytes(last, startKey) < 0;
    if (!inOrder) return position;
    last = startKey;
  }
  return undefined;
}

function draftOf(
  state: ShardState,
  scope: EntryScope,
  keyspaceId: number,
  rows: readonly ImportRow[],
): MapDraft {
  const draft = new MapDraft(keyspaceId);
  draft.add(state.group, scope.revision, rows);
  return draft;
}

function toRow(startKey: Bytes): ImportRow {
  return { startKey, intendedNodeId: undefined };
}
