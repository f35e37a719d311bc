/**
 * The invariants of the root machine, by their numbers in SPEC.md. Checked after every entry of
 * every test; a broken one is a bug and throws.
 */

import { assert } from "../../base/assert.ts";
import { bytesEqual } from "../../base/bytes.ts";
import {
  flawOfMemory,
  lossOfMemory,
  type MemoryPicture,
  pictureOfMemory,
} from "../common/request-checks.ts";
import type { RootResult } from "./commands.ts";
import type { RootState } from "./state.ts";
import type { KeyspaceRecord, NodeRecord } from "./types.ts";

/** What the delta checks compare with: a picture of the state before an entry. */
export interface RootPicture {
  readonly revision: number;
  readonly timeMs: number;
  readonly keyspaces: readonly KeyspaceRecord[];
  readonly nodes: readonly NodeRecord[];
  readonly requests: MemoryPicture<RootResult>;
}

export function pictureOfRoot(state: RootState): RootPicture {
  return {
    revision: state.revision,
    timeMs: state.timeMs,
    keyspaces: [...state.keyspaces.values()],
    nodes: [...state.nodes.values()],
    requests: pictureOfMemory(state.requests),
  };
}

export function checkRoot(state: RootState): void {
  assert(state.keyspaces.size === state.keyspaceIds.size, "MR1: names and ids correspond");
  for (const [keyspaceId, keyspace] of state.keyspaces.entries()) {
    const { name } = keyspace.settings;
    assert(state.keyspaceIds.get(name) === keyspaceId, "MR1: a keyspace is found by its name");
    assert(keyspaceId <= state.lastKeyspaceId, "MR1: ids are given in order");
    checkSpans(state, keyspace);
  }
  for (const { incarnation, predecessor, provenSince } of state.nodes.values()) {
    assert(incarnation <= state.revision, "MR3: an incarnation is a revision of the past");
    assert(predecessor < incarnation, "MR3: a predecessor registered before");
    assert(provenSince <= incarnation && provenSince > 0, "MR3: a chain of proofs has a beginning");
  }
  const flaw = flawOfMemory(state.requests, state.revision);
  assert(flaw === undefined, `MR8: ${flaw}`);
}

function checkSpans(state: RootState, { spans }: KeyspaceRecord): void {
  assert(spans[0]?.startKey.length === 0, "MR2: the first span starts at -inf");
  for (const [at, { endKey, group }] of spans.entries()) {
    const next = spans[at + 1];
    const meets =
      next === undefined
        ? endKey === undefined
        : endKey !== undefined && bytesEqual(endKey, next.startKey);
    assert(meets, "MR2: spans meet, and the last ends at +inf");
    assert(state.cluster?.shardGroups.includes(group) === true, "MR2: a span's shard exists");
  }
}

export function checkRootDelta(before: RootPicture, state: RootState): void {
  assert(state.revision === before.revision + 1, "MR4: the revision goes up by one");
  assert(state.timeMs >= before.timeMs, "MR4: log time never goes back");
  const loss = lossOfMemory(before.requests, state.requests);
  assert(loss === undefined, `MR9: ${loss}`);
  for (const earlier of before.keyspaces) {
    const now = state.keyspaces.get(earlier.keyspaceId);
    assert(now !== undefined, "MR5: a keyspace does not vanish");
    assert(earlier.state === "creating" || now.state === "ready", "MR5: ready stays ready");
    assert(now.settings === earlier.settings, "MR5: settings never change");
    assert(now.createdRevision === earlier.createdRevision, "MR5: nor does the creation");
  }
  for (const { nodeId, dataUuid, incarnation, provenSince } of before.nodes) {
    const now = state.nodes.get(nodeId);
    assert(now?.dataUuid === dataUuid, "MR6: a node keeps its data directory");
    assert(now.incarnation >= incarnation, "MR6: incarnations never go back");
    if (now.incarnation === incarnation) continue;
    assert(now.predecessor === incarnation, "MR7: a predecessor is the registration before");
    const isFresh = now.provenSince === now.incarnation;
    assert(isFresh || now.provenSince === provenSince, "MR7: a proof continues the chain before");
  }
}
