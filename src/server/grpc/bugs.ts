/**
 * What an adapter does when a service throws: that is a bug, never an answer about ownership. The
 * client gets INTERNAL, the log a line, and a broken invariant ends the process.
 */

import { InvariantError } from "../../base/assert.ts";
import type { Logger } from "../../replica/ports.ts";
import type { Refusal } from "../../wire/api.ts";
import { refusal } from "../../wire/refusal.ts";

export interface BugReports {
  readonly logger: Logger;
  /** Ends the process: something that must always hold did not. */
  readonly onFatal: (error: InvariantError) => void;
}

/** Reports what was thrown while a call of this path was handled. */
export function bugToRefusal(error: unknown, path: string, reports: BugReports): Refusal {
  reports.logger.error("serviceFailed", { path, error });
  if (error instanceof InvariantError) reports.onFatal(error);
  return refusal("INTERNAL", "the server failed while it handled the call; its log says more");
}
