// What the CLI says when it fails: one line with cause and remedy, an exit code of the one table
// (wire/errors.ts), and with `-o json` an object on stderr. Verbs throw CliError for what they
// find themselves; refusals of the directory keep their own reason.
import { EXIT, isReason, reasonRow } from "../wire/errors.ts";

/** BSD's EX_SOFTWARE: a bug in this program, never a state of the world. */
export const EXIT_BUG = 70;

/** A failure that a verb explains itself. The message says the cause, the remedy what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: number;
  readonly reason: string;
  readonly remedy: string | undefined;

  constructor(args: {
    /** What happened, without a full stop: "no cluster is running in .cadastre". */
    readonly message: string;
    /** What to do now, an imperative sentence without a full stop. */
    readonly remedy?: string;
    /** One of EXIT; 1 when left out. */
    readonly exit?: number;
    /** For scripts; by default derived from the exit code. */
    readonly reason?: string;
    readonly cause?: unknown;
  }) {
    super(args.message, { cause: args.cause });
    this.exit = args.exit ?? EXIT.failed;
    this.reason = args.reason ?? reasonOfExit(this.exit);
    this.remedy = args.remedy;
  }
}

/** A mistake in the command line: exit 2. */
export function usageError(message: string, remedy?: string): CliError {
  return new CliError({ message, exit: EXIT.usage, ...(remedy === undefined ? {} : { remedy }) });
}

/** Everything that is printed of a failure. */
export interface Failure {
  readonly exit: number;
  readonly reason: string;
  readonly message: string;
  readonly remedy: string | undefined;
  /** "unknown": it may have been applied. */
  readonly outcome: "notApplied" | "unknown" | undefined;
}

/** Total over whatever was thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) {
    const { exit, reason, message, remedy } = error;
    return { exit, reason, message, remedy, outcome: undefined };
  }
  return refusalOf(error) ?? bugOf(error);
}

/** One line, whatever line breaks the cause had: `cadastre: cause. Remedy.` */
export function failureLine(failure: Failure): string {
  const unknown = failure.outcome === "unknown" ? " (it may have been applied)" : "";
  const cause = `${failure.message}${unknown}`.replaceAll(/\s*\n\s*/g, "; ");
  const remedy = failure.remedy === undefined ? "" : ` ${sentence(capitalized(failure.remedy))}`;
  return `cadastre: ${sentence(cause)}${remedy}`;
}

/** The stable form for scripts. */
export function failureJson(failure: Failure): string {
  return JSON.stringify({ error: failure });
}

/** A CoordinationError of client/, known by its shape so that local verbs load no client. */
function refusalOf(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !("refusal" in error)) return undefined;
  const { refusal } = error;
  if (typeof refusal !== "object" || refusal === null || !("reason" in refusal)) return undefined;
  const { reason } = refusal;
  if (typeof reason !== "string" || !isReason(reason)) return undefined;
  const row = reasonRow(reason);
  const outcome = "outcome" in error && error.outcome === "unknown" ? "unknown" : row.outcome;
  const message = error.message === "" ? reason : error.message;
  return { exit: row.exit, reason, message, remedy: REMEDIES[row.retry], outcome };
}

const REMEDIES = {
  never: undefined,
  afterBackoff: "try again in a moment",
  otherServer: "try again in a moment; `cadastre status` shows which servers answer",
  sameRequest: "look whether it was applied before you repeat it",
  refresh: "read the present state and try again",
} as const;

function bugOf(error: unknown): Failure {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    exit: EXIT_BUG,
    reason: "INTERNAL",
    message: `unexpected failure: ${message}`,
    remedy: "set CADASTRE_DEBUG=1 to see where it came from",
    outcome: undefined,
  };
}

function reasonOfExit(exit: number): string {
  return REASON_OF_EXIT[exit] ?? "FAILED";
}

const REASON_OF_EXIT: Readonly<Record<number, string>> = {
  [EXIT.failed]: "FAILED",
  [EXIT.usage]: "INVALID",
  [EXIT.notFound]: "NOT_FOUND",
  [EXIT.conflict]: "CONFLICT",
  [EXIT.unavailable]: "TRANSIENT",
  [EXIT.denied]: "DENIED",
  [EXIT.unhealthy]: "UNHEALTHY",
};

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
