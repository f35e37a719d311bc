/**
 * What one seed does to its group: sizes and a mix of faults, drawn anew for each seed, so that
 * every seed leaves some faults out and presses others (swarm testing).
 */

import type { Prng } from "../../src/base/prng.ts";

export const FAULT_KINDS = [
  "crash",
  "powerCut",
  "cutOneWay",
  "isolate",
  "partition",
  "pause",
  "clockJump",
  "slowDisk",
  "hungDisk",
  "oldMessages",
  "unreachable",
  "transfer",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface FaultMix {
  readonly voters: number;
  readonly tickMs: number;
  readonly inflightMessagesMax: number;
  readonly appendBytesMax: number;
  readonly uncommittedBytesMax: number;
  readonly pendingReadsMax: number;
  /** Entries applied between two checkpoints; 0: none is ever taken. */
  readonly checkpointEvery: number;
  readonly logTrailingBytes: number;
  readonly logHeldBytesMax: number;
  /** How long a checkpoint and a transfer take, at most. */
  readonly snapshotMsMax: number;
  /** Chances per message. */
  readonly loss: number;
  readonly duplication: number;
  readonly longDelay: number;
  readonly delayMsMax: number;
  readonly diskMsMax: number;
  /** Persist steps that share one write. */
  readonly diskStepsMax: number;
  readonly faults: readonly FaultKind[];
  readonly faultEveryMs: number;
  readonly proposeEveryMs: number;
  readonly proposeBurst: number;
  readonly readEveryMs: number;
  /** Whether crashes and cuts are noticed by the peers' transports. */
  readonly noticesBreaks: boolean;
}

export function drawFaultMix(prng: Prng): FaultMix {
  const faults = FAULT_KINDS.filter(() => prng.chance(0.5));
  return {
    voters: prng.chance(0.25) ? 5 : 3,
    tickMs: 50,
    inflightMessagesMax: prng.pick([1, 2, 4, 16]),
    appendBytesMax: prng.pick([1, 80, 300, 4_096]),
    uncommittedBytesMax: prng.pick([150, 1_000, 1_000_000]),
    pendingReadsMax: prng.pick([1, 4, 64]),
    checkpointEvery: prng.pick([0, 3, 20, 100]),
    logTrailingBytes: prng.pick([0, 200, 2_000]),
    logHeldBytesMax: prng.pick([2_000, 20_000, 10_000_000]),
    snapshotMsMax: prng.pick([5, 100, 1_500]),
    loss: prng.pick([0, 0, 0.02, 0.1, 0.3]),
    duplication: prng.pick([0, 0.02, 0.2]),
    longDelay: prng.pick([0, 0.02, 0.1]),
    delayMsMax: prng.pick([1, 5, 30, 120]),
    diskMsMax: prng.pick([0, 2, 20, 200]),
    diskStepsMax: prng.pick([1, 3, 1_000]),
    faults: faults.length === 0 ? ["crash"] : faults,
    faultEveryMs: prng.pick([300, 700, 1_500]),
    proposeEveryMs: prng.pick([20, 60, 200]),
    proposeBurst: prng.pick([1, 3, 12]),
    readEveryMs: prng.pick([20, 100, 400]),
    noticesBreaks: prng.chance(0.5),
  };
}
