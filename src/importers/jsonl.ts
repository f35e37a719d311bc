/**
 * Cadastre's own exchange form of a map: one JSON object a line,
 * `{"start": KEY, "end": KEY, "owner": "node-1"}`.
 *
 * KEY is a string in text form (keys/text.ts), or `{"utf8": ...}`, `{"hex": ...}`, or both. An
 * open end is absent, null, or the empty key; an absent or null owner is nobody. Lines that are
 * blank or start with `#` are skipped. Unknown and repeated fields are refused, so that a misspelt
 * "owner" is not an unowned range.
 */

import { type Bytes, EMPTY_BYTES } from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { isValidSpan, type Span } from "../base/span.ts";
import { jsonToKey, keyToText } from "../keys/text.ts";
import type { ParsedMap } from "./assemble.ts";
import { FindingList, linesToText } from "./findings.ts";
import type { ImportedMap, ImportedRange } from "./imported-map.ts";
import { type Line, linesOf, type TextInput } from "./lines.ts";
import { checkOwnerName } from "./owner-name.ts";
import { invertedText } from "./span-name.ts";

/** Every string of a JSON text, and whether it is a field's name. */
const JSON_STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

export function parseJsonl(input: TextInput): ParsedMap {
  const findings = new FindingList();
  const ranges: ImportedRange[] = [];
  const emptyBoundaryLines: number[] = [];
  const ownerlessLines: number[] = [];
  for (const line of linesOf(input)) {
    if (/^\s*(?:#|$)/.test(line.text)) continue;
    const row = readRow(line);
    if (!row.ok) {
      // A text that was cut ends in the middle of a line; one that is merely wrong does not.
      const wasCut = !line.isEnded && !line.text.trimEnd().endsWith("}");
      const kind = wasCut ? "truncated" : "malformedLine";
      findings.error(kind, [line.number], `line ${line.number}: ${row.error}`);
      continue;
    }
    const { span, owner, hasEmptyBoundary } = row.value;
    if (hasEmptyBoundary) emptyBoundaryLines.push(line.number);
    if (!isValidSpan(span)) {
      findings.error("inverted", [line.number], `line ${line.number}: ${invertedText(span)}`);
      continue;
    }
    if (owner === undefined) ownerlessLines.push(line.number);
    ranges.push({ span, owner, source: { line: line.number } });
  }
  if (emptyBoundaryLines.length > 0) {
    const where = linesToText(emptyBoundaryLines);
    findings.info("emptyBoundary", emptyBoundaryLines, `empty boundaries are open ends: ${where}`);
  }
  if (ownerlessLines.length > 0) {
    const where = linesToText(ownerlessLines);
    findings.info("missingOwner", ownerlessLines, `ranges without an owner: ${where}`);
  }
  return { format: "jsonl", kind: "range", ranges, sourceRanges: ranges.length, findings };
}

/** The map's ranges in this form, one line each, line ends included. Reading it gives them back. */
export function* mapToJsonl(map: Pick<ImportedMap, "ranges">): Generator<string> {
  for (const { span, owner } of map.ranges) {
    const row = {
      start: span.startKey.length === 0 ? null : keyToText(span.startKey),
      end: span.endKey === undefined ? null : keyToText(span.endKey),
      ...(owner === undefined ? {} : { owner }),
    };
    yield `${JSON.stringify(row)}\n`;
  }
}

interface Row {
  readonly span: Span;
  readonly owner: string | undefined;
  readonly hasEmptyBoundary: boolean;
}

function readRow(line: Line): Result<Row, string> {
  const fields = parseObject(line.text);
  if (!fields.ok) return fields;
  const { start, end, owner, ...others } = fields.value;
  const other = Object.keys(others)[0];
  if (other !== undefined) return failed(`unknown field ${JSON.stringify(other)}`);
  if (fieldNames(line.text) > countFields(fields.value)) return failed("a field occurs twice");
  const startKey = readBound(start);
  if (!startKey.ok) return failed(`"start": ${startKey.error}`);
  const endKey = readBound(end);
  if (!endKey.ok) return failed(`"end": ${endKey.error}`);
  const ownerName = readOwner(owner);
  if (!ownerName.ok) return failed(`"owner": ${ownerName.error}`);
  const isOpenEnd = endKey.value === undefined || endKey.value.length === 0;
  return ok({
    span: { startKey: startKey.value ?? EMPTY_BYTES, endKey: isOpenEnd ? undefined : endKey.value },
    owner: ownerName.value,
    hasEmptyBoundary: startKey.value?.length === 0 || endKey.value?.length === 0,
  });
}

function parseObject(text: string): Result<Record<string, unknown>, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed("not a JSON object");
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? ok(value as Record<string, unknown>) : failed("not a JSON object");
}

/** Field names in the text: JSON.parse silently keeps the last of two equal ones. */
function fieldNames(text: string): number {
  let count = 0;
  for (const match of text.matchAll(JSON_STRINGS)) if (match[1] !== undefined) count++;
  return count;
}

function countFields(row: Record<string, unknown>): number {
  let count = 0;
  for (const value of Object.values(row)) {
    count++;
    if (typeof value === "object" && value !== null) count += Object.keys(value).length;
  }
  return count;
}

function readBound(value: unknown): Result<Bytes | undefined, string> {
  return value === undefined || value === null ? ok(undefined) : jsonToKey(value);
}

function readOwner(value: unknown): Result<string | undefined, string> {
  if (value === undefined || value === null) return ok(undefined);
  return typeof value === "string" ? checkOwnerName(value) : failed("must be a string");
}
