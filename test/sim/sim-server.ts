/**
 * One simulated server: what outlives its processes, and the present one. What it does is in
 * servers.ts.
 */

import type { GroupId, ServerId } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import type { Entry } from "../../src/raft/types.ts";
import type { ServerCore } from "../../src/server/server-core.ts";
import type { ServingProcess } from "../../src/testing/faulty-channels.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { VirtualDisk } from "../../src/testing/virtual-disk.ts";
import { VirtualFiles } from "../../src/testing/virtual-files.ts";
import type { Shape } from "./shape.ts";
import { StoreModel } from "./store-model.ts";

/** Where a process can be made to die, in the middle of whatever it does. */
export const CRASH_POINTS = ["sends", "submits", "hearsDurable", "applies", "leads"] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

interface ServerProcess extends ServingProcess {
  /** undefined: it takes no part, for good, and its services say so. */
  readonly core: ServerCore | undefined;
}

/** What can befall a store. An image that it is put back to is one of an earlier time. */
export const STORE_FAULTS = ["lost", "logEmptied", "logRolledBack", "rolledBack"] as const;
export type StoreFault = (typeof STORE_FAULTS)[number];

export interface SimServer {
  readonly id: ServerId;
  readonly address: string;
  /** What LevelDB writes to, and the files beside it. */
  readonly disk: VirtualDisk;
  readonly files: VirtualFiles;
  readonly model: StoreModel;
  /** Of its clock, in each of its processes. */
  rate: number;
  /** Of the present process; killed when there is none. */
  clock: ProcessClock;
  /** undefined while it is down or opening its store. */
  process: ServerProcess | undefined;
  /** Dies at the so-manieth passing of a point. */
  crashAt: { readonly point: CrashPoint; left: number } | undefined;
  isCreated: boolean;
  /** Every other server has remembered its store. */
  isAdmitted: boolean;
  /** What has befallen its store, whether it matters or not: it owes nobody to work any more. */
  hitBy: StoreFault | undefined;
  /** That has not been noticed by any open yet. */
  isStoreChanged: boolean;
  /** It can never be started again. */
  isOut: boolean;
  /** Of those only; undefined: of whoever can be reached. */
  meetsOnly: Set<ServerId> | undefined;
  /** Of its processes. */
  starts: number;
}

export interface NewSimServerOptions {
  readonly seed: number;
  readonly shape: Shape;
  readonly world: VirtualClock;
  readonly rate: number;
  /** The disk has lost these entries by a truncation in a term. */
  readonly onCut: (group: GroupId, entries: readonly Entry[], byTerm: number) => void;
}

/** One that was never started. */
export function newSimServer(
  id: ServerId,
  { seed, shape, world, rate, onCut }: NewSimServerOptions,
): SimServer {
  const prng = Prng.fromSeed(seed * 11 + id);
  const clock = new ProcessClock(world, {});
  clock.kill();
  return {
    id,
    address: `server-${id}:1`,
    disk: new VirtualDisk({ world, prng, quality: shape.disk }),
    files: new VirtualFiles({ world, prng: prng.clone(), syncMsMax: shape.disk.syncMsMax }),
    model: new StoreModel(onCut),
    rate,
    clock,
    process: undefined,
    crashAt: undefined,
    isCreated: false,
    isAdmitted: false,
    hitBy: undefined,
    isStoreChanged: false,
    isOut: false,
    meetsOnly: undefined,
    starts: 0,
  };
}
