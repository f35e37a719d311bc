/**
 * Tables of `nodetool ring`: whether each is whole, and the ranges of the ring that they make.
 *
 * The tables of several datacenters share one token space. All together they make one ring, unless
 * one datacenter is asked for.
 */

import { type FindingList, linesToText } from "./findings.ts";
import type { RingRange } from "./ring-tokens.ts";

export interface RingRow {
  readonly owner: string;
  readonly token: bigint;
  readonly line: number;
  readonly isJoining: boolean;
}

export interface RingTable {
  readonly datacenter: string | undefined;
  readonly line: number;
  readonly rows: RingRow[];
  /** What the table's first line says its last token is; a table of one token has none. */
  lastToken: { readonly token: bigint; readonly line: number } | undefined;
}

export function checkTable(table: RingTable, findings: FindingList): void {
  const { rows, lastToken } = table;
  const lastRow = rows.at(-1);
  if (lastToken !== undefined && lastRow?.token !== lastToken.token) {
    const found = lastRow === undefined ? "no row follows" : `its last row has ${lastRow.token}`;
    const lines = [lastToken.line, ...(lastRow === undefined ? [] : [lastRow.line])];
    const message = `the table announces ${lastToken.token} as its last token, but ${found}`;
    findings.error("truncated", lines, `${message} (${linesToText(lines)})`);
  }
  if (lastToken === undefined && rows.length > 1) {
    const message = "does not start with a line that holds its last token: is its top cut off?";
    findings.error("truncated", [table.line], `the table at line ${table.line} ${message}`);
  }
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1];
    if (before === undefined || before.token <= row.token) continue;
    const lines = [before.line, row.line];
    const message = `${row.token} comes after ${before.token} (${linesToText(lines)})`;
    findings.error("unsorted", lines, `tokens of a table ascend, but ${message}`);
  }
}

/** The ring that these tables make: each token's range starts after the token before it. */
export function tablesToRanges(
  tables: readonly RingTable[],
  datacenter: string | undefined,
  findings: FindingList,
): RingRange[] {
  const chosen = chooseTables(tables, datacenter, findings);
  const owning: RingRow[] = [];
  for (const row of chosen.flatMap((table) => table.rows)) {
    if (!row.isJoining) owning.push(row);
    else {
      const message = `line ${row.line}: ${row.owner} is joining and owns nothing yet`;
      findings.warning("joiningOwner", [row.line], message);
    }
  }
  owning.sort((a, b) => (a.token < b.token ? -1 : a.token > b.token ? 1 : a.line - b.line));
  const distinct = owning.filter((row, at) => {
    const before = owning[at - 1];
    if (before?.token !== row.token) return true;
    const lines = [before.line, row.line];
    const owners = before.owner === row.owner ? row.owner : `${before.owner} and ${row.owner}`;
    const message = `token ${row.token} occurs twice, for ${owners} (${linesToText(lines)})`;
    findings.error("duplicate", lines, message);
    return false;
  });
  return distinct.map(({ owner, token, line }, at) => {
    const previous = distinct.at(at - 1)?.token ?? token;
    return { previous, token, owner, line };
  });
}

function chooseTables(
  tables: readonly RingTable[],
  datacenter: string | undefined,
  findings: FindingList,
): readonly RingTable[] {
  const names = [...new Set(tables.map((table) => table.datacenter ?? "(unnamed)"))];
  const list = names.join(", ");
  if (datacenter === undefined) {
    if (names.length > 1) {
      const lines = tables.map((table) => table.line);
      const message = `the ring spans the datacenters ${list}: their tokens are one ring`;
      findings.warning("severalDatacenters", lines, message);
    }
    return tables;
  }
  const chosen = tables.filter((table) => table.datacenter === datacenter);
  if (chosen.length === 0) {
    const message = `no table is of datacenter ${datacenter}; there are ${list}`;
    findings.error("severalDatacenters", [], message);
  }
  return chosen;
}
