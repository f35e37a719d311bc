/**
 * What a scenario has found, judged against its budget, and the forms in which it is written: JSON
 * for scripts, a table for people. A missed budget is a result like any other and stands in the
 * table as LOSES; only what could not be measured is a failure.
 */

import { median, type Spread, spreadOf } from "./statistics.ts";

/** How a row is judged; "none": shown beside another row, for comparison. */
export type Budget =
  | { readonly kind: "atLeastTimesPeer"; readonly factor: number }
  | { readonly kind: "atMostPeer" }
  | { readonly kind: "atMost"; readonly limit: number }
  | { readonly kind: "none" };

export interface Row {
  readonly name: string;
  readonly what: string;
  readonly unit: string;
  readonly budget: Budget;
  readonly outcome: Outcome;
  readonly note: string;
}

export type Outcome =
  | { readonly kind: "measured"; readonly ours: Measured; readonly peer: Measured | undefined }
  /** Something that it needs is not here. */
  | { readonly kind: "skipped"; readonly why: string }
  /** It was tried, and did not work. */
  | { readonly kind: "failed"; readonly why: string };

/** The median over the rounds, or what else stands for all of them, and how far they lie apart. */
export interface Measured {
  readonly value: number;
  readonly spread: Spread;
}

export function overRounds(values: readonly number[]): Measured {
  return { value: median(values), spread: spreadOf(values) };
}

export type Verdict = "meets" | "LOSES" | "not judged" | "SKIPPED" | "FAILED";

export function verdictOf({ budget, outcome }: Row): Verdict {
  if (outcome.kind === "skipped") return "SKIPPED";
  if (outcome.kind === "failed") return "FAILED";
  const isMet = meets(budget, outcome.ours.value, outcome.peer?.value);
  if (isMet === undefined) return "not judged";
  return isMet ? "meets" : "LOSES";
}

/** Undefined: there is no budget, or no peer to hold it against. */
function meets(budget: Budget, ours: number, peer: number | undefined): boolean | undefined {
  switch (budget.kind) {
    case "none":
      return undefined;
    case "atMost":
      return ours <= budget.limit;
    case "atMostPeer":
      return peer === undefined ? undefined : ours <= peer;
    case "atLeastTimesPeer":
      return peer === undefined ? undefined : ours >= budget.factor * peer;
  }
}

function budgetText(budget: Budget, unit: string): string | null {
  switch (budget.kind) {
    case "none":
      return null;
    case "atMost":
      return `<= ${budget.limit} ${unit}`;
    case "atMostPeer":
      return "<= peer";
    case "atLeastTimesPeer":
      return `>= ${budget.factor} x peer`;
  }
}

/** One element of the JSON file. */
export interface JsonRow {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  readonly budget: string | null;
  /** Null: not judged, skipped, or failed; the note says which. */
  readonly ok: boolean | null;
  readonly peer: number | null;
  /** Value by peer; whether more is better is the budget's business. */
  readonly ratio: number | null;
  readonly note: string;
}

export function rowToJson(row: Row): JsonRow {
  const { name, unit, outcome } = row;
  const verdict = verdictOf(row);
  const value = outcome.kind === "measured" ? outcome.ours.value : null;
  const peer = outcome.kind === "measured" ? (outcome.peer?.value ?? null) : null;
  return {
    name,
    value,
    unit,
    budget: budgetText(row.budget, unit),
    ok: verdict === "meets" ? true : verdict === "LOSES" ? false : null,
    peer,
    ratio: value === null || peer === null || peer === 0 ? null : value / peer,
    note: noteOf(row),
  };
}

function noteOf({ outcome, note }: Row): string {
  if (outcome.kind === "skipped") return `SKIPPED: ${outcome.why}`;
  if (outcome.kind === "failed") return `FAILED: ${outcome.why}`;
  return note;
}

const HEAD = ["scenario", "what", "Cadastre", "spread", "etcd", "spread", "ratio", "budget", ""];

/** The whole file. */
export function toMarkdown(
  rows: readonly Row[],
  facts: Readonly<Record<string, string>>,
  method: readonly string[],
): string {
  const notes = rows.filter((row) => noteOf(row) !== "");
  return [
    "# Results of the benchmark",
    "",
    "Written by `npm run bench`; nothing in it is edited by hand. Rows that lose stay in it.",
    "",
    ...table([HEAD, ...rows.map(cellsOf)]),
    "",
    "## Notes",
    "",
    ...notes.map((row) => `- \`${row.name}\`: ${noteOf(row)}`),
    "",
    "## Method",
    "",
    ...method.map((line) => `- ${line}`),
    "",
    "## Machine",
    "",
    ...Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`),
    "",
  ].join("\n");
}

function cellsOf(row: Row): readonly string[] {
  const { name, what, unit, outcome } = row;
  const budget = budgetText(row.budget, unit) ?? "";
  const verdict = verdictOf(row);
  if (outcome.kind !== "measured") return [name, what, "", "", "", "", "", budget, verdict];
  const { ours, peer } = outcome;
  const ratio = rowToJson(row).ratio;
  return [
    name,
    what,
    `${short(ours.value)} ${unit}`,
    spreadText(ours),
    peer === undefined ? "none" : `${short(peer.value)} ${unit}`,
    peer === undefined ? "" : spreadText(peer),
    ratio === null ? "" : ratio.toFixed(2),
    budget,
    verdict,
  ];
}

function spreadText({ spread }: Measured): string {
  return `${short(spread.min)}..${short(spread.max)}`;
}

/** Three significant digits, and whole numbers in full. */
function short(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function table(rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(head.map(() => "---")), ...body.map(line)];
}
