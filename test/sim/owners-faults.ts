// What one seed does to its servers, links and owners: a mix drawn anew for each seed, so that
// every seed leaves some faults out and presses others (swarm testing).
import type { Prng } from "../../src/base/prng.ts";
import type { LinkMix } from "./owners-network.ts";

export const OWNER_FAULTS = [
  "serverCrash",
  "serverCut",
  "serverStall",
  "slowDisk",
  "linkRefused",
  "linkSilent",
  "allLinksSilent",
  "pause",
  "processCrash",
  "replace",
  "close",
  "release",
] as const;

export type OwnerFault = (typeof OWNER_FAULTS)[number];

export interface OwnersMix {
  readonly nodes: number;
  readonly peerDelayMs: number;
  readonly links: LinkMix;
  /** Of each server and each process, drawn from these. */
  readonly rates: readonly number[];
  readonly leaseDurationsMs: readonly number[];
  readonly epochWriteMsMax: number;
  readonly faults: readonly OwnerFault[];
  readonly faultEveryMs: number;
  readonly faultLastsMs: number;
  readonly operateEveryMs: number;
  readonly historyChangesMax: number;
}

export function drawOwnersMix(prng: Prng): OwnersMix {
  const faults = OWNER_FAULTS.filter(() => prng.chance(0.5));
  return {
    nodes: prng.pick([3, 4]),
    peerDelayMs: prng.pick([0, 0, 2, 20]),
    links: {
      delayMsMax: prng.pick([1, 10, 100, 800]),
      loss: prng.pick([0, 0.02, 0.2]),
      answerLoss: prng.pick([0, 0.02, 0.2]),
      repeat: prng.pick([0, 0.05, 0.3]),
    },
    rates: prng.pick([[1], [0.99, 1.01], [0.99, 0.995, 1, 1.005, 1.01]]),
    leaseDurationsMs: prng.pick([[1_500], [3_000], [6_000], [2_000, 5_000]]),
    epochWriteMsMax: prng.pick([1, 20, 300]),
    faults: faults.length === 0 ? ["pause"] : faults,
    faultEveryMs: prng.pick([300, 700, 1_500]),
    faultLastsMs: prng.pick([300, 1_500, 5_000]),
    operateEveryMs: prng.pick([100, 300, 800]),
    historyChangesMax: prng.pick([4, 50, 100_000]),
  };
}
