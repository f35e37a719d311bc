/**
 * How long a request id can be used: what the machines keep and what clients may rely on (law 5).
 */

/**
 * A group answers a repeat for at least so long after the revision that its id was made from, by
 * its own log time, which stands still without a leader. Ten times the longest wait of a call, so
 * that an outcome that stayed unknown can still be asked for by somebody who looks into it.
 */
export const REQUEST_MEMORY_MS = 600_000;

/** An id is made from a revision that was heard of no longer ago. */
export const RECENT_REVISION_MS = 30_000;
