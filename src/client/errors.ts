/**
 * The one error that the client library throws: why a call did not succeed, whether it may have
 * been applied, and what was tried. Decisions go by `reason`, `outcome` and `retry`, never by text.
 */

import type { Refusal, RequestId } from "../wire/api.ts";
import { type Reason, type ReasonRow, reasonRow } from "../wire/errors.ts";

/** One try at one server. */
export interface Attempt {
  readonly address: string;
  /** UNCERTAIN: no answer came, or the server said so. */
  readonly reason: Reason;
  /** One line, as the server or the channel gave it. */
  readonly message: string;
  readonly elapsedMs: number;
}

/** What a {@link CoordinationError} is made of. */
export interface CoordinationFailure {
  readonly refusal: Refusal;
  readonly outcome: "notApplied" | "unknown";
  readonly attempts: readonly Attempt[];
  readonly requestId: RequestId | undefined;
}

/**
 * A call to the directory failed. The message is one line with cause and remedy.
 *
 * - `reason` is one of the contract's reasons (proto/cadastre/v1/errors.proto).
 * - `outcome`: `notApplied` is certain; `unknown` means that some attempt may have been applied.
 * - `retry` is the contract's prescription for the reason. The library has already followed it as
 *   far as the deadline allowed; `refresh` is always left to the caller.
 * - `requestId`: pass it in a later call of the same method, with the same request, to resolve an
 *   unknown outcome; within ten minutes, or it is EXPIRED_ID, and the present state must tell.
 *   Undefined for calls that are safe to repeat as they are.
 */
export class CoordinationError extends Error {
  override readonly name = "CoordinationError";
  readonly reason: Reason;
  readonly refusal: Refusal;
  readonly outcome: "notApplied" | "unknown";
  readonly retry: ReasonRow["retry"];
  readonly attempts: readonly Attempt[];
  readonly requestId: RequestId | undefined;

  constructor(failure: CoordinationFailure) {
    super(failure.refusal.message);
    this.reason = failure.refusal.reason;
    this.refusal = failure.refusal;
    this.outcome = failure.outcome;
    this.retry = reasonRow(failure.refusal.reason).retry;
    this.attempts = failure.attempts;
    this.requestId = failure.requestId;
  }
}

/** A refusal that this library makes itself. */
export function localRefusal(
  reason: Reason,
  message: string,
  details: Partial<Omit<Refusal, "reason" | "message">> = {},
): Refusal {
  return {
    reason,
    message,
    metadata: details.metadata ?? {},
    field: details.field,
    retryAfterMs: details.retryAfterMs,
    descriptors: details.descriptors ?? [],
  };
}

/** For catch clauses around calls: anything but a CoordinationError is a bug and goes on. */
export function asCoordinationError(error: unknown): CoordinationError {
  if (error instanceof CoordinationError) return error;
  throw error;
}
