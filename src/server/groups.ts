/**
 * The groups of one server: a replica with its machine for the root and for each metadata shard,
 * and what the services need of them.
 */

import { defined } from "../base/assert.ts";
import { type GroupId, type LogIndex, ROOT_GROUP, type ServerId } from "../base/brands.ts";
import { EventHistory } from "../fanout/history.ts";
import type { GroupMachine } from "../machine/group.ts";
import { RootMachine } from "../machine/root/machine.ts";
import { ShardMachine } from "../machine/shard/machine.ts";
import type { Transition } from "../raft/output.ts";
import type { RaftConfig } from "../raft/types.ts";
import { GroupAccess } from "../replica/group-access.ts";
import { replicaOf, ReplicaHost, serverOf } from "../replica/host.ts";
import type {
  Clock,
  Forwarder,
  LoadedReplica,
  Logger,
  LogStore,
  SnapshotSource,
  SnapshotStore,
  Timers,
  Transport,
} from "../replica/ports.ts";
import type { SnapshotPorts } from "../replica/group-snapshots.ts";
import { Replica, type ReplicaOptions } from "../replica/replica.ts";
import { Turns } from "../replica/turns.ts";
import type { Abstention } from "../wire/api.ts";
import type { ServerConfig } from "./config/schema.ts";
import type { ClusterGroups, ShardGroup } from "./services/cluster-groups.ts";

/** What bounds raft's use of memory and network; each is explained in raft/types.ts. */
export type RaftBounds = Pick<
  RaftConfig,
  | "appendBytesMax"
  | "inflightMessagesMax"
  | "uncommittedBytesMax"
  | "pendingReadsMax"
  | "logHeldBytesMax"
>;

export const RAFT_BOUNDS: RaftBounds = {
  /** A quarter of what peers accept. */
  appendBytesMax: 256 * 1024,
  inflightMessagesMax: 64,
  uncommittedBytesMax: 32 * 1024 * 1024,
  pendingReadsMax: 20_000,
  /** A snapshot that takes longer to send than this much of change to come in is sent anew. */
  logHeldBytesMax: 128 * 1024 * 1024,
};

/** What watches can resume from: enough for a minute of heavy change, bounded in memory. */
const HISTORY: HistoryBounds = { changesMax: 500_000, revisionsMax: 100_000 };

export interface GroupsOptions {
  readonly config: ServerConfig;
  readonly loaded: readonly LoadedReplica[];
  readonly store: LogStore;
  readonly snapshotStore: SnapshotStore;
  readonly snapshotSource: SnapshotSource;
  readonly transport: Transport;
  readonly forwarder: Forwarder;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Makes the seed of each group's election jitter. */
  readonly seed: number;
  readonly onHalt: (reason: string) => void;
  /** After every applied entry of the root. */
  readonly onRootApplied: () => void;
  /** Why the server takes no part; undefined: it does, as always by default. */
  readonly abstention?: () => Abstention | undefined;
  /** How much of a shard's recent changes is kept; by default about a minute of heavy change. */
  readonly history?: HistoryBounds;
  /** Simulations draw small ones. */
  readonly raftBounds?: RaftBounds;
}

export interface HistoryBounds {
  readonly changesMax: number;
  readonly revisionsMax: number;
}

export interface ServerGroups {
  readonly host: ReplicaHost;
  readonly groups: ClusterGroups;
  /** Leader changes seen since the start, by group. */
  readonly leaderChanges: ReadonlyMap<GroupId, number>;
}

/** What the groups of a server have in common. */
interface Shared extends GroupsOptions {
  readonly snapshots: SnapshotPorts;
  readonly leaderChanges: Map<GroupId, number>;
}

export function startGroups(options: GroupsOptions): ServerGroups {
  const { config, loaded, logger, clock, timers } = options;
  const host = new ReplicaHost(logger, () => options.abstention?.() === undefined);
  const leaderChanges = new Map<GroupId, number>();
  const snapshots: SnapshotPorts = {
    store: options.snapshotStore,
    source: options.snapshotSource,
    turns: new Turns(),
    checkpointBytesMin: config.storage.checkpointBytesMin,
    serverOf,
  };
  const shared: Shared = { ...options, snapshots, leaderChanges };
  const rootMachine = new RootMachine();
  const onRootChanged = (): void => options.onRootApplied();
  const root = startReplica(shared, rootMachine, {
    onApplied: onRootChanged,
    onReplaced: onRootChanged,
  });
  host.add(root.replica);
  const shards = new Map<GroupId, ShardGroup>();
  for (const { group } of loaded) {
    if (group === ROOT_GROUP) continue;
    const shard = startShard(shared, group);
    host.add(shard.access.replica);
    shards.set(group, shard);
  }
  const groups: ClusterGroups = {
    clusterId: config.cluster.id,
    self: config.server.id as ServerId,
    root,
    get rootState() {
      return rootMachine.state;
    },
    shards,
    clock,
    timers,
  };
  return { host, groups, leaderChanges };
}

function startShard(shared: Shared, group: GroupId): ShardGroup {
  const machine = new ShardMachine(group);
  const history = new EventHistory({ start: machine.revision, ...(shared.history ?? HISTORY) });
  const listeners = new Set<() => void>();
  const tellListeners = (): void => {
    for (const run of Array.from(listeners)) run();
  };
  const access = startReplica(shared, machine, {
    onApplied: ({ revision, events }) => {
      history.add(revision, events);
      // Renewals and other entries without events are no news to anybody.
      if (events.length > 0) tellListeners();
    },
    onReplaced: () => {
      history.reset(machine.revision);
      tellListeners();
    },
  });
  const onApplied = (run: () => void): (() => void) => {
    listeners.add(run);
    return () => listeners.delete(run);
  };
  return {
    access,
    get state() {
      return machine.state;
    },
    history,
    onApplied,
  };
}

function startReplica<Request, Answer, Event>(
  shared: Shared,
  machine: GroupMachine<Request, Answer, Event>,
  changes: Pick<ReplicaOptions<Request, Answer, Event>, "onApplied" | "onReplaced">,
): GroupAccess<Request, Answer, Event> {
  const { config, loaded, transport, forwarder, clock, timers, logger } = shared;
  const { group } = machine;
  const self = config.server.id as ServerId;
  const restored = defined(
    loaded.find((candidate) => candidate.group === group),
    "the store holds every group that is started",
  );
  const replica = new Replica({
    loaded: restored,
    raft: raftConfig(shared, group),
    machine,
    store: shared.store,
    snapshots: shared.snapshots,
    clock,
    timers,
    logger,
    send: (to, message) => {
      transport.send(serverOf(to), { group, from: replicaOf(self), to, message });
    },
    ...changes,
    onTransition: (transition) => {
      if (isLeaderChange(transition)) {
        shared.leaderChanges.set(group, (shared.leaderChanges.get(group) ?? 0) + 1);
      }
      logTransition(logger, group, transition);
    },
    onHalt: shared.onHalt,
  });
  return new GroupAccess({
    replica,
    self,
    serverOf: (id) => serverOf(id as never),
    others: restored.configuration.voters.map(serverOf).filter((id) => id !== self),
    forwarder,
    clock,
    timers,
  });
}

function raftConfig(
  { config, raftBounds, seed }: GroupsOptions,
  group: GroupId,
): ReplicaOptions<unknown, unknown, unknown>["raft"] {
  return {
    ...config.raft,
    ...(raftBounds ?? RAFT_BOUNDS),
    logTrailingBytes: config.storage.logTrailingBytes,
    seed: seed + group * 1_000_003,
  };
}

function isLeaderChange(transition: Transition): boolean {
  if (transition.kind === "becameLeader") return true;
  return transition.kind === "becameFollower" && transition.leaderId !== undefined;
}

/** What operators want to see of elections; the rest is for debugging. */
function logTransition(logger: Logger, group: GroupId, transition: Transition): void {
  const { kind, ...fields } = transition;
  switch (transition.kind) {
    case "becameLeader":
    case "steppedDown":
    case "snapshotAccepted":
    case "transferStarted":
    case "transferAborted":
      logger.info(kind, { group, ...fields });
      return;
    case "becameFollower":
      if (transition.leaderId === undefined) return;
      logger.info("followsLeader", { group, term: transition.term, leader: transition.leaderId });
      return;
    case "becamePreCandidate":
    case "becameCandidate":
    case "leaderReady":
    case "transferRefused":
    case "truncated":
    case "voted":
      logger.debug(kind, { group, ...fields });
      return;
  }
}

/** The largest index at which a replica knows to have been committed before it started. */
export function isReplayed(access: {
  readonly replica: { readonly replayedIndex: LogIndex; readonly appliedIndex: LogIndex };
}): boolean {
  return access.replica.appliedIndex >= access.replica.replayedIndex;
}
