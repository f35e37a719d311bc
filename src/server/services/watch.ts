/**
 * The watch stream of one client: a cursor over this server's history, pulled at the client's pace.
 * A client that does not read costs a cursor, never a queue.
 */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { generationOf, type Revision } from "../../base/brands.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { filterFingerprint, matchesRecord, type WatchFilter } from "../../fanout/filter.ts";
import { decodeToken, encodeToken } from "../../fanout/tokens.ts";
import { type CursorFrame, WatchCursor } from "../../fanout/watch-cursor.ts";
import type { RangeRecord } from "../../machine/shard/types.ts";
import type * as api from "../../wire/api.ts";
import { refusal } from "../../wire/refusal.ts";
import { type ClusterGroups, findKeyspace, type ShardGroup } from "./cluster-groups.ts";
import { shardHeader, toRangeRecord } from "./records.ts";
import { refuseUnavailable } from "./refusals.ts";

export interface WatchOptions {
  /** A quiet watch hears of its position this often. */
  readonly progressMs: number;
  /** How long the start of a watch may wait for the keyspace, or for a token of the future. */
  readonly startTimeoutMs: number;
  readonly frameBytesMax: number;
  /** Streams that are open, for metrics. */
  readonly onOpen: () => void;
  readonly onClose: () => void;
  /** Aborted when the server drains: streams end, and clients resume elsewhere. */
  readonly drain: AbortSignal;
}

interface StartedWatch {
  readonly shard: ShardGroup;
  readonly filter: WatchFilter;
  readonly cursor: WatchCursor;
}

export async function* watch(
  groups: ClusterGroups,
  options: WatchOptions,
  request: api.WatchRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<Result<api.WatchFrame, api.Refusal>> {
  const started = await startWatch(groups, options, request);
  if (!started.ok) {
    yield started;
    return;
  }
  options.onOpen();
  try {
    yield* frames(groups, options, started.value, signal);
  } finally {
    options.onClose();
  }
}

async function* frames(
  groups: ClusterGroups,
  options: WatchOptions,
  { shard, filter, cursor }: StartedWatch,
  signal: AbortSignal | undefined,
): AsyncGenerator<Result<api.WatchFrame, api.Refusal>> {
  const { clock } = groups;
  const isOver = (): boolean => signal?.aborted === true;
  let toldAtMs = clock.nowMs();
  while (!isOver()) {
    if (options.drain.aborted) {
      yield failed(draining());
      return;
    }
    const frame = cursor.next();
    if (frame?.kind === "compacted") {
      yield failed(compacted(frame.oldest));
      return;
    }
    const quietMs = toldAtMs + options.progressMs - clock.nowMs();
    if (frame === undefined && quietMs > 0) {
      await waitForNews(groups, shard, quietMs, [options.drain, signal]);
      continue;
    }
    toldAtMs = clock.nowMs();
    yield ok(toWatchFrame(groups, shard, filter, frame ?? cursor.progress()));
  }
}

async function startWatch(
  groups: ClusterGroups,
  options: WatchOptions,
  request: api.WatchRequest,
): Promise<Result<StartedWatch, api.Refusal>> {
  const { startTimeoutMs, frameBytesMax } = options;
  const scope = await scopeOf(groups, request, startTimeoutMs);
  if (!scope.ok) return scope;
  const { shard, filter } = scope.value;
  const resumed = await resumePoint(groups, shard, filter, request.resumeToken, startTimeoutMs);
  if (!resumed.ok) return resumed;
  const cursor = new WatchCursor({
    filter,
    history: shard.history,
    snapshot: () => matchingRecords(shard, filter),
    frameBytesMax,
    resumeAfter: resumed.value,
    failIfCompacted: request.failIfCompacted,
  });
  return ok({ shard, filter, cursor });
}

async function scopeOf(
  groups: ClusterGroups,
  request: api.WatchRequest,
  timeoutMs: number,
): Promise<Result<{ shard: ShardGroup; filter: WatchFilter }, api.Refusal>> {
  const { keyspace, span, nodeId } = request;
  if (keyspace === undefined) {
    const shard = groups.shards.values().next().value;
    if (shard === undefined) return failed(refusal("TRANSIENT", "there is no metadata shard yet"));
    return ok({ shard, filter: { keyspaceId: undefined, span, nodeId } });
  }
  const place = await findKeyspace(groups, keyspace, timeoutMs);
  if (!place.ok) return place;
  const { keyspaceId } = place.value.keyspace;
  return ok({ shard: place.value.shard, filter: { keyspaceId, span, nodeId } });
}

/**
 * Where the watch goes on; undefined: with a snapshot. A token of the future waits for this replica
 * to get there, up to the timeout (law 21).
 */
async function resumePoint(
  groups: ClusterGroups,
  shard: ShardGroup,
  filter: WatchFilter,
  bytes: Bytes | undefined,
  timeoutMs: number,
): Promise<Result<Revision | undefined, api.Refusal>> {
  if (bytes === undefined) {
    // The snapshot must not be older than what the client was told before it asked.
    const permission = await shard.access.read({ kind: "linearizable" }, timeoutMs);
    return permission.kind === "ready"
      ? ok(undefined)
      : failed(refuseUnavailable(shard.access, permission));
  }
  const token = decodeToken(bytes);
  if (!token.ok) return failed(badToken(token.error));
  const { clusterId, generation, filterFingerprint: fingerprint, positions } = token.value;
  if (clusterId !== groups.clusterId) {
    const metadata = { cluster_id: groups.clusterId, token_cluster_id: clusterId };
    const message = `the token is of cluster ${clusterId}, this is ${groups.clusterId}; start anew`;
    return failed(refusal("CLUSTER_MISMATCH", message, { metadata, field: "resume_token" }));
  }
  const position = positions[0];
  if (generation !== generationOf(shard.state.revision) || position === undefined) {
    return failed(badToken("it is of another generation of the cluster"));
  }
  if (fingerprint !== filterFingerprint(filter) || positions.length !== 1) {
    return failed(badToken("it was given for another filter"));
  }
  if (position.group !== shard.access.group) return failed(badToken("it is of another group"));
  const level = { kind: "atLeast", revision: position.revision } as const;
  const permission = await shard.access.read(level, timeoutMs);
  if (permission.kind !== "ready") return failed(refuseUnavailable(shard.access, permission));
  return ok(position.revision);
}

function matchingRecords(shard: ShardGroup, filter: WatchFilter): RangeRecord[] {
  const { keyspaces } = shard.state;
  const records: RangeRecord[] = [];
  for (const [keyspaceId, { ranges }] of keyspaces.entries()) {
    if (filter.keyspaceId !== undefined && filter.keyspaceId !== keyspaceId) continue;
    const first = ranges.floor(filter.span.startKey)?.[0] ?? EMPTY_BYTES;
    for (const [, { record }] of ranges.entriesFrom(first)) {
      if (matchesRecord(filter, record)) records.push(record);
    }
  }
  return records;
}

/** Resolves when this replica has applied something, or after a quiet while, or when it is over. */
function waitForNews(
  groups: ClusterGroups,
  shard: ShardGroup,
  quietMs: number,
  ends: readonly (AbortSignal | undefined)[],
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stopListening();
      cancelTimer();
      for (const signal of ends) signal?.removeEventListener("abort", end);
      resolve();
    };
    const stopListening = shard.onApplied(end);
    const cancelTimer = groups.timers.after(quietMs, end);
    for (const signal of ends) signal?.addEventListener("abort", end);
  });
}

function toWatchFrame(
  groups: ClusterGroups,
  shard: ShardGroup,
  filter: WatchFilter,
  frame: Exclude<CursorFrame, { readonly kind: "compacted" }>,
): api.WatchFrame {
  const header = shardHeader(groups, shard, frame.revision);
  const token = (): Bytes =>
    encodeToken({
      clusterId: groups.clusterId,
      generation: header.generation,
      filterFingerprint: filterFingerprint(filter),
      positions: [{ group: header.group, revision: frame.revision }],
    });
  const toRecord = (record: RangeRecord): api.RangeRecord => toRangeRecord(shard.state, record);
  switch (frame.kind) {
    case "snapshot": {
      const { first, last, afterCompaction } = frame;
      const ranges = frame.records.map(toRecord);
      const resumeToken = last ? token() : undefined;
      return { header, resumeToken, kind: "snapshot", ranges, first, last, afterCompaction };
    }
    case "changes": {
      const revisions = frame.revisions.map(({ revision, changes }) => ({
        revision,
        changes: changes.map(({ before, after, cause }) => ({
          before: before && toRecord(before),
          after: after && toRecord(after),
          cause,
        })),
      }));
      const resumeToken = frame.continues ? undefined : token();
      return { header, resumeToken, kind: "changes", revisions, continues: frame.continues };
    }
    case "progress":
      return { header, resumeToken: token(), kind: "progress" };
  }
}

function badToken(problem: string): api.Refusal {
  const message = `resume_token: ${problem}; start again without one`;
  return refusal("INVALID", message, { field: "resume_token" });
}

function compacted(oldest: Revision): api.Refusal {
  const message = `the changes after the token are no longer kept; oldest kept revision: ${oldest}`;
  return refusal("COMPACTED", message, { metadata: { oldest: String(oldest) } });
}

function draining(): api.Refusal {
  const message = "this server is stopping; resume at another with the last token";
  return refusal("TRANSIENT", message, { retryAfterMs: 0 });
}
