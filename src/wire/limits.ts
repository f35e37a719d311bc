/**
 * The bounds of the public API, as the proto files state them. Conversions enforce them on the way
 * in (law 33); services, clients and importers read them from here.
 */

import { assert } from "../base/assert.ts";
import { GRACE_MS } from "../base/lease-timing.ts";
import { RECENT_REVISION_MS, REQUEST_MEMORY_MS } from "../base/request-timing.ts";

/** Bytes of a key. Small, because every descriptor carries two and every event some of those. */
export const KEY_BYTES_MAX: number = 4 * 1024;
/** Characters of a name: keyspace, node id, zone, client id, import id, label. */
export const NAME_CHARS_MAX = 64;
export const ADDRESS_CHARS_MAX = 256;
export const ADDRESSES_MAX = 8;
/** Of one line for people, with cause and remedy. */
export const LINE_CHARS_MAX: number = 4 * 1024;
export const LABELS_MAX = 32;
export const LABEL_VALUE_CHARS_MAX = 256;

/** Keys of one LookupBatch, and items of one Accept, Release or Grant. */
export const ITEMS_MAX = 1_000;
/** Spans that one renewal leaves out. */
export const EXCEPT_MAX = 256;
/** Earlier renewals that one names: the last answered one and those sent since. */
export const KNOWN_PAIRS_MAX = 64;

export const PAGE_SIZE_DEFAULT = 1_000;
export const PAGE_SIZE_MAX = 10_000;
/** A page token holds a key (as text: twice its bytes) and what the page was asked with. */
export const PAGE_TOKEN_CHARS_MAX: number = 32 * 1024;
/** A resume token holds a position per group and a hash of the filter. */
export const RESUME_TOKEN_BYTES_MAX: number = 64 * 1024;

export const SPLIT_KEYS_MAX = 10_000;
/** Keys of one DefineRanges, or keys and node ids of one import part: one entry of the log. */
export const BULK_BYTES_MAX: number = 256 * 1024;

export const LEASE_MS_DEFAULT = 10_000;
export const LEASE_MS_MIN = 1_500;
export const LEASE_MS_MAX = 600_000;
export const RENEW_MS_MIN = 500;
/** A renewal may be lost twice before the lease ends. */
export const RENEWALS_PER_LEASE = 3;

/** What a server accepts. Checked by clients before sending, so that the refusal is a clear one. */
export const REQUEST_BYTES_MAX: number = 1024 * 1024;
/** What clients accept, which is gRPC's own default. Services cut pages and frames at a quarter. */
export const ANSWER_BYTES_MAX: number = 4 * 1024 * 1024;

/** Of a unary call: longer waits are cut to this, and calls without a deadline get the default. */
export const DEADLINE_MS_MAX = 60_000;
export const DEADLINE_MS_DEFAULT = 5_000;

assert(RENEW_MS_MIN * RENEWALS_PER_LEASE <= LEASE_MS_MIN, "the shortest lease can be renewed");
assert(
  LEASE_MS_DEFAULT / RENEWALS_PER_LEASE <= GRACE_MS,
  "after a change of leaders, every owner of default leases comes to renew once",
);
assert(
  5 * (DEADLINE_MS_MAX + RECENT_REVISION_MS) <= REQUEST_MEMORY_MS,
  "a request id outlives the longest wait of a call by far",
);
assert(BULK_BYTES_MAX * 4 <= REQUEST_BYTES_MAX, "bulk of many short keys fits a request");
