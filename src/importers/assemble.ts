/**
 * From the ranges that a parser found to an ImportedMap: sorts them, finds where they do not tile
 * the key space (law 24), and sums up what else is worth knowing.
 *
 * A range keyspace's outer ends: a table's part of a key space starts and ends somewhere. Such a
 * map is refused unless `extendOuterBounds` asks for its first and last range to be stretched to
 * -inf and +inf. A ring has no outer ends; what it does not cover is a gap.
 */

import { bytesToUtf8, compareBytes, EMPTY_BYTES } from "../base/bytes.ts";
import { compareEndKeys, type Span, spansEqual } from "../base/span.ts";
import { keyToText } from "../keys/text.ts";
import { type FindingList, linesToText } from "./findings.ts";
import {
  type ImportedMap,
  type ImportedRange,
  type MapFormat,
  ownerCountFinding,
  ownersOf,
} from "./imported-map.ts";
import { spanName } from "./span-name.ts";

export interface ParsedMap {
  readonly format: MapFormat;
  readonly kind: "range" | "hash";
  /** In any order; each holds at least one key. */
  readonly ranges: readonly ImportedRange[];
  readonly sourceRanges: number;
  readonly findings: FindingList;
  readonly addressOf?: (owner: string) => string | undefined;
}

export interface AssembleOptions {
  readonly extendOuterBounds: boolean;
}

export function assembleMap(parsed: ParsedMap, options: AssembleOptions): ImportedMap {
  const { format, kind, findings } = parsed;
  const sorted = parsed.ranges.toSorted(compareRanges);
  const ranges = kind === "range" ? closeOuterBounds(sorted, findings, options) : sorted;
  if (ranges.length === 0) findings.error("noRanges", [], "the text holds no range");
  else checkTiling(ranges, kind, findings);
  if (kind === "range") noteBinaryBoundaries(ranges, findings);
  const owners = ownersOf(ranges, parsed.addressOf ?? (() => undefined));
  findings.add(ownerCountFinding(owners));
  return {
    format,
    kind,
    ...(kind === "hash" ? { hashFunction: "given" as const } : {}),
    ranges,
    sourceRanges: parsed.sourceRanges,
    findings: findings.toList(),
    findingCounts: findings.toCounts(),
    owners,
  };
}

function compareRanges(a: ImportedRange, b: ImportedRange): number {
  return (
    compareBytes(a.span.startKey, b.span.startKey) ||
    compareEndKeys(a.span.endKey, b.span.endKey) ||
    a.source.line - b.source.line
  );
}

function closeOuterBounds(
  sorted: readonly ImportedRange[],
  findings: FindingList,
  options: AssembleOptions,
): readonly ImportedRange[] {
  const ranges = [...sorted];
  const severity = options.extendOuterBounds ? "warning" : "error";
  const [first, last] = [ranges[0], ranges[furthestRange(ranges)]];
  if (first !== undefined && first.span.startKey.length > 0) {
    const key = keyToText(first.span.startKey);
    const bound = `the first range (line ${first.source.line}) starts at ${key}`;
    const message = options.extendOuterBounds
      ? `${bound} and is extended to -inf`
      : `${bound}: nothing covers the keys before it`;
    findings.add({ kind: "notCoveringStart", severity, message, lines: [first.source.line] });
  }
  if (last?.span.endKey !== undefined) {
    const key = keyToText(last.span.endKey);
    const bound = `the last range (line ${last.source.line}) ends at ${key}`;
    const message = options.extendOuterBounds
      ? `${bound} and is extended to +inf`
      : `${bound}: nothing covers the keys from there on`;
    findings.add({ kind: "notCoveringEnd", severity, message, lines: [last.source.line] });
  }
  if (!options.extendOuterBounds) return ranges;
  return ranges.map((range) => ({
    ...range,
    span: {
      startKey: range === first ? EMPTY_BYTES : range.span.startKey,
      endKey: range === last ? undefined : range.span.endKey,
    },
  }));
}

/** The index of the range that ends last. */
function furthestRange(ranges: readonly ImportedRange[]): number {
  let furthest = 0;
  for (const [at, range] of ranges.entries()) {
    const reach = ranges[furthest]?.span.endKey;
    if (compareEndKeys(range.span.endKey, reach) > 0) furthest = at;
  }
  return furthest;
}

function checkTiling(
  ranges: readonly ImportedRange[],
  kind: "range" | "hash",
  findings: FindingList,
): void {
  // The range that reaches furthest so far: not always the one before, when ranges overlap.
  let furthest: ImportedRange | undefined;
  let previous: ImportedRange | undefined;
  for (const range of ranges) {
    if (previous !== undefined && furthest !== undefined) {
      if (spansEqual(previous.span, range.span)) {
        findings.error(
          "duplicate",
          linesOfBoth(previous, range),
          duplicateText(previous, range, kind),
        );
      } else {
        checkJoint(furthest, range, kind, findings);
      }
    }
    previous = range;
    if (furthest === undefined || compareEndKeys(range.span.endKey, furthest.span.endKey) > 0) {
      furthest = range;
    }
  }
  const first = ranges[0];
  if (kind === "hash" && first !== undefined && furthest !== undefined) {
    checkRingJoint(first, furthest, findings);
  }
}

function checkJoint(
  before: ImportedRange,
  after: ImportedRange,
  kind: "range" | "hash",
  findings: FindingList,
): void {
  const lines = linesOfBoth(before, after);
  const { endKey } = before.span;
  const order = endKey === undefined ? -1 : compareBytes(after.span.startKey, endKey);
  if (order < 0) {
    const [a, b] = [spanName(before.span, kind), spanName(after.span, kind)];
    findings.error("overlap", lines, `${a} and ${b} overlap (${linesToText(lines)})`);
  } else if (order > 0 && endKey !== undefined) {
    const hole = spanName({ startKey: endKey, endKey: after.span.startKey }, kind);
    findings.error("gap", lines, `nothing covers ${hole}, between ${linesToText(lines)}`);
  }
}

/** The one joint of a ring that lies across the ends of the token space. */
function checkRingJoint(first: ImportedRange, last: ImportedRange, findings: FindingList): void {
  const holes: Span[] = [];
  if (last.span.endKey !== undefined) holes.push({ startKey: last.span.endKey, endKey: undefined });
  if (first.span.startKey.length > 0) {
    holes.push({ startKey: EMPTY_BYTES, endKey: first.span.startKey });
  }
  if (holes.length === 0) return;
  const names = holes.map((hole) => spanName(hole, "hash")).join(" and ");
  const lines = linesOfBoth(last, first);
  findings.error("gap", lines, `nothing covers ${names}, between ${linesToText(lines)}`);
}

function linesOfBoth(a: ImportedRange, b: ImportedRange): number[] {
  return a.source.line === b.source.line ? [a.source.line] : [a.source.line, b.source.line];
}

function duplicateText(a: ImportedRange, b: ImportedRange, kind: "range" | "hash"): string {
  const owners = [a, b].map((range) => range.owner ?? "nobody");
  const who = owners[0] === owners[1] ? `both of ${owners[0]}` : `of ${owners.join(" and of ")}`;
  return `${spanName(a.span, kind)} occurs twice, ${who} (${linesToText(linesOfBoth(a, b))})`;
}

function noteBinaryBoundaries(ranges: readonly ImportedRange[], findings: FindingList): void {
  const boundaries = ranges.map((range) => ({ key: range.span.startKey, range }));
  const last = ranges.at(-1);
  if (last?.span.endKey !== undefined) boundaries.push({ key: last.span.endKey, range: last });
  const binary = boundaries.filter(({ key }) => bytesToUtf8(key) === undefined);
  const first = binary[0];
  if (first === undefined) return;
  const count = binary.length === 1 ? "1 boundary is" : `${binary.length} boundaries are`;
  const lines = binary.map(({ range }) => range.source.line);
  const where = `${keyToText(first.key)} (line ${first.range.source.line})`;
  findings.info("binaryBoundary", lines, `${count} not UTF-8 text; the first is ${where}`);
}
