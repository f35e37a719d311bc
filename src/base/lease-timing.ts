/**
 * The numbers that owners and servers agree on. The first two make leases exclusive (laws 7 and
 * 10): a leader's log time never runs ahead of real time by more than they allow. The third makes
 * them survive a change of leaders (law 11), and no safety rests on it.
 */

/** Over one lease, a clock's measure of elapsed time is within this factor of real time. */
export const CLOCK_RATE_ERROR = 0.01;
/**
 * How much earlier than its deadline an owner stops. At least the longest time between a check and
 * the action that it allowed, and more than a leader's log time may jump in one tick.
 */
export const GUARD_MS = 250;
/**
 * How long after the entry that opens a leader's term no lease ends that its owner could still
 * renew. Log time stands still without a leader, so the election itself costs no lease anything;
 * this is for the owners, which have to find the new leader. A whole renewal interval of the
 * default lease fits: three attempts, each at another server. Owners that renew less often have
 * two intervals left when they are in good health, which is more. Not longer than that needs: a
 * dead owner's ranges wait for it, too.
 */
export const GRACE_MS = 4_000;
