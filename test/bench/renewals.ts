/**
 * What it costs the leader to keep many leases alive: its processor time while every node renews in
 * every interval, above its time while nobody does. For the peer, keep-alives of as many leases at
 * the same rate, and beside it of one lease per node, to which the node's keys would be bound.
 */

import type { GroupId } from "../../src/base/brands.ts";
import { CONFIG_DEFAULTS } from "../../src/server/config/schema.ts";
import type { BackgroundLoad, Bench, Finding, RowHead, Scenario } from "./bench.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { KeepAlives } from "./keep-alives.ts";
import { cpuMsOf, delay } from "./processes.ts";
import { RenewalLoad } from "./renewal-load.ts";
import { overRounds } from "./results.ts";
import { median } from "./statistics.ts";

const ENTRIES_PER_SECOND_MAX = 1_000 / CONFIG_DEFAULTS.raft.tickMs;

const ROWS: readonly RowHead[] = [
  {
    name: "renewals",
    what: "all leases renewed every interval: leader above idle; peer: one keep-alive a lease",
    unit: "% of a core",
    budget: { kind: "atMost", limit: 5 },
  },
  {
    name: "renewals-per-node",
    what: "the same; peer: one lease and one keep-alive a node",
    unit: "% of a core",
    budget: { kind: "none" },
  },
  {
    name: "renewals-entries",
    what: "entries per second of the busiest group meanwhile",
    unit: "entries/s",
    budget: { kind: "atMost", limit: ENTRIES_PER_SECOND_MAX },
  },
];

export const renewals: Scenario = {
  name: "renewals",
  rows: ROWS,
  needsH2load: false,
  run: measure,
};

interface Reading {
  readonly idlePercent: number;
  readonly loadedPercent: number;
  readonly callsPerSecond: number;
  /** Of the busiest group; only of ours. */
  readonly entriesPerSecond: number;
}

/** Of the peer there are two, by what stands for a node's leases. */
interface Turn {
  readonly perLease: Reading;
  readonly perNode: Reading;
}

async function measure(bench: Bench): Promise<readonly Finding[]> {
  const { nodes, rangesPerNode, renewIntervalMs } = bench.sizes;
  bench.say(`renewals: granting ${nodes * rangesPerNode} ranges to ${nodes} nodes`);
  const leader = await bench.ours.leader();
  const load = await RenewalLoad.make(bench.ours, leader.grpc, bench.sizes);
  const loads: BackgroundLoad[] = [load];
  const peer = bench.peer === undefined ? undefined : await peerTurn(bench, bench.peer, loads);
  const count = () => bench.ours.committedEntries(leader);
  const turns = await bench.takeTurns<Turn>({
    what: "renewals",
    ours: async () => {
      const reading = await read(leader.pid, load, renewIntervalMs, count);
      return { perLease: reading, perNode: reading };
    },
    peer,
    show: ({ perLease }) =>
      `${above(perLease).toFixed(1)} % above ${perLease.idlePercent.toFixed(1)} %`,
  });
  for (const one of loads) one.close();
  const sizes = `${nodes} nodes x ${rangesPerNode} ranges every ${renewIntervalMs} ms`;
  const entries = turns.ours.map(({ perLease }) => perLease.entriesPerSecond);
  return [
    finding(turns, sizes, ({ perLease }) => perLease),
    finding(turns, sizes, ({ perNode }) => perNode),
    { ours: overRounds(entries), peer: undefined, note: `${sizes}; the peer logs no keep-alive` },
  ];
}

async function peerTurn(
  { sizes }: Bench,
  etcd: EtcdCluster,
  loads: BackgroundLoad[],
): Promise<() => Promise<Turn>> {
  const { nodes, rangesPerNode, renewIntervalMs } = sizes;
  const { address, process } = await etcd.leader();
  const make = async (count: number): Promise<BackgroundLoad> => {
    const load = await KeepAlives.make(address, count, renewIntervalMs);
    loads.push(load);
    return load;
  };
  const perLease = await make(nodes * rangesPerNode);
  const perNode = await make(nodes);
  return async () => ({
    perLease: await read(process.pid, perLease, renewIntervalMs),
    perNode: await read(process.pid, perNode, renewIntervalMs),
  });
}

function above({ loadedPercent, idlePercent }: Reading): number {
  return loadedPercent - idlePercent;
}

function finding(
  turns: { readonly ours: readonly Turn[]; readonly peer: readonly Turn[] },
  sizes: string,
  pick: (turn: Turn) => Reading,
): Finding {
  const [ours, peer] = [turns.ours.map(pick), turns.peer.map(pick)];
  const words = (readings: readonly Reading[]): string => {
    const idle = median(readings.map(({ idlePercent }) => idlePercent));
    const rate = median(readings.map(({ callsPerSecond }) => callsPerSecond));
    return `${rate.toFixed(0)} calls/s answered, idle ${idle.toFixed(1)} %`;
  };
  const theirs = peer.length === 0 ? "" : `; etcd: ${words(peer)}`;
  return {
    ours: overRounds(ours.map(above)),
    peer: peer.length === 0 ? undefined : overRounds(peer.map(above)),
    note: `${sizes}; ours: ${words(ours)}${theirs}`,
  };
}

/** Two intervals of rest, one to get going, two of load. */
async function read(
  pid: number,
  load: BackgroundLoad,
  intervalMs: number,
  count: () => Promise<ReadonlyMap<GroupId, number>> = noEntries,
): Promise<Reading> {
  const idlePercent = await cpuPercent(pid, 2 * intervalMs);
  load.start();
  await delay(intervalMs);
  const [before, startedAtMs] = [await count(), performance.now()];
  const loadedPercent = await cpuPercent(pid, 2 * intervalMs);
  const [after, endedAtMs] = [await count(), performance.now()];
  const callsPerSecond = await load.stop();
  const added = [...after].map(([group, entries]) => entries - (before.get(group) ?? 0));
  const entriesPerSecond = (1_000 * Math.max(0, ...added)) / (endedAtMs - startedAtMs);
  return { idlePercent, loadedPercent, callsPerSecond, entriesPerSecond };
}

function noEntries(): Promise<ReadonlyMap<GroupId, number>> {
  return Promise.resolve(new Map());
}

async function cpuPercent(pid: number, ms: number): Promise<number> {
  const startedAtMs = performance.now();
  const before = cpuMsOf([pid]);
  await delay(ms);
  const after = cpuMsOf([pid]);
  if (before === undefined || after === undefined) {
    throw new Error(`the processor time of process ${pid} cannot be read (is there a /proc?)`);
  }
  return (100 * (after - before)) / (performance.now() - startedAtMs);
}
