/**
 * Making refusals: every one has a reason of the one table, one line of text with cause and remedy,
 * and the values that the line names.
 */

import type { Refusal } from "./api.ts";
import type { Flaw } from "./codec.ts";
import type { Reason } from "./errors.ts";

/** A refusal; what is not given is empty. `message` is one line with cause and remedy. */
export function refusal(
  reason: Reason,
  message: string,
  more: Partial<Omit<Refusal, "reason" | "message">> = {},
): Refusal {
  return {
    reason,
    message,
    metadata: more.metadata ?? {},
    field: more.field,
    retryAfterMs: more.retryAfterMs,
    descriptors: more.descriptors ?? [],
  };
}

/** What a request with a flaw is answered with. */
export function invalidField(flaw: Flaw): Refusal {
  if (flaw.field === "") return refusal("INVALID", `the request ${flaw.problem}`);
  return refusal("INVALID", `${flaw.field} ${flaw.problem}`, {
    field: flaw.field,
    metadata: { field: flaw.field },
  });
}
