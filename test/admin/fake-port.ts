// An AdminPort for tests, in good order until a test changes it.
import type {
  AdminPort,
  AdminStatus,
  GroupHealth,
  HealthFacts,
  MetricsSnapshot,
} from "../../src/admin/port.ts";

export const GOOD_GROUP: GroupHealth = {
  group: 0,
  isReplayed: true,
  awaitsSnapshot: false,
  leaderServerId: 1,
  readIndexAgeMs: 5,
};

export class FakePort implements AdminPort {
  healthFacts: HealthFacts = {
    fatalError: undefined,
    storageError: undefined,
    abstention: undefined,
    isDraining: false,
    groups: [GOOD_GROUP],
  };
  metricsSnapshot: MetricsSnapshot = {
    groups: [
      {
        group: 0,
        hasLeader: true,
        isLeader: false,
        term: 3,
        commitIndex: 40,
        appliedIndex: 39,
        lastIndex: 41,
        logEntries: 11,
        logBytes: 2_048,
        baseIndex: 30,
        snapshotIndex: 35,
        checkpoints: { taken: 3, failed: 1 },
        checkpointSeconds: 0.25,
        lastCheckpointBytes: 4_096,
        snapshotFetches: { installed: 1, failed: 2 },
        snapshotReceivedBytes: 8_192,
        leaderChanges: 2,
        proposals: { applied: 7, failed: 1 },
        proposalsPending: 4,
        reads: { linearizable: 9 },
      },
    ],
    watches: 6,
    renewals: { renewed: 100 },
    snapshotSends: {
      active: 1,
      results: { completed: 2, broken: 3, refused: 4 },
      sentBytes: 16_384,
    },
    logSync: { boundsSeconds: [0.001, 0.01], counts: [5, 2, 1], sumSeconds: 0.5 },
  };
  adminStatus: AdminStatus = {
    clusterName: "demo",
    clusterId: "0123456789abcdef0123456789abcdef",
    serverId: 1,
    productVersion: "1.2.3",
    uptimeMs: 1234.5,
    servers: [
      {
        serverId: 1,
        grpcAddress: "127.0.0.1:7400",
        peerAddress: "127.0.0.1:7401",
        httpAddress: "127.0.0.1:7402",
        isReachable: true,
      },
    ],
    abstention: undefined,
    groups: [
      {
        group: 0,
        role: "leader",
        term: 3,
        leaderServerId: undefined,
        commitIndex: 40,
        appliedIndex: 39,
        lastIndex: 41,
        revision: 2 ** 44 + 40,
        logEntries: 11,
        logBytes: 2_048,
        snapshotIndex: 35,
        replicas: [{ serverId: 1, replicaId: 1, matchIndex: undefined }],
      },
    ],
  };

  health(): HealthFacts {
    return this.healthFacts;
  }

  metrics(): MetricsSnapshot {
    return this.metricsSnapshot;
  }

  status(): AdminStatus {
    return this.adminStatus;
  }
}
