/**
 * What a watch is interested in. A change matches if the record before or after it does (law 21).
 */

import { crc32c } from "../base/crc32c.ts";
import { byteString, type Codec, encode, optional, struct, text, uint } from "../base/codec.ts";
import { type Span, spansOverlap } from "../base/span.ts";
import type { RecordChange } from "../machine/shard/events.ts";
import type { RangeRecord } from "../machine/shard/types.ts";

export interface WatchFilter {
  /** undefined: all keyspaces; the span is then the whole one. */
  readonly keyspaceId: number | undefined;
  readonly span: Span;
  /** Ranges whose owner, successor or intended owner is this node. undefined: all. */
  readonly nodeId: string | undefined;
}

export function matchesRecord(filter: WatchFilter, record: RangeRecord): boolean {
  if (filter.keyspaceId !== undefined) {
    if (record.keyspaceId !== filter.keyspaceId || !spansOverlap(filter.span, record)) return false;
  }
  const { nodeId } = filter;
  return (
    nodeId === undefined ||
    record.owner?.nodeId === nodeId ||
    record.successor?.nodeId === nodeId ||
    record.intendedNodeId === nodeId
  );
}

export function matchesChange(filter: WatchFilter, { before, after }: RecordChange): boolean {
  return (
    (before !== undefined && matchesRecord(filter, before)) ||
    (after !== undefined && matchesRecord(filter, after))
  );
}

const filterCodec: Codec<WatchFilter> = struct<WatchFilter>({
  keyspaceId: optional(uint),
  span: struct<Span>({ startKey: byteString, endKey: optional(byteString) }),
  nodeId: optional(text),
});

/** Equal for equal filters; a resume token is bound to it. */
export function filterFingerprint(filter: WatchFilter): number {
  return crc32c(encode(filterCodec, filter));
}
