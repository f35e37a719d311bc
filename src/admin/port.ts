// What the HTTP surface asks of its server: plain data about this process alone. Every call is
// synchronous, answers from memory, and never asks another server, so that a probe cannot hang.
// The server implements it.

export interface AdminPort {
  health(): HealthFacts;
  metrics(): MetricsSnapshot;
  status(): AdminStatus;
}

/** What /livez and /readyz are judged by (checks.ts). */
export interface HealthFacts {
  /** Set once, when the process is about to end because of it. */
  readonly fatalError: string | undefined;
  /** Why the log store cannot be written, or a write has been stuck. */
  readonly storageError: string | undefined;
  /** Why this server takes no part in any group: "reason: details". */
  readonly abstention: string | undefined;
  /** A stop was asked for. */
  readonly isDraining: boolean;
  /** Empty until the log store has been opened. */
  readonly groups: readonly GroupHealth[];
}

export interface GroupHealth {
  readonly group: number;
  /** Everything that was committed when this process started has been applied. */
  readonly isReplayed: boolean;
  /** It is so far behind that its leader's log does not reach back to it. */
  readonly awaitsSnapshot: boolean;
  readonly leaderServerId: number | undefined;
  /** Since a ReadIndex of this server was last confirmed by a quorum; undefined: never yet. */
  readonly readIndexAgeMs: number | undefined;
}

/** Counters count from the start of the process. */
export interface MetricsSnapshot {
  readonly groups: readonly GroupMetrics[];
  /** Watch streams that are open on this server. */
  readonly watches: number;
  /** Renewals of sessions, by how they ended. */
  readonly renewals: Readonly<Record<string, number>>;
  /** Of synced writes to the log store. */
  readonly logSync: HistogramSnapshot | undefined;
  /** Snapshots that this server sends to others. */
  readonly snapshotSends: {
    readonly active: number;
    /** By how they ended: completed, broken, refused. */
    readonly results: Readonly<Record<string, number>>;
    readonly sentBytes: number;
  };
}

export interface GroupMetrics {
  readonly group: number;
  readonly hasLeader: boolean;
  readonly isLeader: boolean;
  readonly term: number;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly lastIndex: number;
  readonly logEntries: number;
  /** Of those entries, in memory. */
  readonly logBytes: number;
  /** The log begins after this index. */
  readonly baseIndex: number;
  /** A restart begins here; 0: there is no snapshot. */
  readonly snapshotIndex: number;
  /** By how they ended: taken, failed. */
  readonly checkpoints: Readonly<Record<string, number>>;
  /** Spent on those that were taken. */
  readonly checkpointSeconds: number;
  /** Of the last that was taken by this process; undefined: none yet. */
  readonly lastCheckpointBytes: number | undefined;
  /** Snapshots from other servers, by how they ended: installed, failed. */
  readonly snapshotFetches: Readonly<Record<string, number>>;
  readonly snapshotReceivedBytes: number;
  readonly leaderChanges: number;
  /** Proposals of this server, by how they ended: applied, failed, ... */
  readonly proposals: Readonly<Record<string, number>>;
  readonly proposalsPending: number;
  /** Reads, by consistency: linearizable, atLeast, local. */
  readonly reads: Readonly<Record<string, number>>;
}

/** Durations in seconds. */
export interface HistogramSnapshot {
  /** Inclusive upper bounds of the buckets, ascending. */
  readonly boundsSeconds: readonly number[];
  /** Observations per bucket, not cumulative; one more than bounds, for what is above them all. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

/** The answer of /v1/status, the counterpart of cadastre.admin.v1.GetStatusResponse. */
export interface AdminStatus {
  readonly clusterName: string;
  readonly clusterId: string;
  readonly serverId: number;
  readonly productVersion: string;
  readonly uptimeMs: number;
  readonly servers: readonly {
    readonly serverId: number;
    readonly grpcAddress: string;
    readonly peerAddress: string;
    readonly httpAddress: string;
    /** As seen from here; the own entry is always reachable. */
    readonly isReachable: boolean;
  }[];
  readonly groups: readonly GroupStatus[];
  /** Why this server takes no part in any group; undefined: it does. */
  readonly abstention: { readonly reason: string; readonly details: string } | undefined;
}

export interface GroupStatus {
  readonly group: number;
  readonly role: "leader" | "follower" | "candidate" | "preCandidate";
  readonly term: number;
  readonly leaderServerId: number | undefined;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly lastIndex: number;
  readonly revision: number;
  readonly logEntries: number;
  readonly logBytes: number;
  readonly snapshotIndex: number;
  readonly replicas: readonly {
    readonly serverId: number;
    readonly replicaId: number;
    /** Known to the leader only. */
    readonly matchIndex: number | undefined;
  }[];
}
