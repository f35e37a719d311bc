/** What every scenario gets: the two contestants, the sizes of the run, and how to take turns. */

import type { EtcdCluster } from "./etcd-cluster.ts";
import { GrantPool } from "./grant-pool.ts";
import type { H2load } from "./h2load.ts";
import type { LoadReading } from "./load.ts";
import type { OurCluster } from "./our-cluster.ts";
import type { Budget, Measured } from "./results.ts";
import { median } from "./statistics.ts";

export interface Sizes {
  /** Rounds of each contestant that are not recorded, before those that are. */
  readonly warmUpRounds: number;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Ranges to grant, which must last for one round. */
  readonly ranges: number;
  readonly kills: number;
  readonly pauses: number;
  /** Between two outages, so that the one that was away is a quiet follower again. */
  readonly settleMs: number;
  readonly nodes: number;
  readonly rangesPerNode: number;
  readonly renewIntervalMs: number;
}

export interface RowHead {
  readonly name: string;
  readonly what: string;
  readonly unit: string;
  readonly budget: Budget;
}

export interface Finding {
  readonly ours: Measured;
  readonly peer: Measured | undefined;
  readonly note: string;
}

export interface Scenario {
  readonly name: string;
  readonly rows: readonly RowHead[];
  readonly needsH2load: boolean;
  /** One finding for each row, in order. */
  readonly run: (bench: Bench) => Promise<readonly Finding[]>;
}

/** Something that goes on by itself until it is stopped. */
export interface BackgroundLoad {
  readonly start: () => void;
  /** Answers how many calls were answered per second; rejects when one was refused. */
  readonly stop: () => Promise<number>;
  readonly close: () => void;
}

export interface BenchParts {
  readonly ours: OurCluster;
  readonly peer: EtcdCluster | undefined;
  readonly h2load: H2load | undefined;
  readonly sizes: Sizes;
  readonly say: (line: string) => void;
}

export class Bench {
  readonly ours: OurCluster;
  readonly peer: EtcdCluster | undefined;
  readonly sizes: Sizes;
  readonly say: (line: string) => void;
  readonly #h2load: H2load | undefined;
  #pool: Promise<GrantPool> | undefined;

  constructor({ ours, peer, h2load, sizes, say }: BenchParts) {
    this.ours = ours;
    this.peer = peer;
    this.sizes = sizes;
    this.say = say;
    this.#h2load = h2load;
  }

  /** The ranges of this cluster that are granted, made when first asked for. */
  pool(): Promise<GrantPool> {
    this.#pool ??= GrantPool.make(this.ours.client, this.sizes.ranges);
    return this.#pool;
  }

  get h2load(): H2load {
    if (this.#h2load === undefined) throw new Error("h2load is not installed");
    return this.#h2load;
  }

  /** Ours, theirs, ours, theirs. */
  async takeTurns<T>(turns: {
    readonly what: string;
    readonly ours: () => Promise<T>;
    readonly peer: ((peer: EtcdCluster) => Promise<T>) | undefined;
    readonly show: (result: T) => string;
  }): Promise<{ readonly ours: readonly T[]; readonly peer: readonly T[] }> {
    const ours: T[] = [];
    const peer: T[] = [];
    const { rounds, warmUpRounds } = this.sizes;
    for (let round = 1 - warmUpRounds; round <= rounds; round++) {
      const mine = await turns.ours();
      const theirs =
        this.peer === undefined || turns.peer === undefined
          ? undefined
          : await turns.peer(this.peer);
      const label = round < 1 ? "warm-up" : `round ${round} of ${rounds}`;
      const beside = theirs === undefined ? "" : `, etcd ${turns.show(theirs)}`;
      this.say(`${turns.what}: ${label}: ${turns.show(mine)}${beside}`);
      if (round < 1) continue;
      ours.push(mine);
      if (theirs !== undefined) peer.push(theirs);
    }
    return { ours, peer };
  }
}

/** "leader 0.95, others 0.40, generator 0.06": medians over the rounds. */
export function coresText(readings: readonly Pick<LoadReading, "cores">[]): string {
  const names = Object.keys(readings[0]?.cores ?? {});
  return names
    .map((name) => {
      const values = readings.map(({ cores }) => cores[name] ?? Number.NaN);
      return `${name} ${median(values).toFixed(2)}`;
    })
    .join(", ");
}

/** What kept the processors busy on either side, for the notes. */
export function coresNote(
  ours: readonly Pick<LoadReading, "cores">[],
  peer: readonly Pick<LoadReading, "cores">[],
): string {
  const theirs = peer.length === 0 ? "" : `; with etcd: ${coresText(peer)}`;
  return `cores in use: ${coresText(ours)}${theirs}`;
}

/** The ids of a cluster's processes, apart by what they do. */
export function watchedPids(
  leaderPid: number,
  pids: readonly number[],
): Readonly<Record<string, readonly number[]>> {
  return { leader: [leaderPid], followers: pids.filter((pid) => pid !== leaderPid) };
}
