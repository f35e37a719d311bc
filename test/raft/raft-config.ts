/** The configuration that raft tests start from: three voters, heartbeats each tick. */

import type { GroupId, ReplicaId } from "../../src/base/brands.ts";
import type { RaftConfig } from "../../src/raft/types.ts";

export interface ConfigChanges extends Partial<Omit<RaftConfig, "configuration">> {
  readonly voters?: readonly ReplicaId[];
}

export function raftConfig(changes: ConfigChanges): RaftConfig {
  const { voters = [1, 2, 3] as ReplicaId[], ...rest } = changes;
  return {
    group: 0 as GroupId,
    self: 1 as ReplicaId,
    configuration: { voters },
    tickMs: 50,
    heartbeatTicks: 1,
    electionTimeoutTicksMin: 10,
    electionTimeoutTicksMax: 20,
    inflightMessagesMax: 16,
    appendBytesMax: 10_000,
    uncommittedBytesMax: 100_000,
    logTrailingBytes: 0,
    logHeldBytesMax: 100_000,
    pendingReadsMax: 16,
    seed: 1,
    ...rest,
  };
}
