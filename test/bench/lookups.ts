/**
 * Linearizable look-ups of one key against the peer's linearizable reads of one key, at the leader.
 * The request is the same every time, so that h2load can make it; a run with grpc-js clients stands
 * beside it.
 */

import { METHODS } from "../../src/wire/methods.ts";
import { type Bench, coresNote, type Finding, type Scenario, watchedPids } from "./bench.ts";
import { callEtcd, KV } from "./etcd-api.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { grpcMessage } from "./h2load.ts";
import { coresBetween, type LoadReading, readCpu, runLoad } from "./load.ts";
import { SHARD } from "./our-cluster.ts";
import { openPipe } from "./pipes.ts";
import { type Budget, overRounds } from "./results.ts";

const CONNECTIONS = 4;
const IN_FLIGHT = 256;
const VALUE_BYTES = 100;
const CALL_TIMEOUT_MS = 10_000;
/** A first guess at what a second's worth of calls is, for the warm-up of h2load. */
const WARM_UP_PER_SECOND = 4_000;

const WHAT = "linearizable unary lookups, 256 in flight; peer: Range";
const BUDGET: Budget = { kind: "atLeastTimesPeer", factor: 1.2 };

export function lookupRate(name: string, generator: "h2load" | "grpc-js"): Scenario {
  return {
    name,
    rows: [{ name, what: WHAT, unit: "lookups/s", budget: BUDGET }],
    needsH2load: generator === "h2load",
    run: async (bench) => [await measure(bench, name, generator)],
  };
}

interface Target {
  readonly address: string;
  readonly path: string;
  readonly request: Buffer;
  readonly watched: Readonly<Record<string, readonly number[]>>;
}

type Reading = Pick<LoadReading, "perSecond" | "cores">;

async function measure(
  bench: Bench,
  name: string,
  generator: "h2load" | "grpc-js",
): Promise<Finding> {
  const lookup = await ownedKey(bench);
  const request = METHODS.directory.lookup.encodeRequest({
    ...lookup,
    read: { kind: "linearizable" },
  });
  const run = generator === "h2load" ? byH2load : byGrpcJs;
  const { ours, peer } = await bench.takeTurns<Reading>({
    what: name,
    show: ({ perSecond }) => `${perSecond.toFixed(0)} lookups/s`,
    ours: async () => {
      const { grpc, pid } = await bench.ours.leader();
      const watched = watchedPids(pid, bench.ours.pids);
      return run(bench, { address: grpc, path: METHODS.directory.lookup.path, request, watched });
    },
    peer: async (etcd) => run(bench, await rangeTarget(etcd, lookup.key)),
  });
  const read = (readings: readonly Reading[]) =>
    overRounds(readings.map(({ perSecond }) => perSecond));
  const cores = coresNote(ours, peer);
  return {
    ours: read(ours),
    peer: peer.length === 0 ? undefined : read(peer),
    note: `generator: ${generator}, ${CONNECTIONS} connections to the leader, one key; ${cores}`,
  };
}

/** The key of a range that has an owner, as most have that are looked up. */
async function ownedKey(bench: Bench): Promise<{ keyspace: string; key: Uint8Array }> {
  const { descriptor, item } = await (await bench.pool()).takeOne();
  const { ownership } = bench.ours.client;
  await ownership.grant({ group: SHARD, items: [item], onlyUnowned: true });
  return { keyspace: descriptor.keyspace, key: descriptor.span.startKey };
}

async function rangeTarget(etcd: EtcdCluster, key: Uint8Array): Promise<Target> {
  const { address, client, process } = await etcd.leader();
  const value = Buffer.alloc(VALUE_BYTES, "v");
  await callEtcd(client, KV.Put, { key, value }, CALL_TIMEOUT_MS);
  const watched = watchedPids(process.pid, etcd.pids);
  return { address, path: KV.Range.path, request: KV.Range.requestSerialize({ key }), watched };
}

async function byGrpcJs({ sizes }: Bench, target: Target): Promise<Reading> {
  const { warmUpMs, measureMs } = sizes;
  return runLoad({
    ...target,
    pipe: "grpc-js",
    connections: CONNECTIONS,
    inFlight: IN_FLIGHT,
    warmUpMs,
    measureMs,
    next: () => target.request,
    onAnswer: () => {},
  });
}

/** By count, not by time: only then every call is answered and the bytes can be compared. */
async function byH2load({ h2load, sizes }: Bench, target: Target): Promise<Reading> {
  const { watched, ...rest } = target;
  const common = { ...rest, connections: CONNECTIONS, inFlight: IN_FLIGHT };
  const callsIn = (ms: number, perSecond: number): number =>
    Math.max(IN_FLIGHT, Math.round((ms * perSecond) / 1_000));
  const warmUpCalls = callsIn(sizes.warmUpMs, WARM_UP_PER_SECOND);
  const warmUp = await h2load.run({ ...common, calls: warmUpCalls });
  const calls = callsIn(sizes.measureMs, warmUp.perSecond);
  const before = await answerBytes(target);
  const cpuFrom = readCpu(watched);
  const reading = await h2load.run({ ...common, calls });
  const { generator: _, ...cores } = coresBetween(cpuFrom, readCpu(watched));
  const after = await answerBytes(target);
  // An answer grows when its revision does, and only then.
  if (reading.dataBytes < calls * before || reading.dataBytes > calls * after) {
    const expected = `${calls} answers of ${before} to ${after} bytes`;
    throw new Error(`h2load received ${reading.dataBytes} bytes, not ${expected}: calls failed`);
  }
  return { perSecond: reading.perSecond, cores };
}

/** Of one good answer, as it stands on the stream. */
async function answerBytes({ address, path, request }: Target): Promise<number> {
  const pipe = await openPipe("grpc-js", address, path);
  try {
    return await new Promise<number>((resolve, reject) => {
      pipe.call(request, (error, answer) => {
        if (error === undefined) resolve(grpcMessage(answer).length);
        else reject(error);
      });
    });
  } finally {
    pipe.close();
  }
}
