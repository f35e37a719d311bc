/**
 * Cassandra's token ring: `nodetool ring` (with -pp or -r as well, one table per datacenter) and
 * the `TokenRange(...)` lines of `nodetool describering`. Gives a hash map over tokens.
 *
 * A row of `ring` owns the tokens after its predecessor's up to its own, over all datacenters
 * together: what Cassandra calls the primary range. A table with several tokens starts with a line
 * that holds only the last token; it is no range, but tells whether the table is whole. Nodes that
 * are joining own nothing yet. In `describering` the first endpoint of a range is its owner.
 */

import { compareStrings } from "../base/ordered-map.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { textToToken } from "../keys/token.ts";
import type { ParsedMap } from "./assemble.ts";
import { FindingList, linesToText } from "./findings.ts";
import type { ImportedRange } from "./imported-map.ts";
import { type Line, linesOf, type TextInput } from "./lines.ts";
import { checkOwnerName } from "./owner-name.ts";
import { type RingRange, ringRangeToSpans, ringRangeToText } from "./ring-tokens.ts";
import { checkTable, type RingTable, tablesToRanges } from "./ring-table.ts";

export interface CassandraRingOptions {
  /** Reads this datacenter's table only, as a ring of its own. */
  readonly datacenter?: string;
}

/** Longer lines are no rows: patterns that try again and again never see megabytes. */
const ROW_LENGTH_MAX = 4_000;

const SKIPPED = new RegExp(
  [
    String.raw`^\s*$`,
    String.raw`^=+\s*$`,
    String.raw`^\s*(?:warning:|note:|to view status|schema version:|keyspace:)`,
    String.raw`^\s*tokenrange:\s*$`,
    String.raw`^[$#%>]+\s*nodetool\b`,
  ].join("|"),
  "i",
);
const DATACENTER = /^Datacenter:\s*(\S.*?)\s*$/;
const HEADER = /^Address\s.*\bToken\s*$/;
const LAST_TOKEN = /^\s*(-?\d+)\s*$/;
const ROW =
  /^(\S+)\s+\S.*?\s*(?:Up|Down|\?)\s+(Normal|Leaving|Joining|Moving|\?)\s+\S.*\s(-?\d+)\s*$/;
const TOKEN_RANGE =
  /^\s*TokenRange\(start_token:(-?\d+),\s*end_token:(-?\d+),\s*endpoints:\[([^\]]*)\].*\)\s*$/;
const ENDPOINT_DETAILS = /\bhost:([^,)\s]{1,255}),\s*datacenter:([^,)\s]{1,255})/g;

interface RingText {
  readonly tables: RingTable[];
  readonly described: RingRange[];
  /** Datacenters in which each host was said to be. */
  readonly datacentersOfHost: Map<string, Set<string>>;
  readonly findings: FindingList;
}

export function parseCassandraRing(input: TextInput, options: CassandraRingOptions): ParsedMap {
  const findings = new FindingList();
  const text: RingText = { tables: [], described: [], datacentersOfHost: new Map(), findings };
  for (const line of linesOf(input)) {
    const read = readLine(line, text);
    if (read.ok) continue;
    const kind = line.isEnded ? "malformedLine" : "truncated";
    findings.error(kind, [line.number], `line ${line.number}: ${read.error}`);
  }
  for (const table of text.tables) checkTable(table, findings);
  const ringRanges = tablesToRanges(text.tables, options.datacenter, findings);
  if (ringRanges.length > 0 && text.described.length > 0) {
    const lines = [ringRanges[0]?.line ?? 0, text.described[0]?.line ?? 0];
    const message = `a ring table and TokenRange lines in one text (${linesToText(lines)})`;
    findings.error("malformedLine", lines, message);
  }
  noteDatacenterConflicts(text);
  const all = [...ringRanges, ...text.described];
  return {
    format: "cassandra-ring",
    kind: "hash",
    ranges: all.flatMap((range) => importedRanges(range, findings)),
    sourceRanges: all.length,
    findings,
    addressOf: (owner) => owner,
  };
}

function readLine(line: Line, into: RingText): Result<undefined, string> {
  const { text, number } = line;
  if (SKIPPED.test(text)) return ok(undefined);
  if (text.trimStart().startsWith("TokenRange(")) return readTokenRange(line, into);
  if (text.length > ROW_LENGTH_MAX) return failed("too long for a row of a ring");
  const datacenter = DATACENTER.exec(text)?.[1];
  if (datacenter !== undefined) {
    into.tables.push({ datacenter, line: number, rows: [], lastToken: undefined });
    return ok(undefined);
  }
  let table = into.tables.at(-1);
  if (table === undefined) {
    table = { datacenter: undefined, line: number, rows: [], lastToken: undefined };
    into.tables.push(table);
  }
  if (HEADER.test(text)) return ok(undefined);
  const lastToken = LAST_TOKEN.exec(text)?.[1];
  if (lastToken !== undefined) return readLastToken(lastToken, number, table);
  return readRow(line, table);
}

function readLastToken(text: string, line: number, table: RingTable): Result<undefined, string> {
  const token = textToToken(text);
  if (!token.ok) return token;
  if (table.lastToken !== undefined || table.rows.length > 0) {
    return failed("a token without an address");
  }
  table.lastToken = { token: token.value, line };
  return ok(undefined);
}

function readRow(line: Line, table: RingTable): Result<undefined, string> {
  const match = ROW.exec(line.text);
  if (match === null) return failed("not a line of nodetool ring or describering");
  const [, address = "", nodeState = "", tokenText = ""] = match;
  const owner = checkOwnerName(address);
  if (!owner.ok) return owner;
  const token = textToToken(tokenText);
  if (!token.ok) return token;
  const isJoining = nodeState === "Joining";
  table.rows.push({ owner: owner.value, token: token.value, line: line.number, isJoining });
  return ok(undefined);
}

function readTokenRange(line: Line, into: RingText): Result<undefined, string> {
  const match = TOKEN_RANGE.exec(line.text);
  if (match === null) return failed("not a whole TokenRange(...)");
  const [, startText = "", endText = "", endpoints = ""] = match;
  const previous = textToToken(startText);
  if (!previous.ok) return failed(`start_token: ${previous.error}`);
  const token = textToToken(endText);
  if (!token.ok) return failed(`end_token: ${token.error}`);
  const name = endpoints.split(",")[0]?.trim() ?? "";
  const owner = name === "" ? ok(undefined) : checkOwnerName(name);
  if (!owner.ok) return owner;
  if (owner.value === undefined) {
    const message = `line ${line.number}: the range has no endpoint`;
    into.findings.warning("missingOwner", [line.number], message);
  }
  into.described.push({
    previous: previous.value,
    token: token.value,
    owner: owner.value,
    line: line.number,
  });
  for (const [, host = "", datacenter = ""] of line.text.matchAll(ENDPOINT_DETAILS)) {
    const known = into.datacentersOfHost.get(host) ?? new Set();
    into.datacentersOfHost.set(host, known.add(datacenter));
  }
  return ok(undefined);
}

function noteDatacenterConflicts(text: RingText): void {
  for (const [host, datacenters] of text.datacentersOfHost) {
    if (datacenters.size < 2) continue;
    const names = [...datacenters].toSorted(compareStrings).join(" and ");
    text.findings.warning("datacenterConflict", [], `${host} is said to be in ${names}`);
  }
}

function importedRanges(range: RingRange, findings: FindingList): ImportedRange[] {
  const spans = ringRangeToSpans(range);
  const isWhole = range.previous === range.token;
  if (isWhole || spans.length > 1) {
    const what = isWhole ? "is the whole ring" : "wraps: kept as two ranges of one owner";
    const message = `${ringRangeToText(range)} (line ${range.line}) ${what}`;
    findings.info("wrapping", [range.line], message);
  }
  return spans.map((span) => ({ span, owner: range.owner, source: { line: range.line } }));
}
