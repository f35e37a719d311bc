// Cuts an imported map into the parts in which it is staged: each at most 10,000 rows, and well
// within what one entry of the log may hold.
import { utf8ToBytes } from "../../base/bytes.ts";
import type { ImportedRange } from "../../importers/imported-map.ts";
import type { ImportRow } from "../../wire/api.ts";
import { BULK_BYTES_MAX } from "../../wire/limits.ts";

export const PART_ROWS_MAX = 10_000;
/** Of a row beside its key and node id: tags and lengths, generously. */
const ROW_OVERHEAD_BYTES = 16;

/** The rows in order; together the parts hold every row once. */
export function importParts(ranges: readonly ImportedRange[]): ImportRow[][] {
  const parts: ImportRow[][] = [];
  let part: ImportRow[] = [];
  let bytes = 0;
  for (const { span, owner } of ranges) {
    const row = { startKey: span.startKey, intendedNodeId: owner };
    const rowBytes = rowBytesOf(row);
    if (part.length > 0 && (part.length === PART_ROWS_MAX || bytes + rowBytes > BULK_BYTES_MAX)) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(row);
    bytes += rowBytes;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

export function rowBytesOf(row: ImportRow): number {
  const nodeIdBytes = row.intendedNodeId === undefined ? 0 : utf8ToBytes(row.intendedNodeId).length;
  return row.startKey.length + nodeIdBytes + ROW_OVERHEAD_BYTES;
}
