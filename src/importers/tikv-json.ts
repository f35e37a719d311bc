/**
 * Regions from the JSON of `pd-ctl region` (`{"count": N, "regions": [...]}`, or one region).
 *
 * The text is walked region by region, which gives line numbers, and lets a text that was cut show
 * the regions before the cut.
 */

import { type Bytes, EMPTY_BYTES, hexToBytes } from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { FindingList } from "./findings.ts";
import { checkId, type Region, regionSpan } from "./tikv-region.ts";

interface JsonPiece {
  readonly text: string;
  readonly line: number;
}

interface Pieces {
  readonly objects: readonly JsonPiece[];
  /** What stands between the objects, commas and spaces aside. */
  readonly strays: readonly JsonPiece[];
  /** Whether the list was closed. */
  readonly isWhole: boolean;
}

type Fields = Record<string, unknown>;

const REGIONS = /"regions"\s*:\s*\[/;
const COUNT = /"count"\s*:\s*(\d+)/;

export function readRegionsJson(text: string, findings: FindingList): Region[] {
  const whole = parseFields(text);
  const list = REGIONS.exec(text);
  if (list === null) {
    if (whole === undefined) {
      noteBrokenText(text, "no region is found in it", findings);
      return [];
    }
    return readPiece({ text, line: lineAt(text, text.indexOf("{")) }, findings);
  }
  const pieces = splitObjects(text, list.index + list[0].length);
  for (const stray of pieces.strays) {
    const message = `line ${stray.line}: unexpected ${JSON.stringify(stray.text.slice(0, 40))}`;
    findings.error("malformedLine", [stray.line], message);
  }
  const regions = pieces.objects.flatMap((piece) => readPiece(piece, findings));
  const count = COUNT.exec(text.slice(0, list.index))?.[1] ?? statedCount(whole);
  noteEnd({ text, whole, pieces, count, found: regions.length }, findings);
  return regions;
}

function noteEnd(
  args: {
    readonly text: string;
    readonly whole: Fields | undefined;
    readonly pieces: Pieces;
    readonly count: string | undefined;
    readonly found: number;
  },
  findings: FindingList,
): void {
  const { text, whole, pieces, count, found } = args;
  const of = count === undefined ? `${found}` : `${found} of ${count}`;
  const lastLine = lineAt(text, text.trimEnd().length);
  if (!pieces.isWhole) {
    const message = `the text ends at line ${lastLine} inside the list of regions, after ${of}`;
    findings.error("truncated", [lastLine], message);
  } else if (whole === undefined) {
    noteBrokenText(text, `regions read: ${of}`, findings);
  }
  if (count !== undefined && BigInt(count) !== BigInt(found)) {
    findings.error("countMismatch", [], `the text announces ${count} regions and holds ${found}`);
  }
}

/** A text that is not JSON: cut, when the brackets that it opens are not closed. */
function noteBrokenText(text: string, outcome: string, findings: FindingList): void {
  const lines = [lineAt(text, text.trimEnd().length)];
  if (splitObjects(text, 0).objects.length === 0) {
    findings.error("truncated", lines, `the text ends inside its JSON; ${outcome}`);
  } else findings.error("malformedLine", lines, `the text is not valid JSON; ${outcome}`);
}

/** The balanced objects from here to the end of the list that they are in. */
function splitObjects(text: string, from: number): Pieces {
  const objects: JsonPiece[] = [];
  const strays: JsonPiece[] = [];
  let line = lineAt(text, from);
  let depth = 0;
  let start = from;
  let startLine = line;
  const endStray = (end: number): void => {
    const between = text.slice(start, end);
    const stray = between.replace(/^[\s,]+/, "");
    const leading = between.slice(0, between.length - stray.length);
    const strayLine = startLine + leading.split("\n").length - 1;
    if (stray !== "") strays.push({ text: stray.trimEnd(), line: strayLine });
  };
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === "\n") line++;
    else if (character === '"') at = endOfString(text, at);
    else if (character === "{" || character === "[") {
      if (depth++ > 0) continue;
      endStray(at);
      [start, startLine] = [at, line];
    } else if (character === "}" || character === "]") {
      if (depth === 0) {
        endStray(at);
        return { objects, strays, isWhole: true };
      }
      if (--depth > 0) continue;
      objects.push({ text: text.slice(start, at + 1), line: startLine });
      [start, startLine] = [at + 1, line];
    }
  }
  if (depth === 0) endStray(text.length);
  return { objects, strays, isWhole: false };
}

/** Where the string that starts here ends; the end of the text if it does not. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function readPiece(piece: JsonPiece, findings: FindingList): Region[] {
  const fields = parseFields(piece.text);
  const region =
    fields === undefined ? failed("not a JSON object") : readRegion(fields, piece.line);
  if (region.ok) return [region.value];
  const message = `line ${piece.line}: not a region: ${region.error}`;
  findings.error("malformedLine", [piece.line], message);
  return [];
}

function readRegion(fields: Fields, line: number): Result<Region, string> {
  const regionId = readId(fields["id"]);
  if (!regionId.ok) return failed(`"id": ${regionId.error}`);
  const startKey = readKey(fields["start_key"]);
  if (!startKey.ok) return failed(`"start_key": ${startKey.error}`);
  const endKey = readKey(fields["end_key"]);
  if (!endKey.ok) return failed(`"end_key": ${endKey.error}`);
  const leader = fields["leader"] ?? {};
  if (!isFields(leader)) return failed('"leader": not an object');
  const storeId = leader["store_id"] ?? 0;
  const leaderStoreId = storeId === 0 ? ok("") : readId(storeId);
  if (!leaderStoreId.ok) return failed(`"store_id": ${leaderStoreId.error}`);
  return ok({
    regionId: regionId.value,
    ...regionSpan(startKey.value, endKey.value),
    leaderStoreId: leaderStoreId.value,
    line,
  });
}

/** A missing key is refused: only an empty one is an open end. */
function readKey(value: unknown): Result<Bytes, string> {
  if (value === "") return ok(EMPTY_BYTES);
  const bytes = typeof value === "string" ? hexToBytes(value) : undefined;
  return bytes === undefined ? failed("a key is hex digits") : ok(bytes);
}

/** Ids that JSON.parse may have rounded are refused. */
function readId(value: unknown): Result<string, string> {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    return failed("an id is a whole number below 2^53");
  }
  return checkId(String(value));
}

function statedCount(whole: Fields | undefined): string | undefined {
  const count = whole?.["count"];
  return typeof count === "number" && Number.isSafeInteger(count) ? String(count) : undefined;
}

function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) {
    line++;
  }
  return line;
}
