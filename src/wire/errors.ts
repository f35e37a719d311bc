/**
 * The one table of errors: from a reason to its gRPC status, its HTTP status, the exit code of the
 * CLI, whether the request may have been applied, and what the caller does next.
 *
 * The reasons are those of proto/cadastre/v1/errors.proto; a test compares the two. Nothing else in
 * the product maps errors, and nobody matches on message text.
 */

/** gRPC status codes by number (grpc-js's `status`, repeated so that this file imports nothing). */
export const GRPC_STATUS = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

/** Exit codes of the CLI: 0 ok, 1 failed, 2 usage, then these kinds. */
export const EXIT = {
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unavailable: 5,
  denied: 6,
  unhealthy: 7,
} as const;

export interface ReasonRow {
  readonly grpc: number;
  readonly http: number;
  readonly exit: number;
  /** "unknown": it may have been applied. */
  readonly outcome: "notApplied" | "unknown";
  /**
   * What the client of the directory does: "never" give up, "afterBackoff" the same call later,
   * "otherServer" another server, "sameRequest" repeat with the same request id only, "refresh"
   * read the named state anew first.
   */
  readonly retry: "never" | "afterBackoff" | "otherServer" | "sameRequest" | "refresh";
}

/** Every reason, in the order of the proto's enum. */
export const REASON_NAMES = [
  "NOT_OWNER",
  "STALE_EPOCH",
  "TRANSIENT",
  "OVERLOADED",
  "LOST_AUTHORITY",
  "UNCERTAIN",
  "UNTRUSTED",
  "WRONG_NODE",
  "WRONG_GROUP",
  "UNOWNED",
  "EXPIRED_ID",
  "COMPACTED",
  "INVALID",
  "DENIED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "REQUEST_ID_REUSED",
  "NO_SESSION",
  "SESSION_LIVE",
  "STALE_INCARNATION",
  "NODE_ID_TAKEN",
  "LEASE_HELD",
  "SUCCESSOR_RECORDED",
  "VIEW_TOO_OLD",
  "ALREADY_GRANTED",
  "IMPORT_INCOMPLETE",
  "CLUSTER_MISMATCH",
  "INTERNAL",
  "SESSION_CLOSED",
  "LATE_COPY",
  "NO_SUCCESSOR",
] as const;

export type Reason = (typeof REASON_NAMES)[number];

const s = GRPC_STATUS;

export const REASONS: Readonly<Record<Reason, ReasonRow>> = {
  NOT_OWNER: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "refresh"),
  STALE_EPOCH: row(s.ABORTED, 409, EXIT.conflict, "refresh"),
  TRANSIENT: row(s.UNAVAILABLE, 503, EXIT.unavailable, "otherServer"),
  OVERLOADED: row(s.RESOURCE_EXHAUSTED, 429, EXIT.unavailable, "afterBackoff"),
  LOST_AUTHORITY: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "refresh"),
  UNCERTAIN: row(s.UNAVAILABLE, 503, EXIT.unavailable, "sameRequest", "unknown"),
  UNTRUSTED: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  WRONG_NODE: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "refresh"),
  WRONG_GROUP: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "refresh"),
  UNOWNED: row(s.UNAVAILABLE, 503, EXIT.unavailable, "afterBackoff"),
  EXPIRED_ID: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never", "unknown"),
  COMPACTED: row(s.OUT_OF_RANGE, 410, EXIT.conflict, "refresh"),
  INVALID: row(s.INVALID_ARGUMENT, 400, EXIT.usage, "never"),
  DENIED: row(s.PERMISSION_DENIED, 403, EXIT.denied, "never"),
  NOT_FOUND: row(s.NOT_FOUND, 404, EXIT.notFound, "never"),
  ALREADY_EXISTS: row(s.ALREADY_EXISTS, 409, EXIT.conflict, "never"),
  REQUEST_ID_REUSED: row(s.ALREADY_EXISTS, 409, EXIT.conflict, "never"),
  NO_SESSION: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "refresh"),
  SESSION_LIVE: row(s.UNAVAILABLE, 503, EXIT.unavailable, "afterBackoff"),
  STALE_INCARNATION: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  NODE_ID_TAKEN: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  LEASE_HELD: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  SUCCESSOR_RECORDED: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  VIEW_TOO_OLD: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "refresh"),
  ALREADY_GRANTED: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  IMPORT_INCOMPLETE: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  CLUSTER_MISMATCH: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  INTERNAL: row(s.INTERNAL, 500, EXIT.failed, "never", "unknown"),
  SESSION_CLOSED: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  LATE_COPY: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
  NO_SUCCESSOR: row(s.FAILED_PRECONDITION, 409, EXIT.conflict, "never"),
};

/** The domain of every ErrorInfo. */
export const ERROR_DOMAIN = "cadastre";

export function isReason(text: string): text is Reason {
  return Object.hasOwn(REASONS, text);
}

export function reasonRow(reason: Reason): ReasonRow {
  return REASONS[reason];
}

function row(
  grpc: number,
  http: number,
  exit: number,
  retry: ReasonRow["retry"],
  outcome: ReasonRow["outcome"] = "notApplied",
): ReasonRow {
  return { grpc, http, exit, outcome, retry };
}
