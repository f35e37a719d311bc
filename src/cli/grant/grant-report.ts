// What a `grant` did, in the end: how many ranges of each node, what was left alone, and, when it
// did not get through, exactly which part is done and which is not.
import { durationToText } from "../render/duration.ts";
import { rangeJson } from "../render/json.ts";
import { type Column, countText, groupDigits, tableLines } from "../render/table.ts";
import type { KeyspaceKind } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import type { Answer } from "../context.ts";
import { CliError, failureOf } from "../failure.ts";
import type { DoneGrant, GrantReport, RangeAssignment } from "./send-grants.ts";

const SKIPPED_SHOWN_MAX = 10;

const COLUMNS: readonly Column[] = [
  { title: "NODE" },
  { title: "GRANTED", align: "right" },
  { title: "SUCCESSOR", align: "right" },
  { title: "ALREADY OWNER", align: "right" },
  { title: "LEFT ALONE", align: "right" },
];

export function grantAnswer(
  report: GrantReport,
  options: {
    readonly nodeIds: readonly string[];
    readonly kind: KeyspaceKind;
    readonly color: boolean;
  },
): Answer {
  return {
    json: () => ({
      outcomes: report.done.map(({ nodeId, outcome }) => ({
        rangeId: outcome.rangeId,
        nodeId,
        outcome: outcome.kind,
        leaseDurationMs: outcome.leaseDurationMs,
        waitMs: String(outcome.waitMs),
        range: rangeJson(outcome.range, options.kind),
      })),
      skipped: report.skipped.map(({ rangeId, nodeId, why }) => ({ rangeId, nodeId, why })),
      failed: report.failed.map(idsJson),
      notSent: report.notSent.map(idsJson),
    }),
    text: () => [...summaryLines(report, options), ...detailLines(report)].join("\n"),
  };
}

/** The error of a grant that did not get through, with what is done and what is not. */
export function incompleteError(report: GrantReport): CliError | undefined {
  const { done, failed, notSent, error } = report;
  if (error === undefined) return undefined;
  const parts = [`${countText(done.length, "range")} done`];
  const isUnknown = error !== "interrupted" && error.outcome === "unknown";
  if (failed.length > 0) {
    const fate = isUnknown ? "may have been granted" : "refused";
    parts.push(`${countText(failed.length, "range")} (${boundsOf(failed)}) ${fate}`);
  }
  if (notSent.length > 0)
    parts.push(`${groupDigits(notSent.length)} (${boundsOf(notSent)}) not sent`);
  if (error === "interrupted") {
    return new CliError({
      message: `interrupted: ${parts.join(", ")}`,
      remedy: "run it again with --only-unowned to do the rest",
    });
  }
  const { exit, reason, message, remedy } = failureOf(error);
  return new CliError({
    message: `${parts.join(", ")}; ${message}`,
    remedy: isUnknown
      ? "run it again with --only-unowned: what was granted is then left alone"
      : (remedy ?? "correct the cause and run it again with --only-unowned to do the rest"),
    exit,
    reason,
    cause: error,
  });
}

/** Ranges that were left alone are no failure of the directory, but not what was asked for. */
export function exitOfReport(report: GrantReport): number {
  return report.skipped.length > 0 ? EXIT.conflict : 0;
}

function summaryLines(
  report: GrantReport,
  options: { readonly nodeIds: readonly string[]; readonly color: boolean },
): string[] {
  const rows = options.nodeIds.map((nodeId) => {
    const done = report.done.filter((one) => one.nodeId === nodeId);
    const count = (kind: string): string =>
      groupDigits(done.filter(({ outcome }) => outcome.kind === kind).length);
    const skipped = report.skipped.filter((one) => one.nodeId === nodeId).length;
    return [
      nodeId,
      count("granted"),
      count("successorRecorded"),
      count("alreadyOwner"),
      groupDigits(skipped),
    ];
  });
  return tableLines(COLUMNS, rows, { color: options.color });
}

function detailLines(report: GrantReport): string[] {
  const lines: string[] = [];
  const recorded = report.done.filter(({ outcome }) => outcome.kind === "successorRecorded");
  const waits = recorded.filter(({ outcome }) => outcome.range.handOverRevision === 0);
  const asked = recorded.filter((one) => !waits.includes(one));
  if (waits.length > 0) {
    lines.push(
      `${areOwned(waits)}: the successor is recorded and takes over when the present lease ends, ` +
        `in at most ${longestWait(waits)}, or at once when the owner releases.`,
    );
  }
  if (asked.length > 0) {
    lines.push(
      `${areOwned(asked)}: the owner is asked to hand over, and the successor takes over when it ` +
        `has ended what it was at, or with its lease, in at most ${longestWait(asked)}.`,
    );
  }
  for (const { rangeId, why } of report.skipped.slice(0, SKIPPED_SHOWN_MAX)) {
    lines.push(`Left alone: range ${rangeId} ${why}.`);
  }
  const more = report.skipped.length - SKIPPED_SHOWN_MAX;
  if (more > 0) lines.push(`And ${groupDigits(more)} more were left alone.`);
  return lines;
}

function areOwned(some: readonly DoneGrant[]): string {
  return `${countText(some.length, "range")} ${some.length === 1 ? "is" : "are"} owned`;
}

function longestWait(some: readonly DoneGrant[]): string {
  return durationToText(some.reduce((most, { outcome }) => Math.max(most, outcome.waitMs), 0));
}

function idsJson(assignment: RangeAssignment): { rangeId: string; nodeId: string } {
  return { rangeId: assignment.item.descriptor.rangeId, nodeId: assignment.nodeId };
}

function boundsOf(assignments: readonly RangeAssignment[]): string {
  const first = assignments[0]?.item.descriptor.rangeId ?? "";
  const last = assignments.at(-1)?.item.descriptor.rangeId ?? "";
  return first === last ? `range ${first}` : `ranges ${first} to ${last}`;
}
