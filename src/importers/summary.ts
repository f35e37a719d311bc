/**
 * An imported map as lines for the dry run of the CLI: its size, owners, ends and findings, and
 * whether it can be imported.
 */

import type { Finding, FindingKind } from "./findings.ts";
import { type ImportedMap, type ImportedRange, isImportable } from "./imported-map.ts";
import { spanName } from "./span-name.ts";

export interface SummaryOptions {
  /** Findings shown of each kind. */
  readonly findingsPerKind?: number;
  readonly ownersMax?: number;
}

export function summaryLines(map: ImportedMap, options: SummaryOptions = {}): string[] {
  const { findingsPerKind = 5, ownersMax = 20 } = options;
  return [
    sizeLine(map),
    ...endLines(map),
    ...ownerLines(map, ownersMax),
    ...findingLines(map, findingsPerKind),
    isImportable(map) ? "can be imported" : "cannot be imported",
  ];
}

function sizeLine(map: ImportedMap): string {
  const count = map.ranges.length;
  const split = count - map.sourceRanges;
  const note = split > 0 ? ` (${map.sourceRanges} in the source)` : "";
  const keys = map.kind === "hash" ? "tokens" : "keys";
  return `${map.format}: ${count} ${count === 1 ? "range" : "ranges"} of ${keys}${note}`;
}

function endLines(map: ImportedMap): string[] {
  const [first, last] = [map.ranges[0], map.ranges.at(-1)];
  if (first === undefined || last === undefined) return [];
  const line = (range: ImportedRange): string =>
    `${spanName(range.span, map.kind)} ${range.owner ?? "(no owner)"}, line ${range.source.line}`;
  return first === last
    ? [`only range: ${line(first)}`]
    : [`first range: ${line(first)}`, `last range: ${line(last)}`];
}

function ownerLines(map: ImportedMap, ownersMax: number): string[] {
  const lines = map.owners.slice(0, ownersMax).map(({ name, address, ranges }) => {
    const at = address === undefined || address === name ? "" : ` at ${address}`;
    return `owner ${name}${at}: ${ranges} ${ranges === 1 ? "range" : "ranges"}`;
  });
  const more = map.owners.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more owners`] : lines;
}

function findingLines(map: ImportedMap, perKind: number): string[] {
  const byKind = new Map<FindingKind, Finding[]>();
  for (const finding of map.findings) {
    const ofKind = byKind.get(finding.kind);
    if (ofKind === undefined) byKind.set(finding.kind, [finding]);
    else ofKind.push(finding);
  }
  return [...byKind].flatMap(([kind, findings]) => {
    const shown = findings.slice(0, perKind);
    const lines = shown.map(({ severity, message }) => `${severity} ${kind}: ${message}`);
    const more = (map.findingCounts.get(kind) ?? findings.length) - shown.length;
    return more > 0 ? [...lines, `and ${more} more of ${kind}`] : lines;
  });
}
