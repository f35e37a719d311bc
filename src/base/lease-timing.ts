/**
 * The two numbers that owners and servers must agree on for leases to be exclusive (laws 7 and 10):
 * a leader's log time never runs ahead of real time by more than they allow.
 */

/** Over one lease, a clock's measure of elapsed time is within this factor of real time. */
export const CLOCK_RATE_ERROR = 0.01;
/**
 * How much earlier than its deadline an owner stops. At least the longest time between a check and
 * the action that it allowed, and more than a leader's log time may jump in one tick.
 */
export const GUARD_MS = 250;
