/**
 * What is fixed when a keyspace is created and known at both levels: the root records it, the shard
 * goes by it. Stored by position: append at the end only.
 */

/** What owners do while the directory is away (law 14). */
export const LEASE_MODES = ["exclusive", "affinity"] as const;
export type LeaseMode = (typeof LEASE_MODES)[number];

/** Where a range's data are (law 17). */
export const DATA_KINDS = ["none", "shared", "local"] as const;
export type DataKind = (typeof DATA_KINDS)[number];
