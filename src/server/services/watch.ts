/**
 * The watch stream of one client: a cursor over this server's history, pulled at the client's pace.
 * A client that does not read costs a cursor, never a queue.
 */

import { type Bytes, compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import { generationOf, type Revision } from "../../base/brands.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { filterFingerprint, matchesRecord, type WatchFilter } from "../../fanout/filter.ts";
import { decodeToken, encodeToken } from "../../fanout/tokens.ts";
import { type CursorFrame, WatchCursor } from "../../fanout/watch-cursor.ts";
import type { RangeRecord } from "../../machine/shard/types.ts";
import type * as api from "../../wire/api.ts";
import { refusal } from "../../wire/refusal.ts";
import { type ClusterGroups, findKeyspace, type ShardGroup } from "./cluster-groups.ts";
import { type Drain, News } from "./news.ts";
import { shardHeader, toRangeRecord } from "./records.ts";
import { refuseUnavailable } from "./refusals.ts";

export interface WatchOptions {
  /** A quiet watch hears of its position this often. */
  readonly progressMs: number;
  /** How long the start of a watch may wait for the keyspace, or for a token of the future. */
  readonly startTimeoutMs: number;
  readonly frameBytesMax: number;
  /** A replica that has not been current for so long ends its streams. */
  readonly cutOffMs: number;
  /** Streams that are open, for metrics. */
  readonly onOpen: () => void;
  readonly onClose: () => void;
  /** When the server drains, streams end, and clients resume elsewhere. */
  readonly drain: Drain;
}

type Frame = Result<api.WatchFrame, api.Refusal>;

interface StartedWatch {
  readonly shard: ShardGroup;
  /** Of the filter: every token is bound to it. */
  readonly fingerprint: number;
  readonly cursor: WatchCursor;
}

/** Returning the iterator, or aborting the signal, ends the stream at once, also while it waits. */
export function watch(
  groups: ClusterGroups,
  options: WatchOptions,
  request: api.WatchRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame, undefined, undefined> {
  const news = new News(groups.timers, options.drain, signal);
  const stream = frames(groups, options, request, news);
  return {
    next: () => stream.next(),
    return: () => {
      // A generator that waits would not hear of it before its next frame.
      news.close();
      return stream.return(undefined);
    },
    throw: (error) => {
      news.close();
      return stream.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* frames(
  groups: ClusterGroups,
  options: WatchOptions,
  request: api.WatchRequest,
  news: News,
): AsyncGenerator<Frame, undefined, undefined> {
  const started = await startWatch(groups, options, request);
  if (!started.ok) {
    yield started;
    return;
  }
  options.onOpen();
  news.listen(started.value.shard);
  try {
    yield* changes(groups, options, started.value, news);
  } finally {
    news.close();
    options.onClose();
  }
}

async function* changes(
  groups: ClusterGroups,
  options: WatchOptions,
  { shard, fingerprint, cursor }: StartedWatch,
  news: News,
): AsyncGenerator<Frame, undefined, undefined> {
  const { clock } = groups;
  const openedAtMs = clock.nowMs();
  let toldAtMs = openedAtMs;
  while (!news.isClosed) {
    if (options.drain.hasBegun) {
      yield failed(draining());
      return;
    }
    const frame = cursor.next();
    if (frame?.kind === "compacted") {
      yield failed(compacted(frame.oldest));
      return;
    }
    if (frame === undefined) {
      const nowMs = clock.nowMs();
      const currentAtMs = shard.access.replica.currentAtMs ?? openedAtMs;
      const trustedMs = currentAtMs + options.cutOffMs - nowMs;
      if (trustedMs <= 0) {
        yield failed(cutOff(shard));
        return;
      }
      const quietMs = toldAtMs + options.progressMs - nowMs;
      if (quietMs > 0) {
        await news.wait(Math.min(quietMs, trustedMs));
        continue;
      }
    }
    toldAtMs = clock.nowMs();
    yield ok(toWatchFrame(groups, shard, fingerprint, frame ?? cursor.progress()));
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
  const fingerprint = filterFingerprint(filter);
  const { resumeToken } = request;
  const resumed = await resumePoint(groups, shard, fingerprint, resumeToken, startTimeoutMs);
  if (!resumed.ok) return resumed;
  const cursor = new WatchCursor({
    filter,
    history: shard.history,
    snapshot: () => matchingRecords(shard, filter),
    frameBytesMax,
    resumeAfter: resumed.value,
    failIfCompacted: request.failIfCompacted,
  });
  return ok({ shard, fingerprint, cursor });
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
  fingerprint: number,
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
  const { clusterId, generation, positions } = token.value;
  if (clusterId !== groups.clusterId) {
    const metadata = { cluster_id: groups.clusterId, token_cluster_id: clusterId };
    const message = `the token is of cluster ${clusterId}, this is ${groups.clusterId}; start anew`;
    return failed(refusal("CLUSTER_MISMATCH", message, { metadata, field: "resume_token" }));
  }
  const position = positions[0];
  if (generation !== generationOf(shard.state.revision) || position === undefined) {
    return failed(badToken("it is of another generation of the cluster"));
  }
  if (token.value.filterFingerprint !== fingerprint || positions.length !== 1) {
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
    for (const [startKey, { record }] of ranges.entriesFrom(first)) {
      const { endKey } = filter.span;
      if (endKey !== undefined && compareBytes(startKey, endKey) >= 0) break;
      if (matchesRecord(filter, record)) records.push(record);
    }
  }
  return records;
}

function toWatchFrame(
  groups: ClusterGroups,
  shard: ShardGroup,
  fingerprint: number,
  frame: Exclude<CursorFrame, { readonly kind: "compacted" }>,
): api.WatchFrame {
  const header = shardHeader(groups, shard, frame.revision);
  const token = (): Bytes =>
    encodeToken({
      clusterId: groups.clusterId,
      generation: header.generation,
      filterFingerprint: fingerprint,
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

/** Its position would not move, and look like a quiet one (law 21: none missed). */
function cutOff({ access }: ShardGroup): api.Refusal {
  const message = `this server is cut off from group ${access.group}'s leader; resume at another`;
  const metadata = { group: String(access.group) };
  return refusal("TRANSIENT", message, { metadata, retryAfterMs: 0 });
}

function draining(): api.Refusal {
  const message = "this server is stopping; resume at another with the last token";
  return refusal("TRANSIENT", message, { retryAfterMs: 0 });
}
