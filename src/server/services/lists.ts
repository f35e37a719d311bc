/**
 * Lists in pages. All pages of a list of ranges reflect the revision of the first one: what changed
 * since is undone from the recent changes, and COMPACTED says that they no longer reach back.
 */

import type { Bytes } from "../../base/bytes.ts";
import { base64ToBytes, bytesToBase64 } from "../../base/base64.ts";
import { EMPTY_BYTES } from "../../base/bytes.ts";
import type { Revision } from "../../base/brands.ts";
import { brandedUint, type Codec, decode, encode, struct, text, uint } from "../../base/codec.ts";
import { byteString } from "../../base/codec.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { filterFingerprint } from "../../fanout/filter.ts";
import { recordsAt } from "../../fanout/records-at.ts";
import type { NodeRecord } from "../../machine/root/types.ts";
import { sessionRemainingMs } from "../../machine/shard/sessions.ts";
import type { Keyspace } from "../../machine/shard/state.ts";
import type { RangeRecord } from "../../machine/shard/types.ts";
import type * as api from "../../wire/api.ts";
import type { CallContext } from "../../wire/api-services.ts";
import { PAGE_SIZE_DEFAULT } from "../../wire/limits.ts";
import { refusal } from "../../wire/refusal.ts";
import { type ClusterGroups, headerOf } from "./cluster-groups.ts";
import { presentKeyspace, readAnswer, readableKeyspace } from "./reading.ts";
import { recordBytes, shardHeader, toRangeRecord } from "./records.ts";
import { refuseUnavailable } from "./refusals.ts";

/** A page ends when its records weigh more: clients receive at most 4 MiB. */
const PAGE_BYTES_MAX = 1024 * 1024;
/** What a storage node takes beside its addresses and labels, about. */
const NODE_OVERHEAD_BYTES = 200;

interface RangePageToken {
  readonly revision: Revision;
  /** Of keyspace, span, node and unownedOnly: they must be the same on every page. */
  readonly query: number;
  /** The page starts with the first range at or after it. */
  readonly startKey: Bytes;
}

const rangePageToken: Codec<RangePageToken> = struct<RangePageToken>({
  revision: brandedUint<Revision>(),
  query: uint,
  startKey: byteString,
});

export async function listRanges(
  groups: ClusterGroups,
  request: api.ListRangesRequest,
  context: CallContext,
): Promise<Result<api.ListRangesAnswer, api.Refusal>> {
  const place = await readableKeyspace(groups, request, context);
  if (!place.ok) return place;
  const { keyspace, shard } = place.value;
  const { keyspaceId } = keyspace;
  const { span, nodeId, unownedOnly } = request;
  const query = filterFingerprint({ keyspaceId, span, nodeId }) * 2 + (unownedOnly ? 1 : 0);
  const token = request.pageToken === "" ? undefined : parseRangeToken(request.pageToken);
  if (token !== undefined && (!token.ok || token.value.query !== query)) {
    return failed(badPageToken(token.ok ? "it belongs to another list" : token.error));
  }
  const revision = token?.value.revision ?? shard.state.revision;
  if (revision > shard.state.revision) {
    return failed(refuseUnavailable(shard.access, { kind: "unavailable", reason: "behind" }));
  }
  if (revision < shard.history.floor) return failed(compacted(revision, shard.history.floor));
  const startKey = token?.value.startKey ?? span.startKey;
  const local = presentKeyspace(shard, keyspace);
  const present = { from: (key: Bytes): Iterable<RangeRecord> => presentFrom(local, key) };
  const from = { startKey, endKey: span.endKey };
  const past = recordsAt(present, shard.history, { keyspaceId, span: from, revision });
  const { records, next } = takePage(past, request);
  const nextPageToken =
    next === undefined
      ? ""
      : bytesToBase64(encode(rangePageToken, { revision, query, startKey: next }));
  return ok({
    ...readAnswer(groups, shard, request.read),
    header: shardHeader(groups, shard, revision),
    ranges: records.map((record) => toRangeRecord(shard.state, record)),
    nextPageToken,
  });
}

/** Storage nodes in the order of their ids, with what the shards know of their sessions. */
export async function listNodes(
  groups: ClusterGroups,
  request: api.PageRequest,
  context: CallContext,
): Promise<Result<api.ListNodesAnswer, api.Refusal>> {
  for (const access of [groups.root, ...[...groups.shards.values()].map((s) => s.access)]) {
    const permission = await access.read({ kind: "linearizable" }, context.timeoutMs);
    if (permission.kind !== "ready") return failed(refuseUnavailable(access, permission));
  }
  const after = parseNameToken(request.pageToken);
  if (!after.ok) return failed(badPageToken(after.error));
  const nodes: api.NodeRecord[] = [];
  const limit = request.pageSize === 0 ? PAGE_SIZE_DEFAULT : request.pageSize;
  let nextPageToken = "";
  let bytes = 0;
  for (const [nodeId, node] of groups.rootState.nodes.entriesFrom(after.value, "exclusive")) {
    const previous = nodes.at(-1);
    bytes += nodeBytes(node);
    if (previous !== undefined && (nodes.length === limit || bytes > PAGE_BYTES_MAX)) {
      nextPageToken = nameToken(previous.nodeId);
      break;
    }
    const { incarnation, addresses, zone, capacity } = node;
    const labels = Object.fromEntries(node.labels.map(({ name, value }) => [name, value]));
    const facts = { nodeId, incarnation, addresses, zone, labels, capacity };
    nodes.push({ ...facts, ...sessionFacts(groups, nodeId, incarnation) });
  }
  return ok({ header: headerOf(groups, groups.root.group), nodes, nextPageToken });
}

/** What a storage node takes in a page, about. */
function nodeBytes({ addresses, labels }: NodeRecord): number {
  let bytes = NODE_OVERHEAD_BYTES;
  for (const address of addresses) bytes += address.length + 4;
  for (const { name, value } of labels) bytes += name.length + value.length + 8;
  return bytes;
}

function sessionFacts(
  groups: ClusterGroups,
  nodeId: string,
  incarnation: number,
): Pick<api.NodeRecord, "sessionOpen" | "rangesOwned" | "sessionRemainingMs"> {
  let sessionOpen = false;
  let rangesOwned = 0;
  let remaining = 0;
  for (const { state } of groups.shards.values()) {
    const session = state.sessions.get(nodeId);
    if (session === undefined) continue;
    for (const held of session.held.values()) rangesOwned += held.size;
    if (session.incarnation === incarnation) sessionOpen = true;
    remaining = Math.max(remaining, sessionRemainingMs(state, session));
  }
  return { sessionOpen, rangesOwned, sessionRemainingMs: remaining };
}

/** The token of the page that starts after this name. */
export function nameToken(name: string): string {
  return bytesToBase64(encode(text, name));
}

/** The name after which the page starts; the empty one for the first page. */
export function parseNameToken(token: string): Result<string, string> {
  if (token === "") return ok("");
  const bytes = base64ToBytes(token);
  return bytes === undefined ? failed("it is not base64") : decode(text, bytes);
}

export function badPageToken(problem: string): api.Refusal {
  const message = `page_token: ${problem}; start again from the first page`;
  return refusal("INVALID", message, { field: "page_token" });
}

function compacted(revision: Revision, oldest: Revision): api.Refusal {
  const message =
    `revision ${revision} is no longer kept, the oldest is ${oldest};` +
    " start again from the first page";
  const metadata = { revision: String(revision), oldest: String(oldest) };
  return refusal("COMPACTED", message, { metadata });
}

function parseRangeToken(token: string): Result<RangePageToken, string> {
  const bytes = base64ToBytes(token);
  return bytes === undefined ? failed("it is not base64") : decode(rangePageToken, bytes);
}

/** Records that match, until the page is full; `next` is where the following page starts. */
function takePage(
  records: Iterable<RangeRecord>,
  request: api.ListRangesRequest,
): { readonly records: readonly RangeRecord[]; readonly next: Bytes | undefined } {
  const limit = request.pageSize === 0 ? PAGE_SIZE_DEFAULT : request.pageSize;
  const page: RangeRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (request.unownedOnly && record.owner !== undefined) continue;
    if (request.nodeId !== undefined && record.owner?.nodeId !== request.nodeId) continue;
    bytes += recordBytes(record);
    if (page.length === limit || (page.length > 0 && bytes > PAGE_BYTES_MAX)) {
      return { records: page, next: record.startKey };
    }
    page.push(record);
  }
  return { records: page, next: undefined };
}

function* presentFrom(keyspace: Keyspace, startKey: Bytes): Generator<RangeRecord> {
  const first = keyspace.ranges.floor(startKey);
  const from = first?.[0] ?? EMPTY_BYTES;
  for (const [, slot] of keyspace.ranges.entriesFrom(from)) yield slot.record;
}
