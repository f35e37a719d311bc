/**
 * What one seed does: its sizes, its speeds and its subset of the faults, drawn anew for each, so
 * that every seed leaves some faults out and presses others (swarm testing), and sizes are often
 * far smaller than anybody would choose.
 */

import { CLOCK_RATE_ERROR } from "../../src/base/lease-timing.ts";
import type { Prng } from "../../src/base/prng.ts";
import type { ServerConfig } from "../../src/server/config/schema.ts";
import type { HistoryBounds, RaftBounds } from "../../src/server/groups.ts";
import type { ChannelQuality } from "../../src/testing/faulty-channels.ts";
import type { LinkQuality } from "../../src/testing/faulty-network.ts";
import type { SnapshotQuality } from "../../src/testing/faulty-snapshots.ts";
import type { DiskQuality } from "../../src/testing/virtual-disk.ts";

export const MODES = ["safety", "liveness"] as const;
/**
 * safety: faults everywhere for a while, then everything heals. liveness: then a quorum heals and
 * the rest stays broken for good, each in its way; faults that end hide livelocks.
 */
export type Mode = (typeof MODES)[number];

export const FAULTS = [
  "peerCutOneWay",
  "peerIsolation",
  "peerPartition",
  "oldMessages",
  "linkRefused",
  "linkSilent",
  "allLinksSilent",
  "serverKill",
  "serverKillAtPoint",
  "crashLoop",
  "powerCut",
  "clusterPowerCut",
  "serverPause",
  "serverStop",
  "leaderTransfer",
  "slowDisk",
  "appendError",
  "syncError",
  "hungDisk",
  "storeFault",
  "ownerPause",
  "ownerCrash",
  "ownerReplacement",
  "ownerClose",
  "ownerRelease",
  "ownerCopy",
  "clientPause",
  "storeCrash",
] as const;
/** What leases alone can't stand, and fencing must: only where owners are not bound. */
export const UNBOUND_FAULTS = ["suspension", "rateChange", "clockJump"] as const;

export type FaultName = (typeof FAULTS)[number] | (typeof UNBOUND_FAULTS)[number];

export interface Shape {
  readonly mode: Mode;
  readonly servers: number;
  readonly nodes: number;
  /**
   * Clocks keep within rho, no machine is suspended, and one that is copied goes on until the
   * group has told the two apart: then leases alone must exclude.
   */
  readonly ownersAreBound: boolean;
  /** Of each process, drawn from these. */
  readonly rates: readonly number[];
  readonly tickMs: number;
  readonly raftBounds: RaftBounds;
  readonly storage: ServerConfig["storage"];
  readonly snapshots: SnapshotQuality;
  readonly history: HistoryBounds;
  readonly disk: DiskQuality;
  readonly peers: LinkQuality;
  readonly channels: ChannelQuality;
  readonly leaseDurationsMs: readonly number[];
  readonly epochWriteMsMax: number;
  /** How long an owner lets its work end when a range is handed over. */
  readonly drainMs: number;
  readonly faults: readonly FaultName[];
  readonly faultEveryMs: number;
  readonly faultLastsMs: number;
  /** Faults begin with the cluster, not after it has come up. */
  readonly startsInTrouble: boolean;
  readonly operateEveryMs: number;
  readonly readEveryMs: number;
  readonly requestEveryMs: number;
}

export function drawShape(prng: Prng, mode: Mode | undefined): Shape {
  const ownersAreBound = prng.chance(0.8);
  const possible = ownersAreBound ? FAULTS : [...FAULTS, ...UNBOUND_FAULTS];
  const share = prng.pick([0.15, 0.4, 0.7]);
  const faults = possible.filter(() => prng.chance(share));
  const rho = CLOCK_RATE_ERROR;
  return {
    mode: mode ?? prng.pick(MODES),
    servers: prng.chance(0.15) ? 5 : 3,
    nodes: prng.pick([3, 4]),
    ownersAreBound,
    rates: ownersAreBound
      ? prng.pick([[1], [1 - rho, 1 + rho], [1 - rho, 1 - rho / 2, 1, 1 + rho / 2, 1 + rho]])
      : prng.pick([[1], [0.9, 1.1], [0.5, 1, 2]]),
    tickMs: prng.pick([50, 100, 100]),
    raftBounds: {
      appendBytesMax: prng.pick([1, 200, 2_000, 262_144]),
      inflightMessagesMax: prng.pick([1, 2, 8, 64]),
      uncommittedBytesMax: prng.pick([600, 5_000, 1_000_000]),
      pendingReadsMax: prng.pick([2, 20, 20_000]),
      logHeldBytesMax: prng.pick([2_000, 10_000, 128_000_000]),
    },
    storage: {
      checkpointBytesMin: prng.pick([200, 200, 2_000, 20_000, 32_000_000]),
      logTrailingBytes: prng.pick([0, 0, 500, 2_000]),
      snapshotBytesPerSecond: 32_000_000,
    },
    snapshots: {
      chunkBytes: prng.pick([100, 2_000, 262_144]),
      delayMsMax: prng.pick([0.5, 5, 50]),
      breaks: prng.pick([0, 0.02, 0.3]),
    },
    history: drawHistory(prng),
    disk: {
      syncMsMax: prng.pick([0.2, 2, 2, 20]),
      segmentBatchesMax: prng.pick([1, 5, 50, 1_000]),
      flushMsMax: prng.pick([1, 100, 3_000]),
    },
    peers: {
      delayMsMax: prng.pick([0.5, 2, 20, 100]),
      loss: prng.pick([0, 0, 0.02, 0.15]),
      duplication: prng.pick([0, 0, 0.02, 0.2]),
      reordering: prng.pick([0, 0, 0.02, 0.3]),
    },
    channels: {
      delayMsMax: prng.pick([1, 10, 100, 600]),
      loss: prng.pick([0, 0.02, 0.2]),
      answerLoss: prng.pick([0, 0.02, 0.2]),
      duplication: prng.pick([0, 0.05, 0.3]),
    },
    leaseDurationsMs: prng.pick([[1_500], [3_000], [6_000], [2_000, 5_000]]),
    epochWriteMsMax: prng.pick([1, 20, 300]),
    drainMs: prng.pick([100, 500, 2_000]),
    faults: faults.length === 0 ? [prng.pick(possible)] : faults,
    faultEveryMs: prng.pick([250, 600, 1_500]),
    faultLastsMs: prng.pick([100, 300, 1_500, 5_000]),
    startsInTrouble: prng.chance(0.3),
    operateEveryMs: prng.pick([200, 500, 1_000]),
    readEveryMs: prng.pick([150, 400, 1_000]),
    requestEveryMs: prng.pick([60, 150, 300]),
  };
}

function drawHistory(prng: Prng): HistoryBounds {
  const most = prng.pick([4, 50, 100_000]);
  return { changesMax: most, revisionsMax: most };
}
