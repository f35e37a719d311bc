/**
 * What every importer gives: the ranges of another system's map, who owns them, and what is wrong
 * with it. Only a map that tiles -inf..+inf can be imported (law 24).
 */

import { compareBytes } from "../base/bytes.ts";
import { compareStrings } from "../base/ordered-map.ts";
import type { Span } from "../base/span.ts";
import type { Finding, FindingKind } from "./findings.ts";

export type MapFormat = "jsonl" | "cassandra-ring" | "tikv-regions";

export const MAP_FORMATS: readonly MapFormat[] = ["jsonl", "cassandra-ring", "tikv-regions"];

export interface ImportedRange {
  readonly span: Span;
  /** The other system's name for the owner; undefined when nobody owns the range. */
  readonly owner: string | undefined;
  readonly source: { readonly line: number };
  /** The other system's id of the range, where it has one. */
  readonly sourceId?: string;
}

export interface ImportedOwner {
  readonly name: string;
  /** Where the source gives it. */
  readonly address?: string;
  /** How many of the map's ranges it owns. */
  readonly ranges: number;
}

export interface ImportedMap {
  readonly format: MapFormat;
  readonly kind: "range" | "hash";
  /** Present in hash maps: keys are tokens (keys/token.ts). */
  readonly hashFunction?: "given";
  /** Sorted by start key. A range that wraps around a ring is two of them, with one source line. */
  readonly ranges: readonly ImportedRange[];
  /** Ranges as the source counts them: a wrapping one once. */
  readonly sourceRanges: number;
  /** Sorted by severity; of each kind the first FINDINGS_PER_KIND_MAX. */
  readonly findings: readonly Finding[];
  readonly findingCounts: ReadonlyMap<FindingKind, number>;
  /** Sorted by name, in code units. */
  readonly owners: readonly ImportedOwner[];
}

/** Whether the map may become a keyspace: no errors, and its ranges tile -inf..+inf. */
export function isImportable(map: ImportedMap): boolean {
  return !map.findings.some((finding) => finding.severity === "error") && tiles(map.ranges);
}

export function tiles(ranges: readonly ImportedRange[]): boolean {
  let end: Span["endKey"] = new Uint8Array(0);
  for (const { span } of ranges) {
    if (end === undefined || compareBytes(span.startKey, end) !== 0) return false;
    if (span.endKey !== undefined && compareBytes(span.startKey, span.endKey) >= 0) return false;
    end = span.endKey;
  }
  return end === undefined;
}

/** The owners of these ranges, counted and sorted by name. */
export function ownersOf(
  ranges: readonly ImportedRange[],
  addressOf: (name: string) => string | undefined,
): ImportedOwner[] {
  const counts = new Map<string, number>();
  for (const { owner } of ranges) {
    if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  const owners = [...counts].map(([name, count]) => {
    const address = addressOf(name);
    return address === undefined ? { name, ranges: count } : { name, address, ranges: count };
  });
  return owners.toSorted((a, b) => compareStrings(a.name, b.name));
}

/** The finding that says how many owners there are and how evenly they share the ranges. */
export function ownerCountFinding(owners: readonly ImportedOwner[]): Finding {
  const counts = owners.map((owner) => owner.ranges).toSorted((a, b) => a - b);
  const [least, most] = [counts[0] ?? 0, counts.at(-1) ?? 0];
  const share = least === most ? `${least}` : `${least} to ${most}`;
  const message =
    owners.length === 0
      ? "no range has an owner"
      : `owners: ${owners.length}; ranges of each: ${share}`;
  return { kind: "ownerCount", severity: "info", message, lines: [] };
}
