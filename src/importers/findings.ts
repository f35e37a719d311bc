/**
 * What an importer noticed about a map: one line each, by name, with the lines of the source.
 *
 * Errors make a map unfit for import. A broken input of any size costs bounded memory: of each
 * kind the first FINDINGS_PER_KIND_MAX are kept and the rest are counted.
 */

export type FindingKind =
  // Ranges that do not tile (law 24).
  | "gap"
  | "overlap"
  | "duplicate"
  | "inverted"
  | "notCoveringStart"
  | "notCoveringEnd"
  | "noRanges"
  // Text that was not, or not wholly, understood.
  | "malformedLine"
  | "truncated"
  | "countMismatch"
  | "unsorted"
  // Worth knowing; the map may be fit for import.
  | "wrapping"
  | "binaryBoundary"
  | "emptyBoundary"
  | "rawHexBoundary"
  | "textOrder"
  | "missingOwner"
  | "ownerCount"
  | "mergedOwners"
  | "joiningOwner"
  | "severalDatacenters"
  | "datacenterConflict";

export type Severity = "error" | "warning" | "info";

export interface Finding {
  readonly kind: FindingKind;
  readonly severity: Severity;
  /** One line; keys are in text form (keys/text.ts), tokens are decimal. */
  readonly message: string;
  /** Lines of the source, from 1, in the order in which the message is about them. */
  readonly lines: readonly number[];
}

export const FINDINGS_PER_KIND_MAX = 1_000;
/** Lines named by a finding that sums up many. */
export const LINES_PER_FINDING_MAX = 100;

const SEVERITY_ORDER: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/** Gathers findings while a text is read. */
export class FindingList {
  readonly #kept: Finding[] = [];
  readonly #counts = new Map<FindingKind, number>();

  error(kind: FindingKind, lines: readonly number[], message: string): void {
    this.add({ kind, severity: "error", message, lines });
  }

  warning(kind: FindingKind, lines: readonly number[], message: string): void {
    this.add({ kind, severity: "warning", message, lines });
  }

  info(kind: FindingKind, lines: readonly number[], message: string): void {
    this.add({ kind, severity: "info", message, lines });
  }

  add(finding: Finding): void {
    const count = (this.#counts.get(finding.kind) ?? 0) + 1;
    this.#counts.set(finding.kind, count);
    if (count > FINDINGS_PER_KIND_MAX) return;
    this.#kept.push({ ...finding, lines: finding.lines.slice(0, LINES_PER_FINDING_MAX) });
  }

  has(kind: FindingKind): boolean {
    return this.#counts.has(kind);
  }

  /** Errors first, then warnings, then the rest; within each, in the order in which they came. */
  toList(): Finding[] {
    return sortFindings(this.#kept);
  }

  /** How often each kind occurred, those that were not kept included. */
  toCounts(): ReadonlyMap<FindingKind, number> {
    return new Map(this.#counts);
  }
}

export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => SEVERITY_ORDER[a.severity] - SEVERITY_ORDER[b.severity]);
}

/** `line 3`, `lines 3, 4 and 9`, `lines 3, 4, 5 and 12 more`. */
export function linesToText(lines: readonly number[]): string {
  const shown = lines.length <= 4 ? lines : lines.slice(0, 3);
  const last = shown.length < lines.length ? `${lines.length - shown.length} more` : undefined;
  const parts = [...shown.map(String), ...(last === undefined ? [] : [last])];
  const joined =
    parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  return `${lines.length === 1 ? "line" : "lines"} ${joined}`;
}
