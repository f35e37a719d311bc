/**
 * Regions from a table drawn by the mysql client: `+---+` borders, a header that names the columns,
 * one row a region, perhaps `N rows in set` at the end. Several such tables may follow each other.
 *
 * TiDB shows a key as `t_<table>_r_<handle>` and orders it by the number; here the text is the key.
 * When the handles differ in length the two orders differ, which a finding says.
 */

import { type Bytes, EMPTY_BYTES, hexToBytes, utf8ToBytes } from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { keyToText } from "../keys/text.ts";
import type { FindingList } from "./findings.ts";
import { type Line, linesOf } from "./lines.ts";
import { checkId, type Region, regionSpan } from "./tikv-region.ts";

const BORDER = /^\+(?:-+\+)+$/;
const COUNT = /^(?:(\d+) rows? in set|Empty set)/;
const SKIPPED =
  /^(?:$|(?:mysql|mariadb|tidb|mycli)\b[^>]*>|show table\b|split (?:table|region)\b)/i;
const NUMBERS = /^t_(\d+)_(?:r_(-?\d+)$)?/;

const COLUMNS = {
  regionId: "REGION_ID",
  startKey: "START_KEY",
  endKey: "END_KEY",
  leaderStoreId: "LEADER_STORE_ID",
} as const;

type ColumnIndexes = Record<keyof typeof COLUMNS, number> & { readonly count: number };

interface TableReader {
  readonly findings: FindingList;
  readonly regions: Region[];
  /** Kinds and lengths of the numbers in display forms: `table 2`, `handle 5`, `negative 3`. */
  readonly numberForms: Set<string>;
  columns: ColumnIndexes | undefined;
  border: string | undefined;
  /** Borders seen in the present table: above the header, below it, at the end. */
  borders: number;
  rowsInTable: number;
}

export function readRegionsTable(text: string, findings: FindingList): Region[] {
  const reader: TableReader = {
    findings,
    regions: [],
    numberForms: new Set(),
    columns: undefined,
    border: undefined,
    borders: 0,
    rowsInTable: 0,
  };
  let lastLine = 0;
  for (const line of linesOf(text)) {
    lastLine = line.number;
    const read = readLine(line, reader);
    if (read.ok) continue;
    const kind = line.isEnded ? "malformedLine" : "truncated";
    findings.error(kind, [line.number], `line ${line.number}: ${read.error}`);
  }
  if (reader.borders % 3 !== 0) {
    findings.error("truncated", [lastLine], "the table has no line below its last row");
  }
  noteKeyForms(reader);
  return reader.regions;
}

function readLine(line: Line, reader: TableReader): Result<undefined, string> {
  const text = line.text.trim();
  if (BORDER.test(text)) return readBorder(text, reader);
  const count = COUNT.exec(text);
  if (count !== null) {
    const said = Number(count[1] ?? 0);
    if (said === reader.rowsInTable) return ok(undefined);
    const message = `${said} rows in set, but the table has ${reader.rowsInTable}`;
    reader.findings.error("countMismatch", [line.number], `line ${line.number}: ${message}`);
    return ok(undefined);
  }
  if (!text.startsWith("|")) {
    return SKIPPED.test(text) ? ok(undefined) : failed("not a line of a table of regions");
  }
  if (!text.endsWith("|") || text.length < 2) return failed("the row has no end");
  const cells = text
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
  if (reader.borders % 3 === 1) return readHeader(cells, reader);
  if (reader.borders % 3 !== 2) return failed("a row outside a table");
  return readRow(cells, line.number, reader);
}

function readBorder(text: string, reader: TableReader): Result<undefined, string> {
  const isTop = reader.borders % 3 === 0;
  if (!isTop && text !== reader.border) return failed("the line does not fit its table");
  if (isTop) {
    reader.border = text;
    reader.columns = undefined;
    reader.rowsInTable = 0;
  }
  reader.borders++;
  return ok(undefined);
}

function readHeader(cells: readonly string[], reader: TableReader): Result<undefined, string> {
  const names = cells.map((cell) => cell.toUpperCase());
  const missing = Object.values(COLUMNS).filter((name) => !names.includes(name));
  if (missing.length > 0) return failed(`the table has no column ${missing.join(", ")}`);
  reader.columns = {
    count: cells.length,
    regionId: names.indexOf(COLUMNS.regionId),
    startKey: names.indexOf(COLUMNS.startKey),
    endKey: names.indexOf(COLUMNS.endKey),
    leaderStoreId: names.indexOf(COLUMNS.leaderStoreId),
  };
  return ok(undefined);
}

function readRow(
  cells: readonly string[],
  line: number,
  reader: TableReader,
): Result<undefined, string> {
  const { columns } = reader;
  reader.rowsInTable++;
  if (columns === undefined) return failed("a row of a table without the columns of regions");
  if (cells.length !== columns.count) {
    return failed(`${cells.length} cells in a table of ${columns.count} columns`);
  }
  const regionId = checkId(cells[columns.regionId] ?? "");
  if (!regionId.ok) return failed(`${COLUMNS.regionId}: ${regionId.error}`);
  const startKey = readKey(cells[columns.startKey] ?? "", line, reader);
  if (!startKey.ok) return failed(`${COLUMNS.startKey}: ${startKey.error}`);
  const endKey = readKey(cells[columns.endKey] ?? "", line, reader);
  if (!endKey.ok) return failed(`${COLUMNS.endKey}: ${endKey.error}`);
  const leader = cells[columns.leaderStoreId] ?? "";
  const leaderStoreId = /^(?:0|null|)$/i.test(leader) ? ok("") : checkId(leader);
  if (!leaderStoreId.ok) return failed(`${COLUMNS.leaderStoreId}: ${leaderStoreId.error}`);
  reader.regions.push({
    regionId: regionId.value,
    ...regionSpan(startKey.value, endKey.value),
    leaderStoreId: leaderStoreId.value,
    line,
  });
  return ok(undefined);
}

function readKey(text: string, line: number, reader: TableReader): Result<Bytes, string> {
  if (text === "") return ok(EMPTY_BYTES);
  if (text.startsWith("t_")) {
    const [, tableId, handle] = NUMBERS.exec(text) ?? [];
    if (tableId !== undefined) reader.numberForms.add(`table ${tableId.length}`);
    if (handle !== undefined) {
      const kind = handle.startsWith("-") ? "negative" : "handle";
      reader.numberForms.add(`${kind} ${handle.length}`);
    }
    return ok(utf8ToBytes(text));
  }
  const bytes = hexToBytes(text);
  if (bytes === undefined) return failed("neither a decoded key (t_...) nor hex");
  const message = `line ${line}: ${text} is no decoded key; read as the bytes ${keyToText(bytes)}`;
  reader.findings.info("rawHexBoundary", [line], message);
  return ok(bytes);
}

function noteKeyForms(reader: TableReader): void {
  const { numberForms, findings } = reader;
  if (numberForms.size === 0) return;
  const kinds = [...numberForms].map((form) => form.split(" ")[0]);
  const isOrdered = new Set(kinds).size === numberForms.size && !kinds.includes("negative");
  const what = "boundaries are TiDB's display forms, ordered as text";
  if (isOrdered) findings.info("textOrder", [], `${what}: keys to look up must have this form`);
  else {
    const numbers = "numbers of different lengths, and negative ones";
    findings.warning("textOrder", [], `${what}: TiDB orders ${numbers}, otherwise`);
  }
}
